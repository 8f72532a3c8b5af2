"""Makes the OpenAPI document from the operations of the service, the control routes, and their types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from billcore_sandbox.options import Options
from billcore_sandbox.service import limits, schemas
from billcore_sandbox.service.event_schemas import EVENTS
from billcore_sandbox.service.routes import OPERATIONS, Operation

VERSION = "2025-04-25"
JSON = "application/json"
_KEY = "X-API-KEY"
_ABOUT = (
    "The billing service, as its sandbox knows it. What the service interface does not show is open in answers and"
    " events. The limits of parameters and fields, most statuses of refusals and their codes are the sandbox's own"
    " choice: see the README of billcore-sandbox."
)
_REFERENCE = "#/components/schemas/"
_BODY = "$response.body#"
# Links between routes. Maps the type of an answer, or a control route, to {beginning of the paths that take an id from
# this answer: expression that finds the id}.
_LINKS: dict[Any, dict[str, str]] = {
    schemas.SubscriptionList: {"/subscription/{id}": _BODY + "/data/0/id"},
    schemas.OneSubscription: {"/subscription/{id}": _BODY + "/data/id"},
    schemas.OrderList: {"/order/{id}": _BODY + "/data/0/id"},
    schemas.OneOrder: {"/order/{id}": _BODY + "/data/id"},
    schemas.ProductList: {"/product/{id}": _BODY + "/data/0/id"},
    schemas.OneProduct: {"/product/{id}": _BODY + "/data/id"},
    "POST accounts": {"accounts/{uuid}": _BODY + "/account"},
    "POST checkout": {"orders/{id}": _BODY + "/order/id", "subscriptions/{id}": _BODY + "/subscription/id"},
    "POST endpoints": {"endpoints/{id}": _BODY + "/id"},
    "POST faults": {"faults/{id}": _BODY + "/id"},
    "POST groups": {"groups/{id}": _BODY + "/group/id"},
    "POST keys": {"keys/{id}": _BODY + "/id"},
    "POST trigger": {"orders/{id}": _BODY + "/order/id", "subscriptions/{id}": _BODY + "/subscription/id"},
    "GET deliveries": {"deliveries/{id}": _BODY + "/deliveries/0/id"},
    "GET requests": {"requests/{id}": _BODY + "/requests/0/id"},
}
_CONTROL_REFUSALS = {
    "POST clock": {
        408: "The time-out ended before the clock had arrived; the message says what it shows. Code: timeout.",
        409: "Another request moves the clock, or the sandbox was reset. Codes: clock_moves, gone.",
        503: "The sandbox ends. Code: stopped.",
    },
    "POST wait": {
        408: "It did not happen in time; the message says what did. Code: timeout.",
        409: "The sandbox was reset, or records that may match were deleted. Code: reset, forgotten.",
        503: "The sandbox ends. Code: stopped.",
    },
}
_OF_BODY = {
    400: "The body is not JSON. Code: invalid_json.",
    413: "The body is too large. Code: too_large.",
    415: "The body is not application/json. Code: unsupported_media_type.",
}
# Why an operation answers with these codes; the others say only that the request is refused.
_WHY = {
    "not_found": "There is no such resource, or the key is not of the account in the URL.",
    "invalid_json": "The body is not JSON.",
    "unsupported_media_type": "The body is not application/json.",
    limits.CODE: "There were too many requests: wait as long as Retry-After says.",
}


class ControlRoute(NamedTuple):
    """A control route. path: below the prefix. query, body: their types; None if the route has no query or body.

    media: the media type of the answer.
    """

    method: str
    path: str
    action: Callable[..., Any]
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    media: str = JSON

    @property
    def answer(self) -> Any:
        """The type of the answer with status 200."""
        if self.media != JSON:
            return str
        function = inspect.unwrap(self.action)
        # Evaluate only the return type: other annotations may name modules that are imported only for type checkers.
        return eval(function.__annotations__["return"], function.__globals__)

    @property
    def name(self) -> str:
        return ".".join(["control", self.method.lower(), *re.findall(r"[\w-]+", self.path)])


def document(options: Options, account: str, prefix: str = "", controls: Iterable[ControlRoute] = ()) -> dict[str, Any]:
    """The document. account: the default account in the base URL. prefix: the first part of control routes' paths."""
    return _Document(options, account).write(prefix, list(controls))


class _Document:
    def __init__(self, options: Options, account: str) -> None:
        self._options = options
        self._account = account
        self._schemas: dict[Any, dict[str, Any]] = {}
        self._components: dict[str, Any] = {}

    def write(self, prefix: str, controls: list[ControlRoute]) -> dict[str, Any]:
        self._collect(controls)
        paths: dict[str, dict[str, Any]] = {}
        for operation in OPERATIONS:
            paths.setdefault(operation.path, {})[operation.method.lower()] = self._operation(operation)
        for route in controls:
            item = paths.setdefault(f"{prefix}/{route.path}", {"servers": [{"url": "/"}]})
            item[route.method.lower()] = self._control(route, controls)
        self._drop_queries(controls)
        about = "The UUID of the account, to which the key in X-API-KEY belongs."
        variables = {"account": {"default": self._account, "description": about}}
        return {
            "openapi": "3.1.0",
            "info": {"title": "Billing service", "version": VERSION, "description": _ABOUT},
            "servers": [{"url": "/{account}", "description": "The base URL.", "variables": variables}],
            "security": [{_KEY: []}],
            "paths": paths,
            "webhooks": {name: {"post": self._webhook(name)} for name in EVENTS},
            "components": {
                "schemas": self._components,
                "securitySchemes": {_KEY: {"type": "apiKey", "in": "header", "name": _KEY}},
            },
        }

    def _collect(self, controls: list[ControlRoute]) -> None:
        """Make the schemas of all types in one call, so that msgspec gives each type one name in all schemas."""
        types: list[Any] = [schemas.Error, *EVENTS.values()]
        types += [type_ for each in OPERATIONS for type_ in (each.query, each.body, each.answer)]
        types += [type_ for each in controls for type_ in (each.query, each.body, each.answer)]
        made, components = msgspec.json.schema_components(types, ref_template=_REFERENCE + "{name}")
        self._schemas, self._components = dict(zip(types, made, strict=True)), components

    def _drop_queries(self, controls: list[ControlRoute]) -> None:
        """Remove the components of query types: the document shows the fields of a query as parameters."""
        routes: list[Operation | ControlRoute] = [*OPERATIONS, *controls]
        for query in {each.query for each in routes} - {each.body for each in routes}:
            if query is not None:
                del self._components[self._name(query)]

    def _operation(self, operation: Operation) -> dict[str, Any]:
        id_type = "integer" if operation.path.startswith("/product/") else "string"
        parameters = self._parameters(operation.path, operation.query, id_type)
        refusals = self._refusals(operation)
        shown = self._route(operation.name, operation.run, parameters, operation.body, operation.answer, refusals)
        shown["responses"]["401"] = _json("The key is missing or invalid.", {})
        deleted = {operation.path: "$request.path.id"} if operation.method == "DELETE" else {}
        return _linked(shown, deleted or _LINKS.get(operation.answer, {}), OPERATIONS)

    def _refusals(self, operation: Operation) -> dict[int, str]:
        """The texts of an operation's error statuses, with the codes."""
        reasons: dict[int, list[str]] = {}
        codes: dict[int, list[str]] = {}
        for code, status in operation.errors(self._options).items():
            if code != limits.CODE or self._options.rate_limit is not None:
                shown, name = self._options.answer(operation.name, code, status)
                reasons.setdefault(shown, []).append(_WHY.get(code, "Refused."))
                codes.setdefault(shown, []).append(name)
        large = {413: _OF_BODY[413]} if operation.body is not None else {}
        texts = {
            status: f"{' '.join(dict.fromkeys(why))} Code: {', '.join(dict.fromkeys(codes[status]))}."
            for status, why in reasons.items()
        }
        return large | texts

    def _control(self, route: ControlRoute, controls: list[ControlRoute]) -> dict[str, Any]:
        refusals = {
            403: "The Host is not a name of this sandbox. Code: host.",
            404: "There is no such object or account. Code: not_found.",
            **(_OF_BODY if route.body is not None else {}),
            422: "Refused, such as for a wrong field or the state of the object.",
            **_CONTROL_REFUSALS.get(f"{route.method} {route.path}", {}),
        }
        parameters = self._parameters(route.path, route.query, "string")
        shown = self._route(route.name, route.action, parameters, route.body, route.answer, refusals)
        shown["responses"]["200"]["content"] = {route.media: {"schema": self._schemas[route.answer]}}
        return {**_linked(shown, _LINKS.get(f"{route.method} {route.path}", {}), controls), "security": []}

    def _route(
        self,
        name: str,
        action: Callable[..., Any],
        parameters: list[dict[str, Any]],
        body: type | None,
        answer: Any,
        refusals: dict[int, str],
    ) -> dict[str, Any]:
        summary, _, rest = (inspect.getdoc(action) or "").partition("\n\n")
        error = self._schemas[schemas.Error]
        return {
            "operationId": name,
            "tags": [name.partition(".")[0]],
            "summary": summary.replace("\n", " "),
            **({"description": rest.replace("\n", " ")} if rest else {}),
            **({"parameters": parameters} if parameters else {}),
            **({} if body is None else {"requestBody": self._body(body)}),
            "responses": {
                "200": _json("Done.", self._schemas[answer]),
                **{str(status): _json(about, error) for status, about in refusals.items()},
            },
        }

    def _parameters(self, path: str, query: type | None, id_type: str) -> list[dict[str, Any]]:
        names = [word[1:-1] for word in path.split("/") if word.startswith("{")]
        shown = [{"name": name, "in": "path", "required": True, "schema": {"type": id_type}} for name in names]
        if query is not None:
            component = self._components[self._name(query)]
            required = component.get("required", [])
            shown += [_parameter(name, schema, name in required) for name, schema in component["properties"].items()]
        return shown

    def _name(self, type_: type) -> str:
        """The name of the component that describes the type."""
        return str(self._schemas[type_]["$ref"]).removeprefix(_REFERENCE)

    def _webhook(self, name: str) -> dict[str, Any]:
        about = (
            "Lowercase hex HMAC-SHA256 of the raw body, keyed with the endpoint's secret. Check it before the body is"
            " parsed."
        )
        signature = {
            "name": self._options.signature_header,
            "in": "header",
            "required": True,
            "description": about,
            "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        }
        return {
            "operationId": f"event.{name}",
            "tags": ["events"],
            "summary": inspect.getdoc(EVENTS[name]),
            "security": [],
            "parameters": [signature],
            "requestBody": self._body(EVENTS[name]),
            "responses": {
                "2XX": {"description": "The event has arrived."},
                "default": {"description": "The event is sent again later, with the same id."},
            },
        }

    def _body(self, body: type) -> dict[str, Any]:
        return {"required": True, "content": {"application/json": {"schema": self._schemas[body]}}}


def _parameter(name: str, schema: dict[str, Any], required: bool) -> dict[str, Any]:
    # A query parameter cannot be null, so drop null from its schema.
    of_value = [each for each in schema.get("anyOf", [schema]) if each != {"type": "null"}]
    shown = of_value[0] if len(of_value) == 1 else {**schema, "anyOf": of_value}
    shape = {"style": "form", "explode": False} if shown.get("type") == "array" else {}
    return {"name": name, "in": "query", **({"required": True} if required else {}), **shape, "schema": shown}


def _linked(shown: dict[str, Any], ids: dict[str, str], routes: Iterable[Operation | ControlRoute]) -> dict[str, Any]:
    """The route with links from its answer to the routes that take an id from it."""
    links = {
        each.name: {
            "operationId": each.name,
            "parameters": {start.partition("{")[2][:-1]: where},
        }
        for start, where in ids.items()
        for each in routes
        if each.path.startswith(start)
    }
    if links:
        shown["responses"]["200"]["links"] = links
    return shown


def _json(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}
