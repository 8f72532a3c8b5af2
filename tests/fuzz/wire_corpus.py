"""Makes seeds for the target `wire` from the wire fixtures, and seeds with the scripts of a hostile peer.
wire/script.hpp describes the format."""

from __future__ import annotations

import gzip
import json
from typing import Any

from conformance.fixtures import wire_cases, with_examples

CALLS = {
    "subscriptions.get": "g",
    "orders.get": "g",
    "products.get": "g",
    "subscriptions.charge": "c",
    "subscriptions.cancel": "x",
    "subscriptions.change_product": "x",
    "products.update": "u",
    "products.delete": "d",
    "webhook_endpoints.create": "w",
    "request": "q",
}
BODY = '{"data":{"id":"%i","state":"paid"}}'
HEAD = "HTTP/1.1 200 OK\r\nX-Request-Id: %i\r\n"
OK = HEAD + "%(" + BODY + "%)"
CHUNKED = HEAD + 'Transfer-Encoding: chunked\r\n\r\n%[{"data":{"id":%]%n%["%i"}}%]0\r\n\r\n'
UNFRAMED = HEAD + "\r\n" + BODY + "%f"
TRAILERS = CHUNKED[:-2] + "X-Request-Id: %i\r\nContent-Length: 3\r\n\r\n"
TWO_IN_A_CHUNK = HEAD + f"Transfer-Encoding: chunked\r\n\r\n%[{BODY}%]0\r\n\r\n{OK}"
PAGE = (
    'HTTP/1.1 200 OK\r\n%({"data":[{"id":"%i"}],"pagination":{"total":4,"count":1,"per_page":1,"current_page":%p,'
    '"total_pages":4,"links":{"next":null,"previous":null}}}%)'
)
GZIPPED = gzip.compress(BODY.replace("%i", "1").encode(), mtime=0).decode("latin-1").replace("%", "%%")
CODED = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"


def refusal(status: int, code: str = "declined") -> str:
    return f'HTTP/1.1 {status} X\r\n%({{"error":{{"code":"{code}","message":"no %k %i"}}}}%)'


# Each entry has the calls, and a script for each connection.
HOSTILE: list[tuple[str, list[str]]] = [
    ("gc", ["%w" + OK + "%w" + OK]),
    ("cgcg", [("%w" + CHUNKED) * 4]),
    ("cg", ["%w" + UNFRAMED, "%w" + OK]),
    ("gcg", ["%w" + TRAILERS + "%w" + OK + "%w" + TRAILERS]),
    # Unsolicited answers, sent together with the real answer, after the real answer, or before it.
    ("gg", ["%w" + OK + OK + "%w" + OK]),
    ("gmg", ["%w" + OK + "%n" + OK + "%w" + OK]),
    ("gmc", ["%w" + OK + "%n" + OK]),
    ("gpc", ["%w" + CHUNKED + "%5" + OK]),
    ("gc", ["%w" + TWO_IN_A_CHUNK + "%w" + OK]),
    ("dc", ["%wHTTP/1.1 204 X\r\n\r\n" + OK + "%w" + OK]),
    ("gmc", ["%wHTTP/1.1 304 X\r\n\r\n" + OK + "%w" + OK]),
    ("gc", ["%wHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + OK + "%w" + OK]),
    ("gc", [OK + "%w" + OK]),
    ("cc", ["HTTP/1.1 408 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n%f"]),
    ("gcg", [f"%w{CODED}%({GZIPPED}%)%w{CODED}%({GZIPPED}%)%w{CODED}%({GZIPPED[:-1]}%)"]),
    # Connections that end.
    ("gmcg", ["%w" + OK + "%f", "%w" + OK]),
    ("gmcg", ["%w" + OK + "%r", "%w" + OK]),
    ("gpcg", ["%w" + OK + "%w%r", "%w" + OK]),
    ("gcg", ["%w" + OK + "%w%c", "%w" + OK]),
    ("cg", ["%w%r", "%w" + OK]),
    ("cg", ["%r", "%w" + OK]),
    ("xg", ["%wHTTP/1.1 2%n00 OK\r%n\nContent-Le%r", "%w" + OK]),
    ("ug", ["%w" + HEAD + "Content-Length: 99\r\n\r\n" + BODY + "%f", "%w" + OK]),
    ("wg", ["%w" + HEAD + "Transfer-Encoding: chunked\r\n\r\n%[" + BODY + "%]%f", "%w" + OK]),
    ("gPcg", ["%w" + OK + "%w" + OK + "%w" + OK]),
    # Pauses and time-outs.
    ("2cg", ["%w", "%w" + OK]),
    ("3gcmg", ["%w%5" + OK + "%w%4" + OK]),
    ("1c0c7g", ["%w%0HTTP/1.1 %0200 OK\r\n%4X: y\r\n%9%(" + BODY + "%)"]),
    ("icigcg", ["%w%3" + OK + "%w" + OK]),
    ("icg", ["%w%2%w" + OK]),
    # Refusals and retries.
    ("cxud", ["%w" + refusal(402) + "%w" + refusal(401) + "%w" + refusal(422) + "%w" + refusal(404, "%k")]),
    ("cxud", ["%w" + refusal(500) + "%w" + refusal(408) + "%w" + refusal(302) + "%w" + refusal(429)]),
    ("gQq", ["%w" + refusal(503) + "%w" + refusal(503) + "%w" + OK + "%w" + refusal(500) + "%w" + refusal(404)]),
    ("rggc", ["%w" + refusal(503) + "%w" + refusal(429) + "%w" + OK]),
    ("7gc", ["%wHTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n%w" + OK + "%w" + OK]),
    ("7g", ["%wHTTP/1.1 503 X\r\nRetry-After: Wed, 21 Oct 2037 07:28:00 GMT\r\nContent-Length: 0\r\n\r\n%w" + OK]),
    # Unusual heads.
    ("cg", ["%wHTTP/x.1 402 X\r\n%(" + BODY + "%)", "%whttp/1.1 500 X\r\n%(" + BODY + "%)"]),
    ("gcgc", [("%wHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK) * 3]),
    (
        "cg",
        ["%wHTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + OK, "%wHTTP/2 200\r\n%(" + BODY + "%)"],
    ),
    ("cg", ["%wHTTP/1.1 200 OK\r\nContent-Length: 3\r\n%(" + BODY + "%)%w" + OK]),
    ("cg", ["%wHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n%(" + BODY + "%)%w" + OK]),
    ("cg", ["%wHTTP/1.0 200 OK\r\n%(" + BODY + "%)%w" + OK]),
    ("cg", ["%wHTTP/1.1 200 OK\r\nX: %b\r\n y\r\nX:%b%b\r\n\r\n" + BODY + "%f", "%wHTTP/1.1 200 OK\r\nX: %B%B%B\r\n"]),
    ("scg", ["%wHTTP/1.1 200 OK\r\n%(%b%)%w" + OK]),
    ("cg", ["%w%B%B%B", "%w\x00\xff%n\r\n\r\n" + OK]),
    # Calls through an event loop, some concurrent.
    ("agcg", ["%w" + OK] * 3),
    ("acmcgmggg", ["%w" + OK + "%n" + OK + "%w" + OK, "%w" + CHUNKED + "%w%r", "%w" + OK + OK]),
    ("1acgc3cg", ["%w", "%w%3HTTP/1.1 2%n00 OK\r%n\nContent-Le%r", "%w" + OK]),
    ("aicgmiggi7l", ["%w%3" + OK, "%w%2%w" + OK, "%w%5" + OK]),
    ("aggacmacgc", [refusal(503) + "%w" + OK, "%w" + refusal(503) + "%w%f", "%w" + OK + "%f", "%w" + OK + OK]),
    ("a7gPcrgcpgc", ["%wHTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n%w" + OK, "%w" + OK + "%w%c"]),
    ("alglc", ["%w" + PAGE + ("%w" + PAGE) * 4, "%w%3" + PAGE + "%w" + PAGE]),
    # Lists.
    ("l", ["%w" + PAGE + ("%w" + PAGE) * 4]),
    ("ll", [("%w" + PAGE) * 2 + "%w%r", ("%w%3" + PAGE) * 3 + "%w" + refusal(503) + "%w" + PAGE]),
    ("lc", ["%w" + PAGE.replace("%p", "2"), "%w" + PAGE + PAGE + "%w" + OK]),
    ("lg", ["%w" + PAGE + "%w" + refusal(404), "%w" + PAGE.replace('"total":4', '"total":5') + "%w" + OK]),
]


def escaped(text: str) -> str:
    return text.replace("%", "%%")


def script_of(case: dict[str, Any]) -> str:
    out = ""
    for exchange in case["exchanges"]:
        reply = exchange["reply"]
        body = json.dumps(with_examples(reply.get("body")), separators=(",", ":"), ensure_ascii=False)
        text = reply.get("body_text", body)
        headers = "".join(f"{name}: {value}\r\n" for name, value in reply.get("headers", {}).items())
        out += f"%wHTTP/1.1 {reply['status']} X\r\n" + escaped(headers) + "%(" + escaped(text) + "%)"
    return out


def seeds() -> set[bytes]:
    out = {(calls + "\n" + "\0".join(scripts)).encode("latin-1") for calls, scripts in HOSTILE}
    for case in wire_cases():
        if "exchanges" not in case:
            continue  # this case is for tests of the sandbox only
        calls = CALLS.get(case["call"]["op"], "l")
        out.add((calls + "g\n" + script_of(case)).encode())
        out.add((f"a{calls}mg\n" + script_of(case)).encode())
    return out


def dictionary() -> list[bytes]:
    words = [f"%{c}" for c in "wnfcrbBkpi0369()[]%"]
    words += [OK, CHUNKED, PAGE, BODY, "HTTP/1.1 ", "HTTP/1.0 ", "HTTP/2 ", "\r\n", "\r\n\r\n", "\0%w", "0\r\n\r\n"]
    words += ["Content-Length: ", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n"]
    words += ["Retry-After: 1\r\n", "X-Request-Id: %i\r\n", "Content-Encoding: gzip\r\n", "Trailer: X\r\n", "Date: "]
    words += [f"HTTP/1.1 {status} X\r\n" for status in (100, 101, 103, 204, 206, 302, 304, 402, 404, 408, 429, 503)]
    words += ['"data":{', '"data":[', '"error":', '"pagination":{', '"current_page":%p', '"total_pages":', '"total":']
    return [word.encode() for word in words]
