"""Checks that an addition to the service interface needs only new data. The test copies the tree and edits only the
data of core/interface: it adds a field, an option, an error, an operation, a parameter, a resource with its operations,
and an event. The test runs the generator in the copy, builds the copy, and uses the additions from C++, C and Python,
and from Go and Rust if BILLCORE_GO and BILLCORE_RUST name the folders of the commands go and cargo.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from . import programs
from .copies import ROOT, copy_of_the_tree, generate

# CMake targets that are compiled as a unity build, which halves the time of this test.
TOGETHER = ("billcore_webhook", "billcore_client", "billcore_c_client_shims", "_client", "billcore_python_shared")
ORDER = '{"id": "o", "colour": "red"}'
PAID_AT = "2026-01-02T03:04:05Z"
ADDITIONS = Path(__file__).with_name("additions")  # for each file of core/interface
EVENT = json.dumps({"id": 1, "name": "invoice.paid", "data": {"id": 7, "total": 700}})

INVOICE = {"id": "7", "total": 700, "paid_at": PAID_AT}
PAGES = {
    str(page): {
        "data": [{"id": str(number), "total": number * 100} for number in numbers],
        "pagination": {
            "total": 3,
            "count": len(numbers),
            "per_page": 2,
            "current_page": page,
            "total_pages": 2,
            "links": [],
        },
    }
    for page, numbers in ((1, (1, 2)), (2, (3,)))
}


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query))
        body = f'{{"data": {ORDER}}}'
        if url.path.endswith("/invoices"):
            assert query["filter[customer]"] == "c", self.path
            body = json.dumps(PAGES[query.get("page", "1")])
        elif url.path.endswith("/invoice/7"):
            body = json.dumps({"data": INVOICE})
        self.send_response(418 if self.path.endswith("teapot") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        """Answers with a subscription whose reference_name repeats the method, path and body of the request."""
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode().replace('"', "'")
        path = self.path.removeprefix("/account")
        body = json.dumps({"data": {"id": "s", "reference_name": f"POST {path} {sent}"}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def add(tree: Path, additions: Path) -> None:
    """Inserts each addition in front of the text that its first line names, or at the end of the file."""
    path = tree / "core/interface" / additions.name
    text = path.read_text("utf-8")
    _, *parts = re.split(r"^# (?:Before: (.*)|At the end:)\n", additions.read_text("utf-8"), flags=re.MULTILINE)
    for before, added in zip(parts[::2], parts[1::2], strict=True):
        if before is None:
            text += added
            continue
        following = before.replace(r"\n", "\n")
        assert text.count(following) == 1, before
        text = text.replace(following, added + following)
    path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def built() -> Path:
    folder = ROOT / "build/interface"  # the same in each run, because the caches of ccache and Go depend on the path
    shutil.rmtree(folder, ignore_errors=True)
    tree = copy_of_the_tree(folder)
    for additions in sorted(ADDITIONS.glob("*.toml")):
        add(tree, additions)
    made = generate(tree)
    assert made.returncode == 0, made.stderr
    (tree / "python/user.cpp").write_text(programs.CPP, "utf-8")
    (tree / "python/user.c").write_text(programs.C, "utf-8")
    with (tree / "python/CMakeLists.txt").open("a") as out:
        out.write("add_executable(user user.cpp)\ntarget_link_libraries(user PRIVATE billcore::client)\n")
        out.write("add_executable(user-c user.c)\ntarget_link_libraries(user-c PRIVATE billcore::c)\n")
        out.write(f"set_target_properties({' '.join(TOGETHER)} PROPERTIES UNITY_BUILD ON)\n")
    # With CCACHE_BASEDIR, ccache uses paths relative to the tree, so that a copy in another folder finds the cached
    # objects.
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}
    configure = ["cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-g0"]
    configure += [
        "-DCMAKE_INSTALL_LIBDIR=lib",
        "-DBILLCORE_CAPI=ON",
        "-DBILLCORE_PYTHON=ON",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    for command in (configure, ["cmake", "--build", "build"]):
        ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    return tree / "build"


PAUSED = "POST /subscription/s/pause "
CHARGED = "POST /subscription/s/order {'product_id':1,'amount':2,'note':'n'}"
TEAPOT = f'GET /order/teapot: 418 the service is a teapot: {{"data": {ORDER}}}'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/account"
        server.shutdown()


def output(command: list[str], **environment: str) -> list[str]:
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


@pytest.mark.parametrize("language", ["cpp", "python"])
def test_additions_are_there(built: Path, url: str, language: str) -> None:
    command = (
        [str(built / "python/user"), url, EVENT]
        if language == "cpp"
        else [sys.executable, "-c", programs.PYTHON, url, EVENT]
    )
    python = language == "python"
    lines = output(command, PYTHONPATH=str(built / "python"))
    refusal, values, *lines = lines
    assert refusal == "patience must be at least 1" and values == "3 red"
    assert not python or lines.pop(0) == "Of the wrapping, or None."
    paused, charged, invoices, *more, event, error = lines
    assert (paused, charged) == (PAUSED, CHARGED)
    assert invoices == f"100 200 300 {'2026-01-02 03:04:05+00:00' if python else PAID_AT}"
    assert more == ([invoices, "[100, 200, 300]"] if python else [])
    assert event == ("True 700" if python else "1 700")
    assert error.startswith("1 GET" if language == "cpp" else "True GET")
    assert error.split(" ", 1)[1] == TEAPOT


def test_additions_are_there_in_c(built: Path, url: str) -> None:
    lines = ["red", "patience must be at least 1", PAUSED, CHARGED, f"100 200 300 {PAID_AT}", "1 700"]
    assert output([str(built / "python/user-c"), url, EVENT]) == lines


@pytest.fixture(scope="module")
def prefix(built: Path) -> Path:
    where = built.parent / "prefix"
    ran = subprocess.run(["cmake", "--install", str(built), "--prefix", str(where)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return where


@pytest.mark.skipif("BILLCORE_GO" not in os.environ, reason="there is no Go; the area go says so")
def test_additions_are_there_in_go(prefix: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(programs.GO, "utf-8")
    (tmp_path / "go.mod").write_text("module user\n\ngo 1.23\n", "utf-8")
    uses = "".join(f"use {path.parent}\n" for path in (prefix / "share/billcore/go").rglob("go.mod"))
    (tmp_path / "go.work").write_text(f"go 1.23\nuse .\n{uses}", "utf-8")
    libraries = prefix / "lib"
    flags = "-buildvcs=false -tags=billcore_system"
    environment = {"PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "GOTOOLCHAIN": "local", "GOFLAGS": flags}
    build = [f"{os.environ['BILLCORE_GO']}/go", "build", "-C", str(tmp_path), "-o", "user", "."]
    assert output(build, **environment) == []
    lines = output([str(tmp_path / "user"), url, EVENT], LD_LIBRARY_PATH=str(libraries))
    refusal, colour, paused, charged, invoices, event, error = lines
    assert (
        invoices == "100 <nil> 200 <nil> 300 <nil> 2026-01-02 03:04:05 +0000 UTC true <nil>"
        and event == "true 700 <nil>"
    )
    assert (paused, charged) == (f"{PAUSED} true <nil>", f"{CHARGED} true <nil>")
    assert refusal == "billcore: patience must be at least 1" and colour == "red true <nil>"
    assert error == f"true true billcore: {TEAPOT}"


@pytest.mark.skipif("BILLCORE_RUST" not in os.environ, reason="there is no Rust; the area rust says so")
def test_additions_are_there_in_rust(prefix: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text(programs.RUST, "utf-8")
    package = '[package]\nname = "user"\nedition = "2024"\n[workspace]\n[dependencies]\n'
    package += f'billcore = {{ path = "{prefix}/share/billcore/rust/billcore" }}\n'
    (tmp_path / "Cargo.toml").write_text(package, "utf-8")
    folder, libraries = os.environ["BILLCORE_RUST"], prefix / "lib"
    environment = {"PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "PATH": f"{folder}:{os.environ['PATH']}"}
    target = ["--manifest-path", str(tmp_path / "Cargo.toml"), "--target-dir", str(tmp_path / "target")]
    assert output([f"{folder}/cargo", "build", "--quiet", *target], **environment) == []
    program = str(tmp_path / "target/debug/user")
    lines = output([program, url, EVENT], LD_LIBRARY_PATH=str(libraries))
    refusal, colour, paused, charged, invoices, event, error = lines
    assert (invoices, event) == ("100 200 300 true", "true 700")
    assert (paused, charged) == (f'Some("{PAUSED}")', f'Some("{CHARGED}")')
    assert refusal == "patience must be at least 1" and colour == 'Some("red")'
    assert error == f"true true {TEAPOT}"
