"""Makes seeds of the target `wire_h2`: answers and hostile frames, in the format of wire/script.hpp and
wire/h2_peer.hpp."""

from __future__ import annotations

import json
import struct

from conformance.fixtures import wire_cases, with_examples
from fuzz.wire_corpus import BODY, CALLS, escaped

OK = "%(200" + BODY + "%)"
PAGE = (
    '%(200{"data":[{"id":"%i"}],"pagination":{"total":4,"count":1,"per_page":1,"current_page":%p,'
    '"total_pages":4,"links":{"next":null,"previous":null}}}%)'
)
# Bytes of a raw HEADERS frame: statuses of HPACK's static table, and a custom field.
STATUS_200, STATUS_204, STATUS_500 = "\x88", "\x89", "\x8e"
FIELD = "\x00\x01x\x01y"
LENGTH_99 = "\x0f\x0d\x0299"


def frame(kind: str, flags: str, stream: str, payload: str = "") -> str:
    return f"%[{kind}{flags}{stream}{payload}%]"


def word(number: int) -> str:
    return escaped(struct.pack(">I", number).decode("latin-1"))


def reset(code: int, stream: str = "s") -> str:
    return frame("3", "0", stream, word(code))


def goaway(last: int, code: int) -> str:
    return frame("7", "0", "0", word(last) + word(code) + "bye")


def refusal(status: int, code: str = "declined") -> str:
    return f'%({status}{{"error":{{"code":"{code}","message":"no %k %i"}}}}%)'


HEAD = frame("1", "4", "s", STATUS_200 + FIELD)
DATA = frame("0", "1", "s", BODY)
PING = frame("6", "0", "0", "12345678")
WINDOW = frame("8", "0", "0", word(1 << 16))

# Each entry is a pair: the calls of the client, and the peer's script for each connection.
HOSTILE: list[tuple[str, list[str]]] = [
    ("gcxudwqQ", [("%w" + OK) * 8]),
    ("agcg", ["%w%w%w" + OK * 3]),
    ("agcgmcg", ["%w" + OK * 2 + "%w%4" + OK * 3]),
    ("gcgc", [("%w%(103%)%(103%)" + OK) * 4]),
    ("cxud", ["%w" + refusal(402) + "%w" + refusal(401) + "%w" + refusal(422) + "%w" + refusal(404, "%k")]),
    ("cxud", ["%w" + refusal(500) + "%w" + refusal(408) + "%w" + refusal(302) + "%w" + refusal(429)]),
    ("cxdcq", ["%w%(103%)" + refusal(402) + "%w%(402%)%w%(204%)%w%(304%)%w%(200%)"]),
    ("gQq", ["%w" + refusal(503) + "%w" + refusal(503) + "%w" + OK + "%w" + refusal(500) + "%w" + refusal(404)]),
    ("rggc", ["%w" + refusal(503) + "%w" + refusal(429) + "%w" + OK]),
    # Frames in any order.
    ("cg", [("%w" + HEAD + DATA) * 2]),
    ("cg", ["%w" + DATA + HEAD + "%w" + OK, "%w" + OK]),
    ("cg", ["%w" + HEAD + "%n" + frame("0", "0", "s", '{"data"') + "%3" + frame("0", "1", "s", ':{"id":"%i"}}')]),
    ("cg", ["%w" + HEAD + frame("0", "0", "s", BODY) + frame("1", "5", "s", FIELD) + "%w" + OK]),
    ("cg", ["%w" + HEAD + frame("0", "0", "s", BODY) + frame("1", "4", "s", FIELD) + "%w" + OK]),
    ("cg", ["%w" + frame("1", "0", "s", STATUS_200) + frame("9", "4", "s", FIELD) + DATA + "%w" + OK]),
    ("cg", ["%w" + frame("1", "0", "s", STATUS_200) + frame("9", "0", "s", FIELD) * 20 + "%w" + OK]),
    ("cg", ["%w" + frame("1", "4", "s", STATUS_200 + LENGTH_99) + DATA + "%w" + OK]),
    ("cg", ["%w" + frame("1", "4", "s", FIELD) + DATA, "%w" + frame("1", "5", "s", STATUS_204 + STATUS_500)]),
    ("cg", ["%w" + HEAD + frame("0", "8", "s", "\xff" + BODY) + "%w" + OK, "%w" + OK]),
    ("cg", ["%w" + frame("5", "4", "s", "\0\0\0\x02" + "\x82\x87\x84" + FIELD) + OK + "%w" + OK]),
    ("cgg", ["%w" + frame("1", "5", "n", STATUS_200) + OK + "%w" + OK, "%w" + OK]),
    ("cgg", ["%w" + OK + frame("1", "5", "l", STATUS_500) + "%w" + OK, "%w" + OK]),
    ("gcg", [OK + "%w" + OK, "%w" + OK]),
    ("gmcg", ["%w" + OK + "%n" + OK + "%w" + OK, "%w" + OK]),
    ("cg", ["%w%(2x0{}%)%w%(101%)%w%(103{}%)%w%(099%)", "%w" + OK]),
    # Many small frames.
    ("cg", ["%w" + PING * 40 + OK + "%w" + PING + OK]),
    ("cg", ["%w" + WINDOW * 40 + OK + "%w" + frame("8", "0", "0", word(0)) + OK, "%w" + OK]),
    ("cg", ["%w" + HEAD + frame("0", "0", "s") * 40 + DATA + "%w" + OK]),
    ("cg", ["%w" + frame("4", "0", "0", "\0\x03" + word(0)) + OK + "%w" + OK, "%w" + OK]),
    ("cg", ["%w" + frame("4", "0", "0", "\0\x04" + word(0)) + "%3" + OK + "%w" + OK]),
    ("cg", ["%w" + frame("4", "1", "0") * 3 + frame("d", "0", "0", "what") + OK + "%w" + OK]),
    ("2cg", ["%w" + (PING + "%0") * 20, "%w" + OK]),
    # Streams and connections that end.
    ("gmcg", ["%w" + OK + goaway(1, 0), "%w" + OK]),
    ("gcg", ["%w" + OK + "%w" + goaway(1, 0), "%w" + OK]),
    ("gcg", ["%w" + OK + "%w" + goaway(3, 0) + OK, "%w" + OK]),
    ("gcg", ["%w" + OK + "%w" + goaway(1, 0) + "%f", "%w" + OK]),
    ("agcgc", ["%w%w%w%w" + goaway(3, 0) + OK * 4, "%w" + OK]),
    ("agcgc", ["%w%w%w%w" + OK + reset(7) + reset(8) + OK + "%w" + OK, "%w" + OK]),
    ("cg", ["%w" + goaway(0, 11) + "%c", "%w" + OK]),
    ("cg", ["%w" + HEAD + reset(0), "%w" + OK]),
    ("cg", ["%w" + OK + reset(0, "l") + "%w" + OK]),
    ("cg", ["%w%(200%i%n%c", "%w%(200{}%n%r", "%w" + OK]),
    ("cg", ["%c", "%r", "%w%f", "%w" + OK]),
    ("gmcg", ["%w" + OK + "%f", "%w" + OK]),
    ("gpcg", ["%w" + OK + "%w%r", "%w" + OK]),
    ("gPcg", ["%w" + OK + "%w" + OK + "%w" + OK]),
    ("cg", ["%wHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "%w" + OK]),
    # Pauses and time-outs.
    ("2cg", ["%w", "%w" + OK]),
    ("3gcmg", ["%w%5" + OK + "%w%4" + OK + OK]),
    ("2cmcmg", ["%w%4" + OK + "%w" + OK + "%w" + OK, "%w" + OK]),
    ("icigcg", ["%w%3" + OK + "%w%3" + OK + "%w" + OK, "%w%3" + OK + "%w" + OK]),
    ("aicgmigcmg", ["%w%w%3" + OK * 2 + "%w%w" + OK * 2, "%w" + OK]),
    ("scg", ["%w%(200%b%)%w" + OK]),
    ("cg", ["%w%(200%B%)%w" + OK, "%w" + OK]),
    # Lists.
    ("l", ["%w" + PAGE + ("%w" + PAGE) * 4]),
    ("al", ["%w" + PAGE + "%w%w" + PAGE * 2 + "%w" + PAGE]),
    ("ll", [("%w" + PAGE) * 2 + "%w" + reset(7), ("%w%3" + PAGE) * 3 + "%w" + refusal(503) + "%w" + PAGE]),
]
# Stream resets before and within an answer, with each error code of RFC 9113, section 7, and with an unknown code.
for each in range(15):
    HOSTILE.append(("gcg", ["%w" + OK + "%w" + reset(each) + "%w" + OK, "%w" + OK]))
    HOSTILE.append(("acgmg", ["%w%w%(103%)" + reset(each) + HEAD + reset(each) + "%w" + OK, "%w" + OK]))
    HOSTILE.append(("gcg", ["%w" + OK + "%w" + goaway(1, each) + "%c", "%w" + OK]))


def seeds() -> set[bytes]:
    out = {(calls + "\n" + "\0".join(scripts)).encode("latin-1") for calls, scripts in HOSTILE}
    for case in wire_cases():
        if "exchanges" not in case:
            continue  # this case is only for tests of the sandbox
        script = ""
        for exchange in case["exchanges"]:
            reply = exchange["reply"]
            body = json.dumps(with_examples(reply.get("body")), separators=(",", ":"), ensure_ascii=False)
            script += f"%w%({reply['status']}" + escaped(reply.get("body_text", body)) + "%)"
        calls = CALLS.get(case["call"]["op"], "l")
        out.add((calls + "g\n" + script).encode())
    return out


def dictionary() -> list[bytes]:
    words = [f"%{c}" for c in "wnfcrbBkpi0369()[]%"]
    words += [OK, PAGE, BODY, HEAD, DATA, PING, WINDOW, STATUS_200, STATUS_500, FIELD, LENGTH_99, "\0%w", "%(103%)"]
    words += [frame(kind, flags, "s") for kind in "01359" for flags in "0145"]
    words += [reset(code) for code in range(14)] + [goaway(last, 0) for last in (0, 1, 3)]
    words += [frame("4", "0", "0", f"\0{chr(name)}" + word(0)) for name in range(1, 7)]
    words += [f"%({status}" for status in (100, 101, 103, 204, 206, 302, 304, 402, 404, 408, 429, 503)]
    return [text.encode("latin-1") for text in words]
