"""Registers `billcore listen` as a webhook endpoint of a sandbox."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from http.client import HTTPException
from urllib.parse import urlsplit

from ..testing import Control, ControlError
from ._command import EXIT_FAILED, EXIT_NOT_REACHED, EXIT_USAGE, Failure


@contextlib.contextmanager
def registered(control_url: str, url: str, secret: bytes | None = None) -> Iterator[bytes]:
    """A block in which the URL is an endpoint of the sandbox; yields the endpoint's secret.

    The endpoint is one of the account of BILLCORE_BASE_URL, if that is one of the sandbox, else of its first account.
    """
    with _refusals(control_url):
        control = Control(control_url, account=_account(control_url))
        found = [each for each in control.endpoints() if each["url"] == url]
        for left in found:  # by a process that was killed: this one has its port
            control.endpoint(left["id"], "delete")
        endpoint = control.create_endpoint(url, secret=None if secret is None else secret.decode("latin-1"))
    try:
        yield endpoint["secret"].encode()
    finally:
        with contextlib.suppress(ControlError, OSError, HTTPException, ValueError):  # the sandbox has ended
            control.endpoint(endpoint["id"], "delete")


def reached(control_url: str) -> None:
    """Raise Failure unless a sandbox answers at the URL."""
    with _refusals(control_url):
        Control(control_url).scenarios()


def _account(control_url: str) -> str | None:
    base = urlsplit(os.environ.get("BILLCORE_BASE_URL", ""))
    return base.path.rpartition("/")[2] or None if base.netloc == urlsplit(control_url).netloc else None


@contextlib.contextmanager
def _refusals(control_url: str) -> Iterator[None]:
    try:
        yield
    except ControlError as error:
        raise Failure(EXIT_FAILED, f"the sandbox refused the endpoint: {error.message}") from None
    except ConnectionRefusedError:
        text = f"no sandbox listens at {control_url}: start one, or set BILLCORE_SANDBOX_CONTROL as it prints it"
        raise Failure(EXIT_NOT_REACHED, text) from None
    except OSError as error:
        raise Failure(EXIT_NOT_REACHED, f"the sandbox at {control_url} was not reached: {error}") from None
    except (HTTPException, ValueError, KeyError, TypeError):
        raise Failure(EXIT_USAGE, f"{control_url} is not the control URL of a sandbox") from None
