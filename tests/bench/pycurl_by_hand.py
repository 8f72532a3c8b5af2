"""Makes GETs with pycurl as its documentation shows, on handles whose options are set once."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from .rows import HEADERS, Server


class Handle:
    def __init__(self, server: Server) -> None:
        package = import_module("pycurl")
        self.curl, self._url = package.Curl(), package.URL
        self.parts: list[bytes] = []
        if server.ca_file is not None:
            self.curl.setopt(package.CAINFO, server.ca_file)
        self.curl.setopt(package.HTTP_VERSION, package.CURL_HTTP_VERSION_2TLS)
        self.curl.setopt(package.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
        self.curl.setopt(package.NOSIGNAL, 1)
        self.curl.setopt(package.WRITEFUNCTION, self.parts.append)

    def set_url(self, url: str) -> None:
        self.curl.setopt(self._url, url)

    def body(self) -> bytes:
        return b"".join(self.parts)

    def perform(self) -> bytes:
        self.parts.clear()
        self.curl.perform()
        return self.body()


class Multi:
    def __init__(self, server: Server, handles: int) -> None:
        package = import_module("pycurl")
        self._multi = package.CurlMulti()
        self._multi.setopt(package.M_MAXCONNECTS, handles)  # by default libcurl keeps too few connections open
        self._handles = {one.curl: one for one in (Handle(server) for _ in range(handles))}

    @property
    def handles(self) -> list[Handle]:
        return list(self._handles.values())

    def drive(self, count: int, prepare: Callable[[Handle, int], None] | None, use: Callable[[bytes], None]) -> None:
        """Runs `count` transfers. prepare: called with the handle and the number i before transfer i. use: called
        with the body of each transfer, in the order in which the transfers end."""
        multi, waiting = self._multi, self.handles
        started = finished = 0
        while finished < count:
            while waiting and started < count:
                handle = waiting.pop()
                handle.parts.clear()
                if prepare is not None:
                    prepare(handle, started)
                multi.add_handle(handle.curl)
                started += 1
            multi.perform()
            _, done, failed = multi.info_read()
            if failed:
                raise RuntimeError(f"pycurl: {failed[0][2]}")
            for curl in done:
                multi.remove_handle(curl)
                handle = self._handles[curl]
                use(handle.body())
                finished += 1
                waiting.append(handle)
            if not done:
                multi.select(1.0)
