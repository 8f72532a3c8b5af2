"""A program that PyInstaller has frozen: it has only the modules that PyInstaller finds in the source of billcore."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.server import ScriptedServer, json_reply

PROGRAM = """
import sys
import billcore
from billcore import webhooks

body = b'{"id": 7, "account": 1, "name": "order.paid", "created_at": "2025-04-25T10:00:00Z", "data": {"id": "o1"}}'
event = webhooks.Verifier("s" * 32).unwrap(body, webhooks.sign(body, "s" * 32))
print(event, event.created_at, webhooks.from_asgi.__name__, webhooks.from_wsgi.__name__, webhooks.from_lambda.__name__)
client = billcore.Client(base_url=sys.argv[1], api_key="key", max_retries=0, hooks=billcore.Hooks())
try:
    client.subscriptions.charge("s", product_id=1, amount=5)
except billcore.ServerError as error:
    print(billcore.BillcoreError.from_dict(error.to_dict()).status, error.attempted_at)
print(client.products.get(1).vat_rate, billcore.format_amount(5, "DKK"), billcore.build_info())
async def main():
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key="key") as awaited:
        print((await awaited.orders.get("o1")).id)
__import__("asyncio").run(main())
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "PyInstaller", "--log-level", "ERROR", "--distpath", "dist", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / "program" / "program"


def test_a_frozen_program(program: Path) -> None:
    record = json_reply({"data": {"id": "o1", "vat_rate": 12.5}})
    with ScriptedServer([json_reply({}, 503), record, record]) as server:
        done = subprocess.run([program, server.url + "/a"], capture_output=True, text=True, timeout=120, env={})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("<OrderPaid 7>") and lines[1].startswith("503 2") and lines[-1] == "o1"
