"""Makes seeds of the fuzz targets from the shared fixtures: PYTHONPATH=tests python tests/fuzz/make_corpus.py FOLDER

The script writes seeds to FOLDER/TARGET and a dictionary for libFuzzer to FOLDER/TARGET.dict.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from conformance.fixtures import body_bytes, load, with_examples
from fuzz import abi_corpus

MAX_SEED = 16 * 1024
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
FIELDS = [f'"{row["field"]}":' for row in load("fields.json")["rows"]]
NUMBERS = ["-0", "1e400", "-1e-400", "12.50", "9223372036854775807", "-9223372036854775808", "18446744073709551616"]
JSON = ["null", "true", "[", "{", "}", "]", ",", "\\u0000", "\\ud83d\\ude00", '"2025-04-25T07:30:00.5+02:00"', *NUMBERS]
HTTP = ["Content-Length: ", "Transfer-Encoding: ", "chunked", "\r\n", "\n\n", ", ", "18446744073709551615", ";x=1"]
ESCAPES = [
    "\\u002f",
    "%2F",
    "&#x2f;",
    "\\\\",
    "https://",
    '"cancel_url":"',
    "'invoices_url': '",
    '\\"update_card_url\\"',
]
WORDS = {
    "abi": [*FIELDS, *JSON, '"order.paid"', '"product.updated"', '"product-group.deleted"', "Service-Signature"],
    "arrow": [*FIELDS, *JSON, '"id":', '"raw":', "1e-18"],
    "head": HTTP,
    "redact": [*ESCAPES, "\0"],
    "value": [*FIELDS, *JSON],
}


def seeds() -> dict[str, set[bytes]]:
    out: dict[str, set[bytes]] = {name: set() for name in WORDS}
    out["abi"] = abi_corpus.seeds()
    bodies = [body_bytes(case) for case in load("webhook_vectors.json")["cases"]]
    out["value"] = {body + b"\0" + body for body in bodies if len(body) <= MAX_SEED}
    items = [with_examples({"$example": name}) for name in ("Subscription", "Order", "Product")]
    for table, item in enumerate(items):
        nulls = dict.fromkeys(item)
        out["arrow"].add(bytes([table, *(0x40,) * 3, 3]) + json.dumps(item | {"more": [1]}).encode())
        out["arrow"].add(bytes([table, *(0,) * 4]) + f"{json.dumps(item)},{json.dumps(nulls)},{{}},7".encode())
    out["head"] = {
        bytes([size]) + (head + coded).encode() for size in (0, 1, 6, 39) for head in HEADS for coded in CODED
    }
    around = ", ".join(f'"{name}": "{value}"' for name, value in items[0].items() if isinstance(value, str)).encode()
    for which in range(3):
        for kind in range(6):
            head = bytes([which, kind, 0x5A, 0x33, 0, 0xFF, 1, 2, 0, 5])
            out["redact"] |= {head + bytes([levels, *([1, 7, 7, 2, 9, 9] * levels)]) + b"\0a\0b" for levels in range(5)}
            out["redact"].add(head + b"\0\0" + around[:400] + b"\0" + around[400:800])
    return out


def main() -> None:
    folder = Path(sys.argv[1])
    for target, texts in seeds().items():
        place = folder / target
        place.mkdir(parents=True, exist_ok=True)
        for text in texts:
            (place / hashlib.sha256(text).hexdigest()[:16]).write_bytes(text)
        quoted = ("".join(rf"\x{byte:02x}" for byte in word.encode()) for word in WORDS[target])
        (folder / f"{target}.dict").write_text("".join(f'"{word}"\n' for word in quoted))


if __name__ == "__main__":
    main()
