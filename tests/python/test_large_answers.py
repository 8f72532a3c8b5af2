"""Limits the memory for answers that would take many times their size when they are parsed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable

import pytest

from conformance.server import Reply, ScriptedServer

from .support import ACCOUNT, API_KEY, SANITIZED, measured_environment, run_python

pytestmark = pytest.mark.skipif(SANITIZED, reason="measures with the optimised modules")
SIZE = 32 << 20
LIMIT = 64 << 20  # the default of max_response
CODE = """
import json, sys
import billcore
url, key = sys.argv[1:]

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10

before = peak()
try:
    with billcore.Client(base_url=url, api_key=key, max_retries=0) as client:
        client.orders.get("o")
except billcore.BillcoreError as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error), "peak": peak() - before}))
"""


def bomb() -> bytes:
    """Returns 16 GB of zeros, compressed to 16 MB (the coding deflate)."""
    compressor = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return (compressor.compress(bytes(16 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)) * 1000


# Makes an answer; the class and the text of its error; the most memory that it may take. The client refuses an answer
# over max_response at once if Content-Length states the size, otherwise when more bytes than the limit have arrived, or
# have been decompressed. Without the limit on the number of values (problem_of_extent()), the peak of memory was 8 to
# 18 times the size of the answer.
ANSWERS: dict[str, tuple[Callable[[], Reply], str, str, int]] = {
    "promised": (
        lambda: Reply(headers={"Content-Length": str(LIMIT + 1)}, body=b"[" * SIZE, ending="hang"),
        "DecodeError",
        "over max_response",
        16_000_000,
    ),
    "chunked": (
        lambda: Reply(headers={"Transfer-Encoding": "chunked"}, body=b"%x\r\n" % (LIMIT + 1) + b"[" * (LIMIT + 1)),
        "DecodeError",
        "over max_response",
        100_000_000,
    ),
    "compressed": (
        lambda: Reply(headers={"Content-Encoding": "deflate"}, body=bomb()),
        "DecodeError",
        "over max_response",
        100_000_000,
    ),
    "brackets": (lambda: Reply(body=b"[" * SIZE), "DecodeError", "", 3 * SIZE),
    "numbers": (lambda: Reply(body=b"[" + b"1," * (SIZE // 2) + b"1]"), "DecodeError", "", 3 * SIZE),
    "objects": (lambda: Reply(body=b'{"a":' * (SIZE // 5)), "DecodeError", "", 3 * SIZE),
    "an error's numbers": (lambda: Reply(status=422, body=b"1," * (SIZE // 2)), "ValidationError", "", 3 * SIZE),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_peak_goes_by_the_size_of_the_answer(name: str) -> None:
    make, error, text, most = ANSWERS[name]
    reply = make()
    with ScriptedServer(lambda _: reply) as server:
        said = json.loads(run_python(CODE, server.url + ACCOUNT, API_KEY, environment=measured_environment()))
    assert said["error"] == error and text in said["text"], said
    assert len(said["text"]) < 500 and "\n" not in said["text"], said
    assert said["peak"] < most, said
