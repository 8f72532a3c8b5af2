"""The conformance driver of the Python package, blocking or async. The driver uses only public names of the package."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import importlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from .drivers import STATUS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Maps attributes of ApiError to members of the reply.
_API_DETAILS = {"code": "api_code", "message": "api_message", "body": "body"}
_DETAILS = {
    "request_id": "request_id",
    "retry_after": "retry_after",
    "reason": "reason",
    "outcome_unknown": "outcome_unknown",
    "sent_late": "sent_late",
    "method": "method",
    "path": "path",
}


def _bytes_or_text(value: Any) -> Any:
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else value


def _header_text(value: Any) -> str | None:
    """Returns a header as text. Decodes bytes ({"b64": …}) as latin-1, as Python servers do."""
    raw = _bytes_or_text(value)
    return raw.decode("latin-1") if isinstance(raw, bytes) else raw


class PythonDriver:
    """Runs requests with the Python package. With awaited=True, REST calls use AsyncClient on one event loop."""

    def __init__(self, *, awaited: bool = False) -> None:
        for name in ("BILLCORE_API_KEY", "BILLCORE_BASE_URL"):
            os.environ.pop(name, None)
        self._billcore: Any = importlib.import_module("billcore")
        self._webhooks: Any = importlib.import_module("billcore.webhooks")
        self._options: dict[str, Any] | None = None
        self._client: Any = None
        self._pager: Any = None  # the list that the current request reads
        self._loop = asyncio.Runner() if awaited else None

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        yielded: list[Any] = []
        self._pager = None
        try:
            return {"ok": self._call(request, yielded)}
        except self._billcore.BillcoreError as error:
            reply = self._error(error)
            if request["op"].endswith((".list", ".orders", ".get_many")):
                reply["items_before"], reply["items"] = len(yielded), yielded
                if self._pager is not None:
                    reply["state"] = self._pager.state
            return {"error": reply}

    def close(self) -> None:
        if self._client is not None:
            self._done(self._client.close())
        if self._loop is not None:
            self._loop.close()

    def _done(self, result: Any) -> Any:
        """Returns the result of a call. In async mode `result` is an awaitable, which the event loop runs."""
        return result if self._loop is None else self._loop.run(result)

    def _for_each(self, items: Any, read: Callable[[Any], None]) -> None:
        async def read_all() -> None:
            async for item in items:
                read(item)

        if self._loop is not None:
            return self._loop.run(read_all())
        for item in items:
            read(item)

    def _error(self, error: Any) -> dict[str, Any]:
        name = type(error).__name__
        assert type(error).__module__.startswith("billcore"), f"{type(error)} is not public"
        reply: dict[str, Any] = {"class": name, "status": STATUS[name], "message": str(error), "repr": repr(error)}
        api = isinstance(error, self._billcore.ApiError)
        for attribute, member in (_DETAILS | _API_DETAILS if api else _DETAILS).items():
            value = getattr(error, attribute, None)
            if value is not None:
                reply[member] = value
        http_status = getattr(error, "status", None) or getattr(error, "http_status", None)
        if http_status:
            reply["http_status"] = http_status
        if error.__cause__ is not None:
            reply["cause"] = type(error.__cause__).__name__
        if isinstance(reply.get("body"), bytes):
            reply["body"] = reply["body"].decode(errors="replace")
        return reply

    def _connect(self, options: dict[str, Any]) -> Any:
        if self._client is None or options != self._options:
            if self._client is not None:
                self._done(self._client.close())
                self._client = None
            make = self._billcore.Client if self._loop is None else self._billcore.AsyncClient
            # The client requests one page at a time, because the server sends its canned answers in order.
            self._client = make(**{"concurrency": 1, **options})
            self._options = options
        return self._client

    def _call(self, request: dict[str, Any], yielded: list[Any]) -> Any:
        op, args = request["op"], dict(request.get("args", {}))
        if op.startswith("webhook."):
            return self._webhook(op.removeprefix("webhook."), args)
        client = self._connect(request["client"])
        if "timeout" in request:
            client = client.with_options(timeout=request["timeout"])  # shares the connections of the client
        if op == "request":
            return self._response(self._done(client.request(**args)))
        if op == "webhook_endpoints.create":
            return self._response(self._done(client.webhook_endpoints.create(**args)))
        group, verb = op.split(".")
        method: Callable[..., Any] = getattr(getattr(client, group), verb)
        if verb == "get_many":
            total = {"total_timeout": request["total_timeout"]} if "total_timeout" in request else {}
            self._for_each(method(args.pop("ids"), **args, **total), lambda got: yielded.append(self._got(got)))
            return yielded
        place = [args.pop("id")] if "id" in args else []
        if verb in ("list", "orders"):
            self._pager = method(*place, **args)
            return self._list(self._pager, request["take"], yielded)
        if verb == "update":
            return self._resource(self._done(method(*place, args["fields"])))
        result = self._done(method(*place, **args))
        return None if verb == "delete" and result is None else self._resource(result)

    def _resource(self, resource: Any) -> Any:
        value = json.loads(resource.raw)
        assert resource.to_dict() == value, "to_dict() and raw differ"
        return value

    def _got(self, got: Any) -> Any:
        assert (got.value is None) != (got.error is None)
        if got.error is not None:
            return {"id": got.id, "error": self._error(got.error)}
        return {"id": got.id, "ok": self._resource(got.value)}

    def _response(self, response: Any) -> Any:
        body = response.body
        text = body.decode() if isinstance(body, bytes) else body
        return {"status": response.status, "headers": dict(response.headers), "body": text}

    def _list(self, pager: Any, take: Any, yielded: list[Any]) -> Any:
        def keep(*items: Any) -> None:
            yielded.extend(self._resource(item) for item in items)

        def keep_batch(batch: Any) -> None:
            yielded.extend(json.loads(raw) for raw in self._pyarrow.record_batch(batch)["raw"].to_pylist())

        if take in ("first", "first-all"):
            first = self._done(pager.first())
            keep(*([] if first is None or take == "first-all" else [first]))
        if take in ("all", "first-all"):
            self._for_each(pager, keep)
            assert take == "all" or (yielded[0] if yielded else None) == (first and self._resource(first))
        elif take == "pages":
            self._for_each(pager.pages(), lambda page: keep(*page.items))
        elif take == "collect":
            keep(*self._done(pager.collect()))
        elif take == "mixed":
            self._mix(pager, keep)
        elif take in ("batches", "joined"):
            rows = {"rows": 7} if take == "joined" else {}
            self._for_each(pager.to_batches(["raw"], **rows), keep_batch)
        elif take == "arrow":
            columns = pager.to_arrow(["raw"])
            try:
                for batch in self._pyarrow.RecordBatchReader.from_stream(columns):
                    keep_batch(batch)
            except (self._pyarrow.ArrowException, OSError) as error:
                raise columns.error from error
        elif take != "first":
            keep(*self._done(pager.collect(limit=take)))
        verdict = pager.verdict
        return {
            "items": yielded,
            "verdict": None if verdict is None else str(verdict),
            "reason": None if verdict is None else verdict.reason,
            "total": pager.total if pager.fetched_pages else None,
            "fetched_pages": pager.fetched_pages,
            "state": pager.state,
        }

    @functools.cached_property
    def _pyarrow(self) -> Any:
        return importlib.import_module("pyarrow")  # only here, because most tests need no pyarrow

    def _mix(self, pager: Any, keep: Callable[..., None]) -> None:
        """Reads an item, then a page, until both have ended."""
        items, pages = (iter, iter) if self._loop is None else (aiter, aiter)
        items, pages = items(pager), pages(pager.pages())

        def step(iteration: Any) -> Any:
            if self._loop is None:
                return next(iteration, None)

            async def awaited() -> Any:
                return await anext(iteration, None)

            return self._loop.run(awaited())

        while (item := step(items)) is not None:
            keep(item)
            if (page := step(pages)) is not None:
                keep(*page.items)

    def _webhook(self, verb: str, args: dict[str, Any]) -> Any:
        if verb == "matches":
            return self._matches(self._verifier(args), args["deliveries"])
        # A test may pass as "body" a value that is not bytes, to check that the package refuses the value.
        body = args["body"] if "body" in args else base64.b64decode(args["body_b64"])
        if verb == "sign":
            return {"signature": self._webhooks.sign(body, _bytes_or_text(args["secret"]))}
        if verb == "parse_unverified":
            return self._event(self._webhooks.parse_unverified(body), body, args["read"])
        secrets = [_bytes_or_text(secret) for secret in args.get("secrets", [])]
        signature = _header_text(args.get("signature"))
        if verb == "explain":
            headers = [(_header_text(name), _header_text(value)) for name, value in args.get("headers", [])]
            return {"text": self._webhooks.explain(body, signature, secrets, headers)}
        if verb == "stream":
            return self._stream(self._verifier(args).stream(), body, signature, args["chunks"])
        if verb == "unwrap_request":
            headers = [(_header_text(name), _header_text(value)) for name, value in args["headers"]]
            return self._event(self._verifier(args).unwrap_request(body, headers), body, args["read"])
        if args.keys() & {"any_key_length", "freshness", "now", "accounts"}:
            verifier = self._verifier(args)
            verify, unwrap = verifier.verify, verifier.unwrap
        else:
            limit = {"max_body": args["max_body"]} if "max_body" in args else {}
            verify, unwrap = (
                lambda *given, one_shot=one_shot: one_shot(*given, secrets, **limit)
                for one_shot in (self._webhooks.verify, self._webhooks.unwrap)
            )
        if verb == "unwrap":
            return self._event(unwrap(body, signature), body, args["read"])
        assert verb == "verify", verb
        verified = verify(body, signature)
        assert verified
        return {"secret_index": verified.secret_index}

    def _verifier(self, args: dict[str, Any]) -> Any:
        options: dict[str, Any] = {name: args[name] for name in ("max_body", "freshness") if name in args}
        if "now" in args:
            now = _EPOCH + timedelta(microseconds=args["now"])
            options["clock"] = lambda: now
        make = self._webhooks.Verifier
        if "accounts" in args:
            accounts = {each["account"]: each["secrets"] for each in args["accounts"]}
            return make.for_accounts(accounts, **options)
        if args.get("any_key_length"):
            make = make.allowing_any_key_length
        return make([_bytes_or_text(secret) for secret in args["secrets"]], **options)

    def _stream(self, stream: Any, body: bytes, signature: str | None, sizes: list[int]) -> Any:
        for size in sizes:
            stream.update(body[:size])
            body = body[size:]
        stream.update(body)
        verified = stream.finish(signature)
        assert verified
        return {"secret_index": verified.secret_index}

    def _matches(self, verifier: Any, deliveries: list[dict[str, Any]]) -> Any:
        for delivery in deliveries:
            with contextlib.suppress(self._billcore.BillcoreError):
                verifier.unwrap(base64.b64decode(delivery["body_b64"]), _header_text(delivery["signature"]))
        return {"matches": list(verifier.matches)}

    def _event(self, event: Any, body: bytes, paths: list[str]) -> Any:
        assert event.raw == body
        return {"read": {path: self._read(event, path) for path in paths}}

    def _read(self, event: Any, path: str) -> Any:
        try:
            if path == "raw:data":
                return event.data.raw
            if path.startswith("has:data."):
                return path.removeprefix("has:data.") in event.data
            if path == "data_type":
                return self._type_name(event.data)
            value = self._follow(event, path.split("."))
            if isinstance(value, datetime):
                return self._time(event, path, value)
            if path == "id" or (path == "data.id" and self._type_name(event.data) in ("Subscription", "Order")):
                return {"id": str(value), "is_integer": isinstance(value, int)}
            return self._plain(value)
        except self._billcore.BillcoreError as error:
            return {"error": {"class": type(error).__name__, "message": str(error)}}

    def _time(self, event: Any, path: str, value: datetime) -> Any:
        assert value.tzinfo is not None, f"{path} is not aware"
        text = json.loads(event.raw)["created_at"] if path == "created_at" else event.data[path.removeprefix("data.")]
        return {"text": text, "unix_micros": (value - _EPOCH) // timedelta(microseconds=1)}

    def _type_name(self, data: Any) -> str | None:
        if data is None:
            return None
        name = type(data).__name__
        return name if type(data).__module__.startswith("billcore") else "Value"

    def _follow(self, value: Any, steps: list[str]) -> Any:
        for step in steps:
            if step.isdecimal():
                value = value[int(step)]
            elif hasattr(type(value), step):
                value = getattr(value, step)
            else:
                present = step in value
                value = value[step] if present else None
        return value

    def _plain(self, value: Any) -> Any:
        """Converts the result of a getter to a JSON value of the driver protocol."""
        if isinstance(value, Decimal):
            return str(value)
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return value.to_dict() if hasattr(value, "to_dict") else value
