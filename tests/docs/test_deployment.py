"""The files of examples/deployment, which the guides show: the servers charge, and the settings fit together."""

from __future__ import annotations

import ast
import contextlib
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import billcore
from billcore import journal
from billcore.testing import Sandbox

GENEROUS = 60.0  # seconds: limit for a wait that normally takes a moment
FILES = Path(__file__).resolve().parents[2] / "examples" / "deployment"
SERVER = ["gunicorn", "-c", "gunicorn_conf.py"]
UNITS = sorted(path.name for path in FILES.iterdir() if path.suffix in (".service", ".timer"))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def subscription(sandbox: Sandbox) -> str:
    with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as client:
        found = client.subscriptions.list(reference_id="demo-active").first()
        assert found is not None
        return str(found.id)


class Server:
    """A server on a port of its own; its folder has the journal, which the first server there makes."""

    def __init__(self, sandbox: Sandbox, folder: Path, command: Sequence[str], url: str, *where: str) -> None:
        database = folder / "charges.db"
        if not database.exists():
            with contextlib.closing(sqlite3.connect(database)) as connection:
                connection.executescript(journal.schema("sqlite"))
        key = folder / "billcore-key"
        key.write_text(f"{sandbox.api_key}\n")
        self._log = (folder / "log").open("w+")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port: int = listening.getsockname()[1]
            number = listening.fileno()
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command, *(part.format(number) for part in where)],
                cwd=FILES,
                env={
                    **os.environ,
                    "PYTHONPATH": str(Path(billcore.__file__).parents[1]),
                    "SHOP_KEY_FILE": str(key),
                    "BILLCORE_BASE_URL": sandbox.base_url,
                    "DATABASE_URL": f"{url}{database}",
                    "PYTHONUNBUFFERED": "1",
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
                stdout=self._log,
                stderr=subprocess.STDOUT,
                pass_fds=[number],
            )
        try:
            assert self.request("GET", "/healthz" if command[0] == "gunicorn" else "/docs")[0] == 200
        except BaseException as error:
            error.add_note(self.log())
            self.close()
            raise

    def request(self, method: str, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=GENEROUS)
        with contextlib.closing(connection):
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def log(self) -> str:
        return os.pread(self._log.fileno(), 1 << 20, 0).decode()

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(GENEROUS)
        finally:
            self.process.kill()
            self._log.close()


def gunicorn(sandbox: Sandbox, folder: Path, workers: int = 1) -> Server:
    """Starts gunicorn. With one worker, the first answer shows that the worker hears signals: gunicorn loses a signal
    that arrives while it forks a further worker."""
    where = ["--bind", "fd://{}", "--workers", str(workers)]
    return Server(sandbox, folder, [*SERVER, "app:app"], "sqlite:///", *where)


@pytest.fixture(params=["gunicorn", "uvicorn"])
def server(request: pytest.FixtureRequest, sandbox: Sandbox, tmp_path: Path) -> Iterator[Server]:
    if request.param == "gunicorn":
        made = gunicorn(sandbox, tmp_path)
    else:
        command = ["uvicorn", "asgi:app", "--timeout-graceful-shutdown", "60"]
        made = Server(sandbox, tmp_path, command, "sqlite+aiosqlite:///", "--fd", "{}")
    with contextlib.closing(made):
        yield made


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GENEROUS
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.02)


def charges(sandbox: Sandbox) -> int:
    return len(sandbox.control.ledger("charge"))


def test_both_workers_charge_once(sandbox: Sandbox, subscription: str, tmp_path: Path) -> None:
    """The module was imported before the fork, so the workers share the client and the engine of their parent."""
    before, keys = charges(sandbox), 0
    workers: set[str] = set()
    with contextlib.closing(gunicorn(sandbox, tmp_path, settings()["workers"])) as server:
        while len(workers) < 2:
            assert keys < 500, server.log()
            keys += 1
            first = server.request("POST", f"/pay/invoice-{keys}/{subscription}/1500")
            assert first[0] == 200 and first[1].startswith("order "), first
            assert server.request("POST", f"/pay/invoice-{keys}/{subscription}/1500") == first
            workers = set(re.findall(r"^worker <(\d+)>: POST", server.log(), re.MULTILINE))
    assert charges(sandbox) == before + keys


def test_a_charge_in_flight_survives_sigterm(server: Server, sandbox: Sandbox, subscription: str) -> None:
    before = charges(sandbox)
    sandbox.control.fault("delay", delay=3, operation="charge")
    answers: list[tuple[int, str]] = []
    customer = threading.Thread(target=lambda: answers.append(server.request("POST", f"/pay/late/{subscription}/1700")))
    customer.start()
    until(lambda: charges(sandbox) == before + 1)
    server.process.terminate()
    customer.join(GENEROUS)
    assert [status for status, _ in answers] == [200], server.log()
    assert server.process.wait(GENEROUS) in (0, -15) and charges(sandbox) == before + 1


def failing(server: Server, path: str) -> None:
    with contextlib.suppress(http.client.HTTPException, OSError):
        server.request("POST", path)


def test_an_interrupted_charge_is_found_after_the_restart(sandbox: Sandbox, subscription: str, tmp_path: Path) -> None:
    before = charges(sandbox)
    with contextlib.closing(gunicorn(sandbox, tmp_path)) as server:
        sandbox.control.fault("delay", delay=30, operation="charge")
        customer = threading.Thread(target=failing, args=(server, f"/pay/cut/{subscription}/1900"))
        customer.start()
        until(lambda: charges(sandbox) == before + 1)
        server.process.send_signal(signal.SIGINT)
        customer.join(GENEROUS)
        server.process.wait(GENEROUS)
        assert "interrupted after it was sent" in server.log()
    with contextlib.closing(gunicorn(sandbox, tmp_path)) as server:
        status, text = server.request("POST", f"/pay/cut/{subscription}/1900")
        assert (status, text[:6]) == (200, "order ") and charges(sandbox) == before + 1, server.log()


def settings() -> dict[str, Any]:
    """The settings of gunicorn."""
    found: dict[str, Any] = {}
    exec((FILES / "gunicorn_conf.py").read_text("utf-8"), found)
    return found


def program_timeouts(name: str) -> dict[str, float]:
    """The argument `timeout` of each call that has one, by the name of what is called."""
    calls = (node for node in ast.walk(ast.parse((FILES / name).read_text("utf-8"))) if isinstance(node, ast.Call))
    return {
        ast.unparse(call.func).rpartition(".")[2]: keyword.value.value
        for call in calls
        for keyword in call.keywords
        if keyword.arg == "timeout" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, int)
    }


def test_each_timeout_is_longer_than_what_it_waits_for() -> None:
    program = program_timeouts("app.py")
    assert list(program_timeouts("asgi.py").values()) == list(program.values())
    longest = 2 * program["Client"] + program["Journal"]
    gunicorn = settings()
    proxy = float(re.findall(r"proxy_read_timeout (\d+)s;", (FILES / "nginx.conf").read_text("utf-8"))[0])
    assert longest < gunicorn["timeout"] < proxy
    (pod,) = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text("utf-8"))
    (container,) = pod["spec"]["template"]["spec"]["containers"]
    pause = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    unit = (FILES / "shop.service").read_text("utf-8")
    assert longest < gunicorn["graceful_timeout"] < float(re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.M)[0])
    assert gunicorn["graceful_timeout"] + pause < pod["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]


def test_every_file_starts_the_same_server() -> None:
    docker = (FILES / "Dockerfile").read_text("utf-8")
    command = json.loads(re.findall(r"^CMD (.*)$", docker, re.M)[0])
    (start,) = re.findall(r"^ExecStart=(.*)$", (FILES / "shop.service").read_text("utf-8"), re.M)
    assert command[:3] == SERVER and command[-1] == "app:app"
    assert shlex.split(start)[1:] == [*SERVER[1:], "app:app"]
    for name in re.findall(r"^COPY (?!dist/)(.*) \./$", docker, re.M)[0].split():
        assert (FILES / name).exists()


def test_the_pod_mounts_what_it_reads() -> None:
    (made,) = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text("utf-8"))
    pod = made["spec"]["template"]["spec"]
    (container,), (volume,) = pod["containers"], pod["volumes"]
    values = {each["name"]: each.get("value") for each in container["env"]}
    (mount,) = container["volumeMounts"]
    (item,) = volume["secret"]["items"]
    assert mount["name"] == volume["name"] and values["SHOP_KEY_FILE"] == f"{mount['mountPath']}/{item['path']}"
    assert made["spec"]["selector"]["matchLabels"] == made["spec"]["template"]["metadata"]["labels"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for name in UNITS:
        text = (FILES / name).read_text("utf-8").replace("/srv/shop/venv/bin/gunicorn", "/bin/true")
        (tmp_path / name).write_text(text)
    verify = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)]
    done = subprocess.run(verify, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and len(UNITS) == 4


@pytest.mark.skipif(not shutil.which("nginx"), reason="there is no nginx")
def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    options = f"pid {tmp_path}/pid; error_log {tmp_path}/log;"
    check = ["nginx", "-t", "-p", str(tmp_path), "-c", str(FILES / "nginx.conf"), "-g", options]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_cron() -> None:
    for line in (FILES / "billcore.cron").read_text("utf-8").splitlines():
        *times, command = line.split(maxsplit=5)
        assert len(times) == 5 and all(re.fullmatch(r"[\d,*]+", each) for each in times)
        assert "%" not in command.replace(r"\%", "")
        subprocess.run(["sh", "-n", "-c", command.replace(r"\%", "%")], check=True)


@pytest.mark.parametrize(("status", "copied"), [(0, 4), (3, 4), (1, 0)])
def test_the_upload_copies_the_manifest_last(tmp_path: Path, status: int, copied: int) -> None:
    programs = {"billcore": f"exit {status}", "aws": f'printf "%s\\n" "$*" >> "{tmp_path}/calls"'}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    script = ["sh", str(FILES / "upload.sh"), "s3://lake/orders"]
    done = subprocess.run(script, cwd=tmp_path, env={**os.environ, "PATH": path})
    calls = (tmp_path / "calls").read_text().splitlines() if copied else []
    assert done.returncode == (0 if copied else 1) and len(calls) == copied
    assert not calls or calls[-1].split()[2].endswith("/manifest.json")
