"""Makes GETs with pycurl as its documentation shows, on handles whose options are set once."""

from __future__ import annotations

from importlib import import_module

from .rows import HEADERS, Server


class Handle:
    def __init__(self, server: Server, url: str) -> None:
        package = import_module("pycurl")
        self.curl = package.Curl()
        self.parts: list[bytes] = []
        if server.ca_file is not None:
            self.curl.setopt(package.CAINFO, server.ca_file)
        self.curl.setopt(package.URL, url)
        self.curl.setopt(package.HTTP_VERSION, package.CURL_HTTP_VERSION_2TLS)
        self.curl.setopt(package.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
        self.curl.setopt(package.NOSIGNAL, 1)
        self.curl.setopt(package.WRITEFUNCTION, self.parts.append)

    def body(self) -> bytes:
        return b"".join(self.parts)

    def perform(self) -> bytes:
        self.parts.clear()
        self.curl.perform()
        return self.body()


class Multi:
    def __init__(self, server: Server, url: str, handles: int) -> None:
        package = import_module("pycurl")
        self._multi = package.CurlMulti()
        self._multi.setopt(package.M_MAXCONNECTS, handles)  # by default libcurl keeps too few connections open
        self._handles = {one.curl: one for one in (Handle(server, url) for _ in range(handles))}

    def run(self, count: int) -> int:
        return sum(map(len, self._bodies(count)))

    def show(self) -> str:
        (body,) = set(self._bodies(len(self._handles)))  # all answers are the same
        return body.decode()

    def _bodies(self, count: int) -> list[bytes]:
        multi, waiting = self._multi, list(self._handles.values())
        started, bodies = 0, list[bytes]()
        while len(bodies) < count:
            while waiting and started < count:
                handle = waiting.pop()
                handle.parts.clear()
                multi.add_handle(handle.curl)
                started += 1
            multi.perform()
            _, done, failed = multi.info_read()
            if failed:
                raise RuntimeError(f"pycurl: {failed[0][2]}")
            for curl in done:
                multi.remove_handle(curl)
                bodies.append(self._handles[curl].body())
                waiting.append(self._handles[curl])
            if not done:
                multi.select(1.0)
        return bodies
