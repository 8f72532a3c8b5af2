"""The contenders of the rest tables, and the labels of their rows."""

from __future__ import annotations

from dataclasses import dataclass

AT_ONCE = 16


@dataclass(frozen=True)
class Contender:
    """The labels of a contender's two rows: one for sequential GETs, one for 16 concurrent GETs. None: not
    supported."""

    sequential: str | None
    at_once: str | None
    http2: bool = True
    kind: str = "python"

    def label(self, at_once: int) -> str | None:
        return self.sequential if at_once == 1 else self.at_once


CONTENDERS = {
    "raw": Contender("raw libcurl easy, body not parsed", "raw libcurl multi, bodies not parsed", kind="native"),
    "raw_yyjson": Contender("raw libcurl easy + yyjson", "raw libcurl multi + yyjson", kind="native"),
    "raw_threads": Contender(None, "raw libcurl easy + yyjson, 16 threads", kind="native"),
    "cpp": Contender("C++ subscriptions().get", "C++ subscriptions().get, 16 threads", kind="native"),
    "c": Contender("C billcore_subscription_get", "C billcore_subscription_get, 16 threads", kind="native"),
    "raw_yyjson_newest": Contender("raw libcurl 8 easy + yyjson", "raw libcurl 8 multi + yyjson", kind="newest"),
    "raw_threads_newest": Contender(None, "raw libcurl 8 easy + yyjson, 16 threads", kind="newest"),
    "cpp_newest": Contender("C++, libcurl 8", "C++, libcurl 8, 16 threads", kind="newest"),
    "c_newest": Contender("C, libcurl 8", "C, libcurl 8, 16 threads", kind="newest"),
    "go": Contender("Go net/http + encoding/json", "Go net/http + encoding/json, 16 goroutines", kind="go"),
    "billcore": Contender("billcore Client", "billcore Client, 16 threads"),
    "billcore_async": Contender("billcore AsyncClient", "billcore AsyncClient, 16 tasks"),
    "billcore_uvloop": Contender("billcore AsyncClient, uvloop", "billcore AsyncClient, uvloop, 16 tasks"),
    "pycurl": Contender("pycurl, body not parsed", "pycurl CurlMulti, bodies not parsed"),
    "urllib3": Contender("urllib3", "urllib3, 16 threads", http2=False),
    "aiohttp": Contender("aiohttp", "aiohttp, 16 tasks", http2=False),
    "aiohttp_uvloop": Contender("aiohttp, uvloop", "aiohttp, uvloop, 16 tasks", http2=False),
    "pyreqwest": Contender("pyreqwest SyncClient", "pyreqwest SyncClient, 16 threads"),
    "pyreqwest_async": Contender("pyreqwest Client", "pyreqwest Client, 16 tasks"),
    "primp": Contender("primp Client", "primp Client, 16 threads"),
    "niquests": Contender("niquests Session", "niquests Session, 16 threads"),
    "httpx": Contender("httpx Client", None),
    "httpx_async": Contender("httpx AsyncClient", "httpx AsyncClient, 16 tasks"),
    "requests": Contender("requests", "requests, 16 threads", http2=False),
    "stripe": Contender("stripe StripeClient.raw_request", "stripe StripeClient.raw_request, 16 threads", http2=False),
}
# raw and pycurl do not parse the answer.
UNPARSED = {"raw", "pycurl"}
PACKAGES = ("pycurl", "urllib3", "aiohttp", "uvloop", "pyreqwest", "primp", "niquests", "httpx", "requests", "stripe")
