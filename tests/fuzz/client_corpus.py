"""Makes seeds and dictionary words for the small fuzz targets of the client library. Each target's file describes the
format of its input."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

from conformance.fixtures import with_examples

TIMES = [
    "2025-04-25T07:30:00Z",
    "2025-04-25 07:30:00.123456789+02:00",
    "2024-02-29t23:59:60z",
    "0000-01-01T00:00",
    "9999-12-31T23:59:59.9-2359",
    "1969-12-31T23:59:59+00",
]
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
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda text: zlib.compress(text, wbits=-zlib.MAX_WBITS),
    "gzip, x-gzip": lambda text: gzip.compress(gzip.compress(text)),
    "gzip\r\nX: y\r\ncontent-encoding: identity, deflate": lambda text: zlib.compress(gzip.compress(text)),
    "br": lambda text: text,
}
# The test vectors of RFC 4648, and texts that are almost valid.
ENCODED = [
    *["", "f", "fo", "foo", "foob", "fooba", "foobar"],
    *["Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy", "Zg", "Zm8", "Zm9vYg", "-_+/"],
    *["Z", "Zg=", "Zg===", "Zm8==", "Zm9v====", "Zg==Zg==", "Z=g=", "Zm\r\n9v\n", "=", "Zm 9v", "Zh=="],
    *["66", "666F6f", "6", "6g", "a+b%20c", "%2", "%", "%zz", "%2f%2F", "+", "a%00b", "%41%"],
]
URLS = [
    "https://api.example/0b7e5a52-3f0e-4c55-9d8c-1f2a3b4c5d6e",
    "http://127.0.0.1:8080/acct/",
    "http://[::1]:1/a/b",
    "HTTP://localhost/a",
    "http://127.1/a",
    "http://0x7f.1/a",
    "http://127.0.0.1\\@evil.example/a",
    "http://user:word@127.0.0.1/a",
    "http://127.0.0.1.evil.example/a",
    "https://x.example/a/%2E%2e/b",
    "https://x.example//a?b#c",
    "https:///a/b",
    "http://localhost%00.evil.example/a",
    "http://%6cocalhost/a",
    "http://[::ffff:127.0.0.1]/a",
    "http://127.0.0.1 /a",
]
IDS = ["sub_1001", "480001", ".", "..", "%2e%2e", "a/b?c#d", "\u00e9\u20ac\U0001f600", "a b", "\r\n", "%", "+&="]
WORDS = {
    "arrow": ['"id":', '"raw":', "vat_rate", "null", "1e-18", "e", "}", "{", "\\u0061", '"2025-04-25T12:00:00Z"'],
    "coding": ["Content-Encoding: ", "Transfer-Encoding: ", "gzip", "deflate", "identity", ", ", "\r\n", "\x1f\x8b"],
    "encoding": ["=", "==", "\r\n", "+/", "-_", "AAAA", "Zg==", "%", "%2B", "%zz", "6a", "FF"],
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
    "pages": [],
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
    "retry_after": [
        "120",
        "0.5",
        "1e3",
        "-1",
        "inf",
        "nan",
        " GMT",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "+0200",
        "Oct",
        "99999999999",
    ],
    "state": ["p1.", "p2.", "p3.", "=", "\n", "AAAAAAAAAAA", "-_"],
    "time": ["T", "Z", "+00:00", "-23:59", ".5", "2024-02-29", "1900-02-29", "23:59:60"],
    "url": ["http://", "https://", "127.0.0.1", "localhost", "[::1]", "@", "%2e", "..", "\0", "\\", ":80", "xn--"],
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
    for layout in range(0, 256, 51):
        for name, coded in CODINGS.items():
            body = coded(item)
            head = bytes([layout, layout]) + f"Content-Encoding: {name}\r\n\r\n".encode()
            out["coding"] |= {head + body, head + body + body, head + body[:-1], head + body[:20] + b"x" + body[21:]}
    out["encoding"] = {bytes([layout]) + text.encode() for layout in (0, 1, 2, 7, 255) for text in ENCODED}
    out["time"] = {time.encode() for time in TIMES}
    out["head"] = {
        bytes([size]) + (head + coded).encode() for size in (0, 1, 6, 39) for head in HEADS for coded in CODED
    }
    out["url"] = {
        "\0".join([url, one, other]).encode() for url in URLS for one in IDS for other in ("a/../b", "%2E/x", "...")
    }
    for which in range(3):
        for kind in range(6):
            head = bytes([which, kind, 0x5A, 0x33, 0, 0xFF, 1, 2, 0, 5])
            out["redact"] |= {head + bytes([levels, *([1, 7, 7, 2, 9, 9] * levels)]) + b"\0a\0b" for levels in range(5)}
            out["redact"].add(head + b"\0\0" + around[:400] + b"\0" + around[400:800])
    out["retry_after"] = {b"\1\x68\0\0\0" + text.encode() for text in WORDS["retry_after"]}
    out["retry_after"] |= {
        bytes([0, 0x68, 0, 0, 0, 0x68, 0, 0, way, way, 1, 0x67, 0xFF, 0xFF, 0, way]) for way in range(3)
    }
    out["state"] = {b"\0p2." + b"A" * 86, b"\0p3." + b"A" * 96, b"\1" + bytes(range(80)), b"\1" + b"\0" * 300}
    out["pages"] = {
        bytes([settings, size, 50]) + plan * 40 for settings in range(64) for size in (1, 5) for plan in PLANS
    }
    return out


PLANS = [b"\0", bytes([0, 100]), bytes([0, 180, 3, 0, 0]), bytes([120, 200, 7, 9]), bytes([0, 0, 0, 235, 1, 250])]


def dictionaries() -> dict[str, list[bytes]]:
    return {name: [word.encode() for word in words if word] for name, words in WORDS.items() if words}
