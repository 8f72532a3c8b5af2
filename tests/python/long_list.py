"""Serves a list of any length, each page generated on request. Prints the server's port; exits at the end of stdin.

long_list.py PAGES PER_PAGE BYTES_OF_METADATA ORDER  (ORDER is JSON)
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from typing import Any

PLACE = "0123456789"  # placeholder for the id of an order; every id has this length


class Pages:
    def __init__(self, pages: int, per_page: int, metadata: int, order: dict[str, Any]) -> None:
        self._pages = pages
        self._per_page = per_page
        metadata_text = {"long": "m" * metadata} if metadata else {}
        text = json.dumps({**order, "id": PLACE, "metadata": metadata_text}, separators=(",", ":"))
        self._before, self._behind = text.encode().split(PLACE.encode())

    def __getitem__(self, number: int) -> bytes:
        first = (number - 1) * self._per_page
        between = self._behind + b"," + self._before
        items = between.join(b"%010d" % place for place in range(first, first + self._per_page))
        pagination = {
            "total": self._pages * self._per_page,
            "count": self._per_page,
            "per_page": self._per_page,
            "current_page": number,
            "total_pages": self._pages,
            "links": {"next": None, "previous": None},
        }
        return b'{"data":[%b%b%b],"pagination":%b}' % (
            self._before,
            items,
            self._behind,
            json.dumps(pagination).encode(),
        )


def serve(connection: socket.socket, pages: Pages) -> None:
    with connection, connection.makefile("rb") as lines:
        while request := lines.readline():
            number = int(request.split(b"page=")[1].split()[0].split(b"&")[0])
            while lines.readline() != b"\r\n":
                pass
            body = pages[number]
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            connection.sendall(head + body)


def main() -> None:
    count, per_page, metadata = map(int, sys.argv[1:4])
    pages = Pages(count, per_page, metadata, json.loads(sys.argv[4]))
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        print(listener.getsockname()[1], flush=True)

        def accept() -> None:
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0], pages), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        sys.stdin.read()


if __name__ == "__main__":
    main()
