"""Every arrow points down: who includes whom, and who may know a third party."""

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
    """File -> its includes that match, below these folders."""
    found = {}
    for path in SOURCES:
        relative = path.relative_to(ROOT).as_posix()
        hits = {name for name in includes(path) if re.match(pattern, name)}
        if hits and relative.startswith(folders):
            found[relative] = hits
    return found


def test_the_sources_are_seen() -> None:
    seen = {path.relative_to(ROOT).parts[0] for path in SOURCES}
    assert seen == {"core", "capi", "python"} and len(SOURCES) > 50


@pytest.mark.parametrize(
    ("header", "file"),
    [
        ("curl/", "core/src/transport.cpp"),
        ("openssl/", "core/src/hmac.cpp"),
        (r"yyjson\.h$", "core/src/json.cpp"),
        ("nanoarrow/", "core/src/arrow.cpp"),
    ],
)
def test_one_file_knows_each_third_party(header: str, file: str) -> None:
    assert list(names(header, ("core", "capi", "python"))) == [file]


def test_public_headers_show_only_the_standard_library_and_ourselves() -> None:
    c_headers = {"stdbool.h", "stddef.h", "stdint.h"}
    for path in sorted((ROOT / "core/include").rglob("*.hpp")):
        foreign = {name for name in includes(path) if "/" in name and not name.startswith("billcore/")}
        assert not foreign and not any(name.endswith(".h") for name in includes(path)), (path, foreign)
    for path in sorted((ROOT / "capi/include").rglob("*.h")):
        assert {name for name in includes(path) if not name.startswith("billcore")} <= c_headers, path


SMALL_HALF = re.compile(r"add_library\(billcore_webhook\w* [A-Z]+\n(.*?)\)", re.DOTALL)
LARGE_HEADERS = r"(billcore/)?(answer|arrow\w*|client|options|pager|pager_core|pool|redact|session|transport|url)\.hpp$"


def test_the_small_half_includes_nothing_of_the_large_one() -> None:
    listed = SMALL_HALF.search((ROOT / "core/CMakeLists.txt").read_text("utf-8"))
    assert listed is not None
    files = re.findall(r"src/\w+\.cpp", listed[1])
    assert "src/webhook.cpp" in files and "src/client.cpp" not in files
    pending = [ROOT / "core" / file for file in files]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in includes(path):
            assert not re.match(LARGE_HEADERS, name), f"{path} includes {name}"
            for folder in (ROOT / "core/include", ROOT / "core/src"):
                if (folder / name).is_file():
                    pending.append(folder / name)
    assert len(seen) > 15


def test_core_knows_neither_face_and_the_faces_not_each_other() -> None:
    c_face = r"(billcore\.h$|billcore/\w+\.h$|guard\.hpp|handles\.hpp|convert\.hpp)"
    python_face = r"(Python\.h|pybind11/|bind_|bridge\.hpp)"
    assert names(c_face, ("core", "python")) == {}
    assert names(python_face, ("core", "capi")) == {}
    assert names(c_face, ("capi",)) and names(python_face, ("python",))


# An Event is proof that its bytes were verified. The first snippet shows that the others fail for the reason given.
SNIPPETS = {
    "verified": ("auto e = billcore::webhooks::unwrap(body, std::nullopt, secret); (void)e;", None),
    "event from text": ("billcore::Event e{body}; (void)e;", "no matching function"),
    "event from a value": (
        "void f(billcore::Value v) { billcore::Event e(v); (void)e; } int g() { return 0;",
        "private within this context",
    ),
    "event parsed": (
        "extern const billcore::Verified& v; (void)billcore::Event::parse(v, nullptr);",
        "private within this context",
    ),
    "verified by hand": ("billcore::Verified v(body, 0); (void)v;", "private within this context"),
    "default event": ("billcore::Event e; (void)e;", "no matching function"),
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_unverified_bytes_do_not_compile_into_an_event(name: str) -> None:
    code, problem = SNIPPETS[name]
    if code.startswith("void f"):
        body, rest = code.split("} int g()")
        source = f"{body}}}\nint g() {rest} }}\n"
    else:
        source = f"void f(std::string_view body, std::string_view secret) {{ {code} (void)body; (void)secret; }}\n"
    source = "#include <billcore/webhook.hpp>\n" + source
    command = ["c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}/core/include", "-x", "c++", "-"]
    english = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, input=source, capture_output=True, text=True, env=english)
    if problem is None:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode != 0 and problem in result.stderr, result.stderr
