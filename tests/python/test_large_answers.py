"""Limits the memory for answers that would take many times their size when they are parsed."""

from __future__ import annotations

import json
import zlib

import pytest

from conformance.server import Reply, Request, ScriptedServer
from support.waiting import LATE

from .support import ACCOUNT, API_KEY, SANITIZED, measured_environment, run_python

pytestmark = pytest.mark.skipif(SANITIZED, reason="measures with the optimised modules")
SIZE = 32 << 20
BODIES = {
    "brackets": b"[" * SIZE,
    "numbers": b"[" + b"1," * (SIZE // 2) + b"1]",
    "objects": b'{"a":' * (SIZE // 5),
}
CODE = """
import asyncio, json, sys, time
import billcore
url, key, kind = sys.argv[1:]

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10

async def awaited():
    longest = 0.0
    async def watch():
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0)
            longest = max(longest, time.monotonic() - before)
    watching = asyncio.create_task(watch())
    async with billcore.AsyncClient(base_url=url, api_key=key, max_retries=0) as client:
        try:
            await client.orders.get("o")
        finally:
            watching.cancel()
            said["longest"] = longest

said = {}
before = peak()
try:
    if kind == "awaited":
        asyncio.run(awaited())
    else:
        with billcore.Client(base_url=url, api_key=key, max_retries=0) as client:
            client.orders.get("o")
except billcore.BillcoreError as error:
    said |= {"error": type(error).__name__, "text": str(error)}
print(json.dumps(said | {"peak": peak() - before}))
"""


def bomb() -> bytes:
    """Returns 16 GB of zeros, compressed to 16 MB (the coding deflate)."""
    compressor = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return (compressor.compress(bytes(16 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)) * 1000


# The client refuses an answer over max_response (64 MiB by default): at once if Content-Length states the size,
# otherwise when more bytes than the limit have arrived, or have been decompressed.
@pytest.mark.parametrize("kind", ["promised", "chunked", "compressed"])
def test_a_refused_answer_takes_its_own_size(kind: str) -> None:
    size = 64 << 20

    def script(request: Request) -> Reply:
        if kind == "promised":
            return Reply(headers={"Content-Length": str(size + 1)}, body=b"[" * SIZE, ending="hang")
        if kind == "compressed":
            return Reply(headers={"Content-Encoding": "deflate"}, body=bomb())
        return Reply(headers={"Transfer-Encoding": "chunked"}, body=b"%x\r\n" % (size + 1) + b"[" * (size + 1))

    with ScriptedServer(script) as server:
        url = server.url + ACCOUNT
        said = json.loads(run_python(CODE, url, API_KEY, "blocking", environment=measured_environment()))
    assert "over max_response" in said["text"], said
    most = 16 if kind == "promised" else 100
    assert said["peak"] < most * 1_000_000, said


@pytest.mark.parametrize("kind", ["blocking", "awaited"])
@pytest.mark.parametrize("status", [200, 422])
@pytest.mark.parametrize("body", BODIES)
def test_the_peak_goes_by_the_size_of_the_answer(body: str, status: int, kind: str) -> None:
    def script(request: Request) -> Reply:
        return Reply(status=status, body=BODIES[body])

    with ScriptedServer(script) as server:
        url = server.url + ACCOUNT
        said = json.loads(run_python(CODE, url, API_KEY, kind, environment=measured_environment()))
    assert said["error"] == {200: "DecodeError", 422: "ValidationError"}[status], said
    assert len(said["text"]) < 500 and "\n" not in said["text"], said
    # Without the limit on the number of values (problem_of_extent()), the peak of memory was 8 to 18 times the size of
    # the answer.
    assert said["peak"] < 3 * SIZE, said
    assert said.get("longest", 0.0) < LATE, said
