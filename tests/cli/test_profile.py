"""`billcore profile`, and how a command finds its account."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.server import Request, ScriptedServer, json_reply

from .support import billcore, environment, printed, refused
from .test_service import SUBSCRIPTION

Variables = dict[str, str]


@pytest.fixture
def home(tmp_path: Path) -> Variables:
    """The environment of a user without an account."""
    made = environment("http://127.0.0.1:1", XDG_CONFIG_HOME=str(tmp_path / "config"))
    del made["BILLCORE_BASE_URL"], made["BILLCORE_API_KEY"]
    return made


def add(home: Variables, name: str, url: str, *more: str, key: str = "key-of-it\n") -> None:
    printed("", "profile", "add", name, "--base-url", f"{url}/a", *more, input=key, env=home)


def keys(server: ScriptedServer) -> list[str | None]:
    return [each.header("X-API-KEY") for each in server.requests]


def test_the_life_of_profiles(home: Variables, tmp_path: Path) -> None:
    assert "profile add" in refused("", 2, "subscriptions", "list", env=home)
    add(home, "test", "http://127.0.0.1:1")
    add(home, "live", "https://billing.example", "--journal", str(tmp_path / "charges.db"))
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "config/billcore/profiles").iterdir()}
    assert files == {"test.json": 0o600, "live.json": 0o600}
    assert stat.S_IMODE((tmp_path / "charges.db").stat().st_mode) == 0o600
    with sqlite3.connect(tmp_path / "charges.db") as journal:
        assert journal.execute("SELECT count(*) FROM billcore_charges").fetchone() == (0,)
    listed = "live\tfalse\thttps://billing.example/a\t{}/charges.db\tfile\ntest\ttrue\thttp://127.0.0.1:1/a\t\tfile\n"
    assert printed("", "profile", "list", env=home) == listed.format(tmp_path)
    assert "key-of-it" not in printed("", "profile", "list", "--json", env=home)
    taken = refused("", 2, "profile", "add", "live", "--base-url", "https://other.example/a", input="k", env=home)
    assert "--replace" in taken
    add(home, "live", "https://billing.example", "--replace", key="new\n")  # keeps its journal
    assert printed("", "profile", "list", env=home) == listed.format(tmp_path)
    assert printed("", "profile", "use", "live", env=home) == "live: in use\n"
    assert printed("", "profile", "remove", "live", env=home) == "live: removed\n"
    assert (tmp_path / "charges.db").exists()
    assert json.loads(printed("", "profile", "list", "--json", env=home))["in_use"] is False
    assert "no profile live (profiles: test)" in refused("", 2, "orders", "1", "--profile", "live", env=home)


def test_the_account_of_a_command(home: Variables, tmp_path: Path) -> None:
    """A key is only sent to the URL that was given with it."""

    def answer(_: Request) -> Any:
        return json_reply({"data": SUBSCRIPTION})

    with ScriptedServer(answer) as server, ScriptedServer(answer) as other:
        add(home, "one", server.url, key="one\n")
        add(home, "two", server.url, key="two\n")
        get = ("subscriptions", "get", "x", "--fields=id")
        for _ in range(2):
            printed("", *get, env=home)  # the first profile
        printed("", *get, "--profile=two", env=home)
        both = {**home, "BILLCORE_BASE_URL": f"{other.url}/a", "BILLCORE_API_KEY": "env"}
        printed("", *get, env=both)
        printed("", *get, "--profile=two", env=both)  # what the command names comes before the environment
        assert keys(server) == ["one", "one", "two", "two"] and keys(other) == ["env"]
        (tmp_path / "key").write_text("file\n", "utf-8")
        printed("", *get, "--base-url", f"{other.url}/a", "--api-key-file", str(tmp_path / "key"), env=both)
        refused("", 2, *get, "--base-url", f"{other.url}/a", env=home)
        refused("", 2, *get, env={**home, "BILLCORE_BASE_URL": f"{other.url}/a"})
        refused("", 2, *get, "--profile=two", "--base-url", f"{other.url}/a", env=home)
        assert keys(other) == ["env", "file"] and len(server.requests) == 4


def test_a_profile_that_is_not_safe_or_broken(home: Variables, tmp_path: Path) -> None:
    add(home, "test", "http://127.0.0.1:1")
    file = tmp_path / "config/billcore/profiles/test.json"
    file.chmod(0o640)
    assert "chmod 600" in refused("", 2, "subscriptions", "list", env=home)
    file.chmod(0o600)
    for text in ("", "[]", '{"base_url": 1}', '{"base_url": "x", "api_key": 2}'):
        file.write_text(text, "utf-8")
        assert "is not a profile" in refused("", 1, "subscriptions", "list", env=home)
    (tmp_path / "config/billcore/profile").write_bytes(b"\xff")
    assert "cannot be named" in refused("", 2, "subscriptions", "list", env=home)


@pytest.mark.parametrize(
    ("arguments", "key", "text"),
    [
        (["../x"], b"k", "cannot be named"),
        (["-x"], b"k", "arguments are required: NAME"),
        (["x"], b"", "no key was given"),
        (["x"], b"a\nb", "api_key"),
        (["x"], b"\xff", "UTF-8"),
        (["x"], b"k" * 70_000, "too long for a key"),
        (["x", "--journal", "postgresql://me:secret@db/x"], b"k", "PGPASSWORD"),
        (["x", "--journal", "no/such/folder.db"], b"k", "No such file"),
        (["x", "--journal", "not-a-journal.db"], b"k", "is not a journal"),
        (["x", "--keyring"], b"k", "pip install keyring"),
    ],
)
def test_what_cannot_be_added(home: Variables, tmp_path: Path, arguments: list[str], key: bytes, text: str) -> None:
    (tmp_path / "not-a-journal.db").write_text("text" * 100, "utf-8")
    done = billcore(
        "",
        "profile",
        "add",
        "--base-url=https://x.example/a",
        *arguments,
        input=key,
        env=home,
        cwd=tmp_path,
        text=False,
    )
    error = done.stderr.decode()
    assert done.returncode in (1, 2) and text in error and error.count("\n") == 1, done
    assert "secret" not in error and not (tmp_path / "config/billcore").exists()


def test_the_keyring(home: Variables, tmp_path: Path) -> None:
    """The key is kept by the module keyring, if --keyring is given; here by a stand-in for it."""
    (tmp_path / "keyring.py").write_text(KEYRING, "utf-8")
    home = {**home, "PYTHONPATH": os.pathsep.join([str(tmp_path), home["PYTHONPATH"]]), "KEYS": str(tmp_path / "keys")}
    with ScriptedServer(lambda _: json_reply({"data": SUBSCRIPTION})) as server:
        add(home, "test", server.url, "--keyring")
        assert "key-of-it" not in (tmp_path / "config/billcore/profiles/test.json").read_text("utf-8")
        printed("", "subscriptions", "get", "x", env=home)
        assert keys(server) == ["key-of-it"]
        locked = refused("", 1, "subscriptions", "get", "x", env={**home, "LOCKED": "1"})
        assert locked.endswith("the desktop's keyring: it is locked")
        printed("", "profile", "remove", "test", env=home)
        assert json.loads((tmp_path / "keys").read_text("utf-8")) == {}


KEYRING = """
import json, os
class errors:
    class KeyringError(Exception): pass
def change(function):
    if "LOCKED" in os.environ:
        raise errors.KeyringError("it is locked")
    try:
        kept = json.load(open(os.environ["KEYS"]))
    except FileNotFoundError:
        kept = {}
    result = function(kept)
    json.dump(kept, open(os.environ["KEYS"], "w"))
    return result
def set_password(service, name, key): change(lambda kept: kept.__setitem__(service + name, key))
def get_password(service, name): return change(lambda kept: kept.get(service + name))
def delete_password(service, name): change(lambda kept: kept.pop(service + name))
"""


def test_two_that_add_the_same_name(home: Variables) -> None:
    """Only one of them adds it, and the other one says so."""
    import subprocess

    command = [sys.executable, "-m", "billcore", "profile", "add", "x", "--base-url", "https://x.example/a"]
    running = [
        subprocess.Popen(command, env=home, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    ended = []
    for number, each in enumerate(running):
        _, error = each.communicate(f"key-{number}".encode())
        ended.append((each.returncode, error.decode()))
    assert sorted(status for status, _ in ended) == [0, 2, 2, 2], ended
