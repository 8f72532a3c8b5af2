"""What `billcore listen` does with a webhook: verify, forward the exact bytes, answer as the target did, keep."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from .. import webhooks
from .._errors import DecodeError
from ._deliveries import Delivery, History
from ._target import Answer, NoAnswerError, NotSentError, Target

BAD_GATEWAY, GATEWAY_TIMEOUT = 502, 504
_LONGEST = 200  # characters of an id or a name
USER_AGENT = "Service/1.0"  # as the service's


class Reply(NamedTuple):
    """What the sender gets."""

    status: int
    content_type: str
    body: bytes


class Listener:
    """Handles webhooks, each in a thread of its server.

    Args:
        secrets: The endpoint's secrets; the first one signs what is edited.
        header: The name of the signature header.
        max_body: As Verifier's.
        target: Where webhooks are forwarded to; None: they are only shown.
        retry: Seconds before each further attempt at the target, before the sender gets its answer.
        timeout: Seconds for the target's answer.
        history: Keeps the deliveries.
        tell: Called with each delivery when it has ended.
    """

    def __init__(
        self,
        secrets: Sequence[bytes],
        header: str,
        max_body: int,
        target: Target | None,
        retry: Sequence[float],
        timeout: float,
        history: History,
        tell: Callable[[Delivery], None],
    ) -> None:
        self._secrets = secrets
        self._verifier = webhooks.Verifier(secrets, header=header, max_body=max_body)
        self.target, self._retry, self._timeout = target, retry, timeout
        self._history, self.tell = history, tell

    @property
    def header(self) -> str:
        return self._verifier.header

    @property
    def max_body(self) -> int:
        return self._verifier.max_body

    def receive(self, body: bytes, signatures: list[str], content_type: str, user_agent: str) -> tuple[Reply, Delivery]:
        """Handle a request, and keep it in the history. When the sender has its answer, tell() is to be called."""
        at = _now()
        signature = signatures[0] if signatures else None
        verified, note, reply = "ok", "", Reply(200, "text/plain", b"")
        try:
            self._verifier.unwrap_request(body, [(self.header, each) for each in signatures])
        except webhooks.SignatureError as error:
            verified, note = error.reason, self._explained(body, signature, str(error))
            reply = Reply(400, "text/plain", f"{error}\n".encode())
        except DecodeError as error:  # the signature is right: the bytes are the sender's
            note, reply = str(error), Reply(error.http_status, "text/plain", f"{error}\n".encode())
        ms = 0.0
        if verified == "ok" and self.target is not None:
            headers = self._headers(signature or "", content_type, user_agent)
            reply, ms, note = self._forwarded(body, headers)
        named, status = _named(body), reply.status
        made = Delivery(at, "received", *named, verified, status, ms, note, signature, content_type, body)
        self._history.add(made)
        return reply, made

    def again(self, delivery: Delivery, edited: bytes | None = None) -> None:
        """Send a delivery to the target again: the same bytes and signature, or another body, signed again."""
        body, signature = delivery.body, delivery.signature or ""
        kind: Literal["again", "edited"] = "again"
        if edited is not None:
            body, signature, kind = edited, webhooks.sign(edited, self._secrets[0]), "edited"
        at = _now()
        reply, ms, note = self._post(body, self._headers(signature, delivery.content_type, USER_AGENT))
        made = Delivery(at, kind, *_named(body), "ok", reply.status, ms, note, signature, delivery.content_type, body)
        self._history.add(made)
        self.tell(made)

    @staticmethod
    def refused(status: int, note: str) -> Delivery:
        """A request whose body was not read."""
        return Delivery(_now(), "refused", "-", "-", "-", status, 0.0, note)

    def _headers(self, signature: str, content_type: str, user_agent: str) -> dict[str, str]:
        return {"Content-Type": content_type, "User-Agent": user_agent, self.header: signature}

    def _forwarded(self, body: bytes, headers: dict[str, str]) -> tuple[Reply, float, str]:
        for wait in self._retry:
            answer = self._post(body, headers)
            if 200 <= answer[0].status < 300:
                return answer
            time.sleep(wait)
        return self._post(body, headers)

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[Reply, float, str]:
        assert self.target is not None
        began = time.monotonic()
        try:
            answer = self.target.post(body, headers, self._timeout)
        except NotSentError as error:
            status, note = BAD_GATEWAY, str(error)
        except NoAnswerError as error:
            status, note = BAD_GATEWAY if error.in_time else GATEWAY_TIMEOUT, f"{self.target.url}: {error}"
        else:
            return _reply(answer), answer.ms, "" if 200 <= answer.status < 300 else answer.text
        return Reply(status, "text/plain", f"{note}\n".encode()), (time.monotonic() - began) * 1000, note

    def _explained(self, body: bytes, signature: str | None, error: str) -> str:
        """The causes that explain() found, as one line."""
        lines = webhooks.explain(body, signature, list(self._secrets)).splitlines()
        found = "; ".join(line[2:] for line in lines if line.startswith("- "))
        return f"{error.partition(': ')[0]}: {found}" if found else error


def _reply(answer: Answer) -> Reply:
    if answer.status < 200:  # no final answer: passed on, the sender would wait for one
        return Reply(BAD_GATEWAY, "text/plain", f"the target answered {answer.status}\n".encode())
    return Reply(answer.status, answer.content_type, answer.begin)


def _named(body: bytes) -> tuple[str, str]:
    """The id and the name of an event, also of one whose signature is wrong."""
    found = ["-", "-"]
    with contextlib.suppress(DecodeError):
        event = webhooks.parse_unverified(body)
        for at, field in enumerate(("id", "name")):
            if field in event and isinstance(value := event[field], (str, int)):
                found[at] = str(value)[:_LONGEST]
    return found[0], found[1]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
