"""The checks of `billcore doctor`, in their order."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from . import _secrets
from ._command import Failure
from ._profile import Account, account_of

if TYPE_CHECKING:
    from .. import BuildInfo, Response
    from ._peer import Peer

_PATIENCE = 10.0  # seconds for each connection
_SKEW = 5.0  # seconds: the header Date has whole seconds, and the answer takes a moment
_SOON = 14  # days before the end of a certificate
_CONTROL = "BILLCORE_SANDBOX_CONTROL"
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Finding(NamedTuple):
    """The result of a check: its name, its state, what was seen, and what to do unless the state is ok."""

    check: str
    state: Literal["ok", "warning", "failed", "skipped"]
    text: str
    todo: str = ""


class Checks:
    """Runs the checks; a check is left out or skipped if an earlier one failed on which it depends.

    Args:
        options: Those of add_account().
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._account = Account(None, None)
        self._build: BuildInfo | None = None
        self._peer: Peer | None = None
        self._base_url = ""
        self._has_key = False
        self._dated: tuple[str | None, float, float] | None = None  # the header Date, when it was asked for and came
        self.is_unreached = False
        """Whether the service was not reached."""

    def all(self) -> Iterator[Finding]:
        """The findings, each as soon as it is there."""
        yield self._libraries()
        yield from self._address()
        if self._base_url:
            yield self._proxy()
            if self._base_url.startswith("https:"):
                yield self._tls()
            yield self._service()
            yield self._http()
            yield self._clock()
        yield self._secret()
        if os.environ.get(_CONTROL):
            yield self._sandbox(os.environ[_CONTROL])

    def _libraries(self) -> Finding:
        from .._build_info import build_info

        try:
            self._build = build_info()
        except ImportError as error:
            return Finding("libraries", "failed", f"the client cannot be loaded: {error}", "install what is missing")
        where = "of the package" if self._build["self_contained"] else "of this system"
        libraries = ", ".join(f"{name} {release}" for name, release in self._build["libraries"].items())
        return Finding("libraries", "ok", f"billcore {self._build['version']}; {where}: {libraries}")

    def _address(self) -> Iterator[Finding]:
        how = "set BILLCORE_BASE_URL and BILLCORE_API_KEY, or run billcore profile add"
        try:
            self._account = account_of(self._options)
        except Failure as failure:
            yield Finding("address", "failed", str(failure))
            return
        named = self._account.profile and f"the profile {self._account.profile}"
        url = self._account.base_url or os.environ.get("BILLCORE_BASE_URL", "")
        source = named or ("--base-url" if self._options.base_url else "BILLCORE_BASE_URL")
        if not url:
            yield Finding("address", "failed", "there is no address", how)
        elif problem := self._refused(url, "k"):
            yield Finding("address", "failed", f"{source}: {problem}")
        else:
            self._base_url = url.rstrip("/")
            yield self._whole_address(source)
        key = self._account.api_key or os.environ.get("BILLCORE_API_KEY", "")
        source = named or ("--api-key-file" if self._options.api_key_file else "BILLCORE_API_KEY")
        if not key:
            yield Finding("key", "failed", "there is no API key", how)
        elif problem := self._refused("http://localhost/a", key):
            yield Finding("key", "failed", f"{source}: {problem}", "issue a key in the admin UI, under API tokens")
        else:
            self._has_key = True
            yield Finding("key", "ok", f"from {source}, not shown")

    def _refused(self, url: str, key: str) -> str | None:
        """What the client says against an address or a key; None: nothing."""
        if self._build is None:
            return None
        from .. import Client, ConfigError

        try:
            Client(base_url=url, api_key=key, proxy="").close()
        except ConfigError as error:
            return str(error)
        return None

    def _whole_address(self, source: str) -> Finding:
        text = f"{self._base_url}, from {source}"
        if _UUID.fullmatch(self._base_url.rpartition("/")[2]):
            return Finding("address", "ok", text)
        todo = "the address ends with the account's id, a UUID: copy it whole"
        return Finding("address", "warning", f"{text}: it does not end with an account", todo)

    def _proxy(self) -> Finding:
        from ._peer import proxy_of

        found = proxy_of(self._base_url)
        if found is None:
            return Finding("proxy", "ok", "none")
        parts = urlsplit(found.url)
        shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))  # without its password
        return Finding("proxy", "ok", f"{shown}, from {found.variable}")

    def _tls(self) -> Finding:
        from ._peer import Peer, PeerError

        try:
            self._peer = peer = Peer(self._base_url, _PATIENCE)
        except PeerError as error:
            return Finding("tls", "failed" if error.is_tls else "skipped", str(error), error.todo)
        text = f"{peer.version}, certificate of {peer.issuer} for {peer.days} more days"
        if peer.days < _SOON:
            return Finding("tls", "warning", text, "renew the certificate; clients refuse it when it has expired")
        return Finding("tls", "ok", text)

    def _service(self) -> Finding:
        if self._build is None:
            return Finding("service", "skipped", "needs the client")
        if not self._has_key:
            return Finding("service", "skipped", "needs a key: nothing was sent")
        from .. import BillcoreError, Client, ConfigError, TlsError, TransportError

        began = time.time()
        try:
            base_url, key = self._account.base_url, self._account.api_key
            with Client(base_url=base_url, api_key=key, max_retries=0, timeout=_PATIENCE) as client:
                answer = client.request("GET", "/products", query={"page": 1}, raise_on_error=False)
        except TransportError as error:
            self.is_unreached = True
            todo = "see the check tls" if isinstance(error, TlsError) else "check the address, the network, the proxy"
            return Finding("service", "failed", str(error), todo)
        except ConfigError as error:
            return Finding("service", "failed", str(error))
        except BillcoreError as error:
            return Finding("service", "failed", str(error), "check the address: this may be another server")
        self._dated = answer.headers.get("date"), began, time.time()
        return _of_answer(answer, (time.time() - began) * 1000)

    def _http(self) -> Finding:
        if not self._base_url.startswith("https:"):
            return Finding("http", "ok", "HTTP/1.1, without TLS")
        if self._peer is None:
            return Finding("http", "skipped", "needs a connection with TLS")
        if not self._peer.offers_http2:
            return Finding("http", "ok", "HTTP/1.1: the service does not offer HTTP/2")
        if self._build is not None and self._build["self_contained"]:
            return Finding("http", "ok", "HTTP/2")
        return Finding("http", "ok", "HTTP/1.1: the service offers HTTP/2, but this build of billcore does not")

    def _clock(self) -> Finding:
        if self._dated is None:
            return Finding("clock", "skipped", "needs an answer of the service")
        date, began, ended = self._dated
        try:
            told = parsedate_to_datetime(date or "").timestamp()
        except ValueError:
            return Finding("clock", "skipped", "the answer has no header Date")
        behind = told + 0.5 - (began + ended) / 2  # Date has no fraction
        if abs(behind) <= _SKEW + (ended - began) / 2:
            return Finding("clock", "ok", "this machine and the service agree")
        text = f"this machine is {_duration(abs(behind))} {'behind' if behind > 0 else 'ahead of'} the service"
        todo = "set this machine's clock (NTP): the look-up of charges compares times; a sandbox may have been moved"
        return Finding("clock", "warning", text, todo)

    def _secret(self) -> Finding:
        secret = os.environb.get(_secrets.VARIABLE.encode())
        if secret is None:
            return Finding("secret", "skipped", f"{_secrets.VARIABLE} is not set; billcore webhook and listen read it")
        try:
            _secrets.checked(_secrets.VARIABLE, secret)
        except Failure as failure:
            text, _, todo = str(failure).partition(": ")
            return Finding("secret", "failed", text, todo)
        return Finding("secret", "ok", f"from {_secrets.VARIABLE}, not shown")

    def _sandbox(self, control_url: str) -> Finding:
        from ._registration import reached

        try:
            reached(control_url)
        except Failure as failure:
            return Finding("sandbox", "failed", str(failure), f"start a sandbox, or unset {_CONTROL}")
        return Finding("sandbox", "ok", control_url)


def _of_answer(answer: Response, ms: float) -> Finding:
    from .. import DecodeError

    status, text = answer.status, f"GET /products answered {answer.status} in {ms:.0f} ms"
    if status == 200:
        try:
            body = answer.json()
        except DecodeError:
            body = None
        if isinstance(body, dict) and isinstance(body.get("data"), list) and isinstance(body.get("pagination"), dict):
            return Finding("service", "ok", text)
        text += ", but not with a list of products"
    todo = "check the address: this may be another server"
    if status == 401:
        todo = "the key is wrong or was revoked: issue one in the admin UI, under API tokens"
    elif status == 404:
        todo = "the key is that of another account, or the address is not that of the account: compare the two"
    elif 300 <= status < 400:
        todo = "the address redirects, which the client does not follow: use the address that it leads to"
    elif status == 429 or status >= 500:
        todo = "the service, or a proxy before it, cannot answer now: try again later"
    return Finding("service", "failed", text, todo)


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
