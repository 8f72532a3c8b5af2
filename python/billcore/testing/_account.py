"""SandboxAccount: an account with the methods that tests use most; import it from billcore.testing."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, Unpack, cast, overload

from ._calls import arguments, given
from ._control import Control
from ._deliveries import EndpointFields, check
from ._history import DeliveryMatch, RequestMatch, RequestRecord
from ._inbox import Inbox
from ._options import AccountOptions
from ._serve import Receiver

if TYPE_CHECKING:
    from ..webhooks import AnyEvent

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Account:
    """The base URL and the API key for one account; account["base_url"] also works."""

    base_url: str
    api_key: str

    def __getitem__(self, name: Literal["base_url", "api_key"]) -> str:
        return {"base_url": self.base_url, "api_key": self.api_key}[name]


class _OfControl(Generic[P, R]):
    """A method of SandboxAccount that calls the same method of the account's `control`."""

    def __init__(self, method: Callable[Concatenate[Control, P], R]) -> None:
        self._method = method

    @overload
    def __get__(self, account: None, owner: type) -> Self: ...
    @overload
    def __get__(self, account: SandboxAccount, owner: type) -> Callable[P, R]: ...
    def __get__(self, account: SandboxAccount | None, owner: type) -> Self | Callable[P, R]:
        return self if account is None else cast(Callable[P, R], getattr(account.control, self._method.__name__))


class SandboxAccount:
    """One account of a running sandbox, with everything that a test needs. See Sandbox.new_account().

    Attributes:
        base_url: The service's address for this account, for billcore.Client.
        api_key: The account's API key, for billcore.Client.
        webhook_secret: The signing secret of the receivers that serve() and receive() register.
        accounts: The account itself. The fixture adds a second account, whose key gives no access to the first account.
        control: The control routes, for this account alone.
        control_url: The address of the control routes.
        pid: The process id of the sandbox.
        ids: The ids of the demo data: {"products": {type: id}, "subscriptions": {reference_id: id}}.
    """

    base_url: str
    api_key: str
    webhook_secret: str
    accounts: list[Account]
    control: Control
    control_url: str
    pid: int
    ids: dict[str, Any]

    def __init__(self) -> None:
        self.webhook_secret = secrets.token_hex(16)
        self._receivers: list[Receiver] = []
        self._errors: list[BaseException] = []  # of the handlers of receive()
        self._signature_header = "Service-Signature"

    def _choose(self, options: AccountOptions) -> None:
        """Use what the options of the account say about its receivers."""
        self.webhook_secret = options.get("secret", self.webhook_secret)
        self._signature_header = options.get("signature_header", self._signature_header)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} pid={getattr(self, 'pid', None)}>"

    advance = _OfControl(Control.advance)
    fault = _OfControl(Control.fault)
    trigger = _OfControl(Control.trigger)

    def serve(
        self,
        app: Callable[..., Any],
        *,
        path: str = "/",
        secret: str | None = None,
        concurrency: int | None = None,
        paused: bool | None = None,
        retry_schedule: Sequence[float] | None = None,
        keep_alive: bool | None = None,
    ) -> Receiver:
        """Run an ASGI or WSGI application at a free port of 127.0.0.1, and send this account's events to it.

        The application runs in a thread: an ASGI application in one event loop, a WSGI application in a further thread
        for each request.

        Args:
            app: The application, which must check signatures with `webhook_secret`.
            path: The path that events are sent to.
            secret: A signing secret to use instead of `webhook_secret`: 32 characters.
            concurrency: Maximum number of events that are sent at once. Default: 1.
            paused: True: events wait until control.change_endpoint() ends the pause.
            retry_schedule: Seconds of the account's clock before each further attempt.
            keep_alive: Whether connections are kept open between attempts. Default: True.
        """
        settings = {"secret": self.webhook_secret} | arguments(locals())
        receiver = Receiver(settings.pop("app"), settings.pop("path"))
        self._register(receiver, settings)
        return receiver

    def receive(
        self,
        *,
        status: int | Sequence[int] | Callable[[AnyEvent], int] = 204,
        handler: Callable[[AnyEvent], object] | None = None,
        **settings: Unpack[EndpointFields],
    ) -> Inbox:
        """Start a webhook receiver that verifies this account's events and keeps them, at a free port of 127.0.0.1.

            inbox = billcore_sandbox.receive(handler=shop.on_event)
            inbox.wait("order.paid", count=2)

        Args:
            status: The status of each answer; or one status for each attempt, such as [503, 503] to fail twice, after
                which the receiver answers 204; or a function of the event that returns the status. An event whose
                status is not 2xx is neither handled nor kept.
            handler: Called with each verified event, before the answer. If it raises, the receiver answers 500, and
                wait() or the fixture raises the error in the test.
            **settings: `secret`, `concurrency`, `paused`, `retry_schedule` and `keep_alive`, as for serve().
        """
        chosen: dict[str, Any] = {"secret": self.webhook_secret, **settings}
        inbox = Inbox(chosen["secret"], self._signature_header, status, handler, self._errors)
        self._register(inbox, chosen)
        return inbox

    def _register(self, receiver: Receiver, settings: dict[str, Any]) -> None:
        try:
            endpoint = self.control.create_endpoint(receiver.url, **settings)
        except BaseException:
            receiver.close()
            raise
        self._receivers.append(receiver)
        receiver._control, receiver.endpoint_id, receiver.secret = self.control, endpoint["id"], endpoint["secret"]

    def events(self, name: str | None = None, *, count: int = 1, timeout: float = 10.0) -> list[AnyEvent]:
        """Wait until receivers have accepted `count` events; returns all events accepted so far, oldest first.

        Args:
            name: Only events with this name, such as "order.paid".
            count: How many events to wait for. 0: do not wait.
            timeout: Seconds of real time.

        Raises:
            DeliveryFailed: A receiver did not accept an event. The error's message has the receiver's answer.
            WaitTimeout: Too few events were accepted in time. The error counts the deliveries by event and state.
        """
        from .. import webhooks

        match: DeliveryMatch = {} if name is None else {"event": name}
        if count:
            ended = self.control.wait(delivery=match, count=count, until_failed=True, timeout=timeout)
            check(ended)
        arrived = ended if count else self.control.deliveries(name, state="delivered")
        bodies = [each["attempts"][-1].get("body", each["body"]) for each in arrived]
        return [webhooks.parse_unverified(body.encode()) for body in bodies]

    def requests(
        self,
        operation: str | None = None,
        *,
        count: int = 1,
        timeout: float = 10.0,
        method: str | None = None,
        path: str | None = None,
        status: int | None = None,
    ) -> list[RequestRecord]:
        """Wait until the service has answered `count` matching requests; returns all of them so far, oldest first.

        Args:
            operation: A name such as "subscriptions.charge"; the part after the dot is enough if it is unambiguous.
            count: How many requests to wait for.
            timeout: Seconds of real time.
            method: HTTP method.
            path: Path below the base URL, in which `*` stands for any characters except a slash.
            status: Status of the answer.

        Raises:
            WaitTimeout: Too few requests matched in time. The error counts the requests by operation and status.
        """
        match = given({"operation": operation, "method": method, "path": path, "status": status})
        return self.control.wait(request=cast(RequestMatch, match), count=count, timeout=timeout)

    def close(self) -> None:
        """End the receivers that serve() and receive() started."""
        while self._receivers:
            self._receivers.pop().close()
