"""Makes the Lambda event that each AWS gateway sends for a request."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

Fields = Sequence[tuple[str, str]]
SHAPES = ("rest-v1", "http-v2", "function-url", "alb", "alb-multi-value")


def _multi(headers: Fields) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name, []).append(value)
    return found


def _lower(headers: Fields) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers]


def rest_v1(headers: Fields, path: str) -> dict[str, Any]:
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": "POST",
        "headers": dict(headers),
        "multiValueHeaders": _multi(headers),
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": path.strip("/")},
        "stageVariables": None,
        "requestContext": {"httpMethod": "POST", "path": path, "protocol": "HTTP/1.1", "stage": "prod"},
    }


def http_v2(headers: Fields, path: str, route: str = "POST /webhooks", domain: str = "execute-api") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": "",
        "headers": {name: ",".join(values) for name, values in _multi(_lower(headers)).items()},
        "requestContext": {
            "domainName": f"abc.{domain}.example",
            "http": {"method": "POST", "path": path, "protocol": "HTTP/1.1"},
            "routeKey": route,
            "stage": "$default",
        },
    }


def alb(headers: Fields, path: str, *, multi_value: bool) -> dict[str, Any]:
    event: dict[str, Any] = {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:region:1:targetgroup/hooks/1"}},
        "httpMethod": "POST",
        "path": path,
    }
    if multi_value:
        return {**event, "multiValueQueryStringParameters": {}, "multiValueHeaders": _multi(_lower(headers))}
    return {**event, "queryStringParameters": {}, "headers": dict(_lower(headers))}


def gateway_event(
    shape: str, headers: Fields, body: bytes, *, encoded: bool | None = False, path: str = "/webhooks"
) -> dict[str, Any]:
    """encoded: whether the body is base64, and the value of isBase64Encoded; None: the body is plain, and the event
    does not have isBase64Encoded."""
    event = {
        "rest-v1": lambda: rest_v1(headers, path),
        "http-v2": lambda: http_v2(headers, path),
        "function-url": lambda: http_v2(headers, path, "$default", "lambda-url"),
        "alb": lambda: alb(headers, path, multi_value=False),
        "alb-multi-value": lambda: alb(headers, path, multi_value=True),
    }[shape]()
    event["body"] = base64.b64encode(body).decode() if encoded else body.decode()
    if encoded is not None:
        event["isBase64Encoded"] = encoded
    if not body:  # each gateway represents an empty body differently
        if shape == "rest-v1":
            event["body"] = None
        elif not shape.startswith("alb"):
            del event["body"]
    return event
