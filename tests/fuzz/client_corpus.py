"""Makes seeds and dictionary words for the small fuzz targets of the client library. Each target's file describes the
format of its input."""

from __future__ import annotations

import json

from conformance.fixtures import with_examples

HEADS = [
    "Content-Length: 31\r\nX: y\r\n\r\n",
    "content-length: 3, 3\r\nContent-Length: 4\r\n\r\n",
    "Transfer-Encoding: gzip, Chunked\r\nContent-Length: 18446744073709551616\r\n\r\n",
    "HTTP/1.1 500: x\r\nTrailer: a\n\n",
]
CODED = [
    "5\r\nhello\r\n0\r\n\r\n",
    "A;x=1\r\n0123456789\r\n0\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\n",
    "fffffffffffffffff\r\n",
    "-1\r\n",
]
WORDS = {
    "arrow": ['"id":', '"raw":', "vat_rate", "null", "1e-18", "e", "}", "{", "\\u0061", '"2025-04-25T12:00:00Z"'],
    "head": [
        "Content-Length: ",
        "Transfer-Encoding: ",
        "chunked",
        "\r\n",
        "\n\n",
        ": ",
        ", ",
        "18446744073709551615",
        "0\r\n\r\n",
        ";x=1",
    ],
    "redact": [
        "http://",
        "https://",
        '"cancel_url":"',
        "'invoices_url': '",
        '\\"update_card_url\\"',
        "\\u002f",
        "%2F",
        "&#x2f;",
        "\\\\",
        "\0",
    ],
}


def seeds() -> dict[str, set[bytes]]:
    texts = with_examples({"$example": "Subscription"})
    around = ", ".join(f'"{name}": "{value}"' for name, value in texts.items() if isinstance(value, str)).encode()
    out: dict[str, set[bytes]] = {name: set() for name in WORDS}
    item = json.dumps(texts).encode()
    for table in range(3):
        out["arrow"] |= {bytes([table, 0, 0, 0, 3, flag, 1]) + item + b"," + item for flag in (0, 1)}
        out["arrow"] |= {
            bytes([table, *(64,) * 4, 1, 0, 6]) + bytes(range(first, 256, step)) * 3
            for first in range(5)
            for step in (1, 3, 7)
        }
    out["head"] = {
        bytes([size]) + (head + coded).encode() for size in (0, 1, 6, 39) for head in HEADS for coded in CODED
    }
    for which in range(3):
        for kind in range(6):
            head = bytes([which, kind, 0x5A, 0x33, 0, 0xFF, 1, 2, 0, 5])
            out["redact"] |= {head + bytes([levels, *([1, 7, 7, 2, 9, 9] * levels)]) + b"\0a\0b" for levels in range(5)}
            out["redact"].add(head + b"\0\0" + around[:400] + b"\0" + around[400:800])
    return out


def dictionaries() -> dict[str, list[bytes]]:
    return {name: [word.encode() for word in words if word] for name, words in WORDS.items() if words}
