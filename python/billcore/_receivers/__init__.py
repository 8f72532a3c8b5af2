"""Shared code of webhooks.from_asgi, from_lambda and from_wsgi, whose modules are loaded on first use."""

from __future__ import annotations

from .._errors import ConnectionError, InvalidArgumentError, SignatureError, TimeoutError
from .._webhook import Verifier


class DisconnectedError(SignatureError, ConnectionError):
    """The sender disconnected before the end of the body, so nobody receives an answer; logs show the status 499."""


class BodyTimeoutError(SignatureError, TimeoutError):
    """The body did not arrive within the time limit."""


def disconnected(text: str) -> DisconnectedError:
    return DisconnectedError("disconnected", text=f"disconnected: {text}")


def timed_out(timeout: float, hint: str = "") -> BodyTimeoutError:
    return BodyTimeoutError("timeout", text=f"timeout: the body did not arrive within {timeout:g} s{hint}")


def too_large(verifier: Verifier, size: int | None = None) -> SignatureError:
    """Makes the error that a Verifier raises for a body over max_body, for use before the whole body is read."""
    what = "is" if size is None else f"has {size} bytes,"
    text = f"body_too_large: the body {what} over max_body ({verifier.max_body})"
    return SignatureError("body_too_large", 413, text=text)


def check_verifier(verifier: object) -> None:
    if not isinstance(verifier, Verifier):
        raise InvalidArgumentError(f"verifier must be a Verifier made once from the secrets, not {kind_of(verifier)}")


def is_mapping(value: object) -> bool:
    return hasattr(value, "get") and hasattr(value, "items")


def kind_of(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
