"""The wheel works beside other copies of OpenSSL and libcurl in one process, whichever is loaded first."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.server import ScriptedServer
from faults.certificates import Certificates
from python.support import ACCOUNT, API_KEY, SUBSCRIPTION, data
from support.postgres import Postgres

# Each library makes a TLS request in each of two rounds. All libraries except ssl reuse their connection in round two.
PROGRAM = """
import json, sys, threading, urllib.request
given = json.loads(sys.argv[1])

def own_tls():
    import ssl
    context = ssl.create_default_context(cafile=given["bundle"])
    request = urllib.request.Request(given["url"] + "/subscription/s", headers={"X-API-KEY": given["key"]})
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        assert json.load(answer)["data"]["id"] == "sub_1"

def database():
    import psycopg
    if "database" not in kept:
        kept["database"] = psycopg.connect(given["database"])
    assert kept["database"].pgconn.ssl_in_use
    assert kept["database"].execute("select 42").fetchone() == (42,)

def curl():
    import io, pycurl
    into = io.BytesIO()
    handle = kept.setdefault("curl", pycurl.Curl())
    handle.setopt(pycurl.URL, given["url"] + "/subscription/s")
    handle.setopt(pycurl.CAINFO, given["bundle"])
    handle.setopt(pycurl.HTTPHEADER, ["X-API-KEY: " + given["key"]])
    handle.setopt(pycurl.WRITEFUNCTION, into.write)
    handle.perform()
    assert json.loads(into.getvalue())["data"]["id"] == "sub_1"

def ours():
    import billcore
    from billcore import webhooks
    if "ours" not in kept:
        kept["ours"] = billcore.Client(base_url=given["url"], api_key=given["key"], ca_bundle=given["bundle"])
    assert kept["ours"].subscriptions.get("s").id == "sub_1"
    webhooks.verify(b"{}", webhooks.sign(b"{}", "s" * 32), "s" * 32)

kept = {}
calls = {"ssl": own_tls, "psycopg": database, "pycurl": curl, "billcore": ours}
for _ in range(2):
    for name in given["order"]:
        calls[name]()
threads = [threading.Thread(target=lambda call=call: [call() for _ in range(20)]) for call in calls.values()]
for thread in threads: thread.start()
for thread in threads: thread.join()
kept["ours"].close()
kept["curl"].close()
kept["database"].close()
print("ended")
"""


@pytest.fixture(scope="module")
def database(certificates: Certificates) -> Iterator[str]:
    server = Postgres(certificates.files("good"))
    try:
        yield (
            f"host=localhost port={server.port} user=postgres dbname=postgres sslmode=verify-full "
            f"sslrootcert={certificates.bundle}"
        )
    finally:
        server.close()


@pytest.mark.parametrize("order", itertools.permutations(["ssl", "psycopg", "pycurl", "billcore"]), ids="-".join)
def test_billcore_and_other_users_of_openssl_work_in_any_order(
    certificates: Certificates, database: str, order: tuple[str, ...]
) -> None:
    with ScriptedServer(lambda _: data(SUBSCRIPTION), tls=certificates.tls13) as server:
        given = {
            "url": server.url.replace("127.0.0.1", "localhost") + ACCOUNT,
            "key": API_KEY,
            "bundle": str(certificates.bundle),
            "database": database,
            "order": order,
        }
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", PROGRAM, json.dumps(given)],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_the_program_is_what_it_says(certificates: Certificates) -> None:
    """The process must load at least two copies of OpenSSL, because
    test_billcore_and_other_users_of_openssl_work_in_any_order would otherwise not test a conflict between copies."""
    code = """
import psycopg, pycurl, ssl
assert "binary" in psycopg.pq.__impl__
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libssl" in line or "libcrypto" in line})
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert len({Path(path).parent for path in said}) >= 2, said
