"""A small client that uses http.client and was written only from the service interface, to check the wire fixtures.

The client shares no code with billcore. If this client and billcore agree with a fixture, two independent
implementations of the service interface agree.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import quote, urlsplit

from .drivers import STATUS

_CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    402: "PaymentError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    422: "ValidationError",
}


class Refused(Exception):
    def __init__(self, status: int, text: str, request_id: str | None, method: str, path: str) -> None:
        super().__init__(f"{method} {path}: {status}")
        name = _CLASSES.get(status, "ApiError")
        self.reply: dict[str, Any] = {
            "class": name,
            "status": STATUS[name],
            "http_status": status,
            "message": str(self),
        }
        self.reply |= {"method": method, "path": path, "request_id": request_id}
        try:
            error = json.loads(text)["error"]
            self.reply |= {"api_code": error["code"], "api_message": error["message"]}
        except (ValueError, TypeError):
            pass


def _encode(value: Any) -> str:
    return quote(str(value), safe="")


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class PlainClient:
    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        options = request["client"]
        parts = urlsplit(options["base_url"])
        self._base = parts.path.rstrip("/")
        self._headers = {"X-API-KEY": options["api_key"], "Accept": "application/json"} | options.get("headers", {})
        self._headers["User-Agent"] = "billcore/0.0.0 (libbillcore)"
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            return {"ok": self._call(request["op"], request["args"], request.get("take"))}
        except Refused as refused:
            return {"error": refused.reply}
        finally:
            self._connection.close()

    def close(self) -> None: ...

    def _send(self, method: str, path: str, body: bytes | None = None, *, raising: bool = True) -> dict[str, Any]:
        self._connection.putrequest(method, self._base + path, skip_accept_encoding=True)
        headers = dict(self._headers)
        if body:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            headers["Content-Length"] = str(len(body or b""))
        for name, value in headers.items():
            self._connection.putheader(name, value)
        self._connection.endheaders(body or None)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status >= 300 and raising:
            raise Refused(response.status, text, response.headers["X-Request-Id"], method, path)
        return {"status": response.status, "headers": dict(response.getheaders()), "body": text}

    def _data(self, method: str, path: str, body: bytes | None = None) -> Any:
        return json.loads(self._send(method, path, body)["body"])["data"]

    def _call(self, op: str, args: dict[str, Any], take: Any) -> Any:
        args = dict(args)
        place = _encode(args.pop("id", ""))
        match op:
            case "subscriptions.list":
                return self._list("/subscriptions", args, take)
            case "subscriptions.orders":
                return self._list(f"/subscription/{place}/orders", args, take)
            case "products.list":
                return self._list("/products", args, take)
            case "subscriptions.get":
                return self._data("GET", f"/subscription/{place}")
            case "subscriptions.cancel":
                return self._data("POST", f"/subscription/{place}/cancel")
            case "subscriptions.change_product":
                return self._data("POST", f"/subscription/{place}/product", _dump(args))
            case "subscriptions.charge":
                order = ("product_id", "amount", "quantity", "vat", "description")
                fields = {name: args[name] for name in order if name in args}
                return self._data("POST", f"/subscription/{place}/order", _dump(fields))
            case "products.get":
                return self._data("GET", f"/product/{place}")
            case "products.update":
                return self._data("POST", f"/product/{place}", _dump(args["fields"]))
            case "products.delete":
                self._send("DELETE", f"/product/{place}")
                return None
            case "orders.get":
                return self._data("GET", f"/order/{place}")
            case "webhook_endpoints.create":
                return self._send("POST", "/webhooks/endpoints", _dump(args))
        assert op == "request", op
        query = "&".join(f"{_encode(name)}={_encode(value)}" for name, value in args.get("query", {}).items())
        body = _dump(args["json"]) if "json" in args else None
        path = args["path"] + (f"?{query}" if query else "")
        return self._send(args["method"], path, body, raising=args.get("raise_on_error", True))

    def _list(self, path: str, args: dict[str, Any], take: Any) -> Any:
        state = args.get("state")
        filters = {
            "per_page": args.get("per_page"),
            "filter[reference_id]": args.get("reference_id"),
            "filter[product_id]": args.get("product_id"),
            "filter[state]": ",".join(state) if isinstance(state, list) else state,
        }
        rest = "".join(f"&{_encode(name)}={_encode(value)}" for name, value in filters.items() if value is not None)
        wanted: int | None = {"first": 1, "all": None}[take] if isinstance(take, str) else take
        items: list[Any] = []
        page, fetched = args.get("page", 1), 0
        while True:
            answer = json.loads(self._send("GET", f"{path}?page={page}{rest}")["body"])
            fetched += 1
            numbers = answer["pagination"]
            items += answer["data"]
            enough = wanted is not None and len(items) >= wanted
            if enough or numbers["current_page"] >= numbers["total_pages"]:
                verdict = None if enough else "complete"
                return {
                    "items": items[:wanted],
                    "total": numbers["total"],
                    "fetched_pages": fetched,
                    "verdict": verdict,
                }
            page += 1
