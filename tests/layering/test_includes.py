"""Checks that files include only headers of their own layer and the layers below, and that only one layer uses each
third-party library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = sorted(
    path
    for folder in ("core", "capi", "python/src")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".cpp", ".hpp", ".c", ".h") and "third_party" not in path.parts
)


def includes(path: Path) -> set[str]:
    return {name for _, name in INCLUDE.findall(path.read_text("utf-8"))}


def names(pattern: str, folders: tuple[str, ...]) -> dict[str, set[str]]:
    """Maps each file in these folders to its includes that match the pattern."""
    found = {}
    for path in SOURCES:
        relative = path.relative_to(ROOT).as_posix()
        hits = {name for name in includes(path) if re.match(pattern, name)}
        if hits and relative.startswith(folders):
            found[relative] = hits
    return found


# Maps each layer of the core (a folder of core/src) to the layers that it may include. The first five layers form the
# library billcore::webhook, "arrow" is the library billcore::arrow, and the others form billcore::client.
ROOMS = {
    "base": "",
    "json": "base",
    "model": "base json",
    "webhook": "base json model",
    "explain": "base json model webhook",
    "http": "base",
    "call": "base json model http",
    "paging": "base json model http call",
    "client": "base json model http call paging",
    "arrow": "base json model http call paging client",
}
# Maps each layer to its public headers, because one folder has the public headers of all layers.
PUBLIC = {
    "base": "error error_code values detail/libraries",
    "json": "json detail/document",
    "model": "resource model detail/table",
    "webhook": "webhook event event_type detail/secret",
    "call": "hooks options operation operations response detail/outcome",
    "paging": "pager detail/list",
    "client": "client group groups async_client charges many internal",
    "arrow": "arrow",
}
ROOM_OF = {f"billcore/{stem}.hpp": room for room, stems in PUBLIC.items() for stem in stems.split()}


def core_files() -> dict[str, str]:
    """Maps the include name of each file of the core to its layer."""
    found = {}
    for path in SOURCES:
        for folder in (ROOT / "core/src", ROOT / "core/include"):
            if folder in path.parents:
                name = path.relative_to(folder).as_posix()
                found[name] = ROOM_OF[name] if name.startswith("billcore/") else name.partition("/")[0]
    return found


def test_every_file_of_the_core_is_in_a_room() -> None:
    files = core_files()
    assert set(files.values()) == set(ROOMS)
    assert set(ROOM_OF) <= set(files)
    order = list(ROOMS)
    for room, below in ROOMS.items():
        for other in below.split():
            assert order.index(other) < order.index(room)
            assert set(ROOMS[other].split()) <= set(below.split()), f"{room} sees what {other} includes"


def test_a_file_includes_only_its_room_and_those_below() -> None:
    files = core_files()
    wrong = []
    for name, room in files.items():
        folder = "core/include" if name.startswith("billcore/") else "core/src"
        for included in includes(ROOT / folder / name):
            if included in files and files[included] not in (room, *ROOMS[room].split()):
                wrong.append(f"{name} ({room}) includes {included} ({files[included]})")
            assert included in files or "/" not in included or included.partition("/")[0] not in ROOMS, included
    assert not wrong


@pytest.mark.parametrize(
    ("header", "room"),
    [
        ("curl/", "http"),
        ("nghttp2/", "http"),
        (r"zlib\.h$", "http"),
        ("openssl/", "webhook"),
        (r"yyjson\.h$", "json"),
        ("nanoarrow/", "arrow"),
    ],
)
def test_each_third_party_header_is_included_in_one_room(header: str, room: str) -> None:
    found = names(header, ("core", "capi", "python"))
    assert found and all(file.startswith(f"core/src/{room}/") for file in found), found


# Maps each layer of the bindings to the layers that it may include, like ROOMS. Each Python module and each C library
# consists of the layer `shared` and of layers of its own.
BINDINGS = {
    "python/src": {
        "shared": "",
        "webhook": "shared",
        "call": "shared",
        "asyncio": "shared call",
        "paging": "shared call asyncio",
        "arrow": "shared call asyncio paging",
        "client": "shared call asyncio paging arrow",
    },
    "capi/src": {"shared": "", "webhook": "shared", "client": "shared"},
}


@pytest.mark.parametrize("folder", BINDINGS)
def test_a_file_of_a_binding_includes_only_its_room_and_those_below(folder: str) -> None:
    rooms = BINDINGS[folder]
    base = ROOT / folder
    files = [path for path in SOURCES if base in path.parents]
    assert {path.parent.name for path in files} == set(rooms)
    for path in files:
        for name in includes(path):
            room = name.partition("/")[0]
            if (base / name).is_file():
                assert room in (path.parent.name, *rooms[path.parent.name].split()), f"{path} includes {name}"
            else:
                assert room not in rooms, f"{path} includes {name}, which does not exist"


def test_public_headers_show_only_the_standard_library_and_ourselves() -> None:
    c_headers = {"stdbool.h", "stddef.h", "stdint.h"}
    for path in sorted((ROOT / "core/include").rglob("*.hpp")):
        if path.name == "internal.hpp":  # this header is only for the bindings, and is not installed
            continue
        foreign = {name for name in includes(path) if "/" in name and not name.startswith("billcore/")}
        assert not foreign and not any(name.endswith(".h") for name in includes(path)), (path, foreign)
    for path in sorted((ROOT / "capi/include").rglob("*.h")):
        assert {name for name in includes(path) if not name.startswith("billcore")} <= c_headers, path


def test_core_knows_neither_face_and_the_faces_not_each_other() -> None:
    c_face = r"(billcore\.h$|billcore/\w+\.h$|shared/(guard|handles|convert)\.hpp)"
    python_face = r"(Python\.h|pybind11/|shared/bridge\.hpp)"
    assert names(c_face, ("core", "python")) == {}
    assert names(python_face, ("core", "capi")) == {}
    assert names(c_face, ("capi",)) and names(python_face, ("python",))


def test_the_python_package_does_not_import_its_command_line() -> None:
    package = ROOT / "python/billcore"
    others = [path for path in package.rglob("*.py") if path.parent.name != "cli" and path.name != "__main__.py"]
    assert not [path for path in others if re.search(r"^ *(from|import) .*\bcli\b", path.read_text("utf-8"), re.M)]


# Only the verification of bytes can make an Event. The first snippet must compile; each other snippet must fail to
# compile, with the error given here.
SNIPPETS = {
    "auto e = billcore::webhooks::unwrap(body, std::nullopt, secret);": None,
    "billcore::Event e{body};": "no matching function",
    "billcore::Event e{value};": "private within this context",
    "billcore::Event::parse(*verified, nullptr);": "private within this context",
    "billcore::Verified v(body, 0);": "private within this context",
}
PARAMETERS = "std::string_view body, std::string_view secret, billcore::Value value, billcore::Verified* verified"


@pytest.mark.parametrize("code", SNIPPETS)
def test_unverified_bytes_do_not_compile_into_an_event(code: str) -> None:
    source = f"#include <billcore/webhook.hpp>\nvoid f({PARAMETERS}) {{ {code} }}\n"
    command = ["c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}/core/include", "-x", "c++", "-"]
    english = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, input=source, capture_output=True, text=True, env=english)
    assert (result.returncode != 0) == (SNIPPETS[code] is not None), result.stderr
    assert (SNIPPETS[code] or "") in result.stderr
