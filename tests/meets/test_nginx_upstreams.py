"""nginx that passes requests to two servers, the first of which reads a charge and resets the connection."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import billcore
from conformance.server import Reply, ScriptedServer, json_reply
from support.ports import reserve_port
from support.waiting import until

CONFIGURATION = """
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/bodies;
  proxy_temp_path {folder}/proxied;
  upstream service {{ server 127.0.0.1:{first}; server 127.0.0.1:{second} backup; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://service; {setting} }}
  }}
}}
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[ScriptedServer, ScriptedServer, str], str]]:
    """Yields the function start(first, second, setting), which starts nginx and returns its URL."""
    reserved = reserve_port()
    port = reserved.getsockname()[1]
    processes: list[subprocess.Popen[bytes]] = []

    def start(first: ScriptedServer, second: ScriptedServer, setting: str) -> str:
        values = {"folder": tmp_path, "port": port, "first": first.port, "second": second.port, "setting": setting}
        (tmp_path / "nginx.conf").write_text(CONFIGURATION.format(**values))
        command = ["nginx", "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;", "-e", str(tmp_path / "error.log")]
        processes.append(subprocess.Popen(command))
        until(lambda: (tmp_path / "pid").exists())
        return f"http://127.0.0.1:{port}/account"

    yield start
    for each in processes:
        each.terminate()
        each.wait()
    reserved.close()


@pytest.mark.parametrize(
    "setting", ["", "proxy_next_upstream error timeout non_idempotent;"], ids=["default", "non_idempotent"]
)
def test_a_charge_is_passed_on_once_unless_nginx_is_told_to_repeat_it(
    start: Callable[[ScriptedServer, ScriptedServer, str], str], setting: str
) -> None:
    order = json_reply({"data": {"id": "o", "state": "paid", "total": 1}})
    with ScriptedServer(lambda _: Reply(raw=b"", ending="reset")) as first, ScriptedServer(lambda _: order) as second:
        with billcore.Client(base_url=start(first, second, setting), api_key="key") as client:
            if setting:
                assert client.subscriptions.charge("s", product_id=1, amount=1).id == "o"  # the second charge
            else:
                with pytest.raises(billcore.ServerError) as caught:
                    client.subscriptions.charge("s", product_id=1, amount=1)
                assert caught.value.status == 502 and caught.value.outcome_unknown
        assert [request.method for request in first.requests] == ["POST"]
        assert [request.method for request in second.requests] == (["POST"] if setting else [])
