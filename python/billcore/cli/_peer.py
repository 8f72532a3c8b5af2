"""What `billcore doctor` sees of a server beside the client: the proxy before it, its TLS, its certificate."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import ssl
import time
from base64 import b64encode
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

_HTTPS = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")  # as the client reads them
_HTTP = ("http_proxy", "all_proxy", "ALL_PROXY")
_EXPIRED, _NOT_YET, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64  # verification errors of OpenSSL


class Proxy(NamedTuple):
    """A proxy of the environment: its URL, which may have a password, and the variable that names it."""

    url: str
    variable: str


def proxy_of(base_url: str) -> Proxy | None:
    """The proxy that the client uses; None: none."""
    from ._ask import is_loopback

    parts = urlsplit(base_url)
    if parts.scheme == "http" and is_loopback(base_url):
        return None
    variable = next((name for name in (_HTTPS if parts.scheme == "https" else _HTTP) if os.environ.get(name)), None)
    if variable is None or _is_exempt(parts.hostname or ""):
        return None
    url = os.environ[variable]
    return Proxy(url if "://" in url else f"http://{url}", variable)


def _is_exempt(host: str) -> bool:
    """Whether no_proxy names the host, or a domain above it."""
    names = re.split(r"[,\s]+", (os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or "").lower())
    return any(name == "*" or f".{host}".endswith(f".{name.lstrip('.')}") for name in names if name)


class PeerError(Exception):
    """The server's certificate was not seen. `is_tls`: because the client would refuse it."""

    def __init__(self, text: str, todo: str = "", *, is_tls: bool = False) -> None:
        super().__init__(text)
        self.todo, self.is_tls = todo, is_tls


class Peer:
    """A server of https: connects to it, through the proxy if there is one, and sends nothing.

    Attributes:
        version: Such as TLSv1.3.
        issuer: Who signed the certificate.
        days: How many days it is valid from now on.
        offers_http2: Whether the server takes HTTP/2.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        connection = _connection(base_url, timeout, context)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise PeerError(f"the certificate is refused: {error.verify_message}", _todo(error), is_tls=True) from None
        except ssl.SSLError as error:
            raise PeerError(
                f"the handshake failed: {error.reason or error}", "is this an https port?", is_tls=True
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise PeerError(f"no connection: {getattr(error, 'strerror', None) or error}") from None
        with contextlib.closing(connection):
            sock: ssl.SSLSocket = connection.sock
            certificate: dict[str, Any] = sock.getpeercert() or {}
            issuer = {name: value for part in certificate.get("issuer", ()) for name, value in part}
            ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
            self.version = sock.version() or "TLS"
            self.issuer = str(issuer.get("organizationName") or issuer.get("commonName") or "an unnamed authority")
            self.days = int((ends - time.time()) // 86400)
            self.offers_http2 = sock.selected_alpn_protocol() == "h2"


def _connection(base_url: str, timeout: float, context: ssl.SSLContext) -> http.client.HTTPSConnection:
    parts, proxy = urlsplit(base_url), proxy_of(base_url)
    host, port = parts.hostname or "", parts.port or 443
    if proxy is None:
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    via = urlsplit(proxy.url)
    if via.scheme != "http":
        raise PeerError(f"the certificate is not looked at through a {via.scheme} proxy")
    made = http.client.HTTPSConnection(via.hostname or "", via.port or 1080, timeout=timeout, context=context)
    headers = {}
    if via.username is not None:
        user = f"{unquote(via.username)}:{unquote(via.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
    made.set_tunnel(host, port, headers)
    return made


def _todo(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code == _EXPIRED:
        return "the certificate has to be renewed, unless this machine's clock is wrong"
    if error.verify_code == _NOT_YET:
        return "check this machine's clock"
    if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        return "use an address whose host is in the certificate"
    return "if you trust its authority, set SSL_CERT_FILE to a PEM file with the authority's certificate"
