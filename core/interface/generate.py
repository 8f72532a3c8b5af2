#!/usr/bin/env python3
"""Generates the code that every language needs for the service interface: see README.md in this folder.

generate.py            writes all generated files
generate.py --check    writes nothing; lists the files that are out of date, and exits with status 1 if there are any

Needs Jinja2, clang-format, ruff, gofmt and rustfmt, in the versions that tests/run.sh lint uses.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import stubs
from aliases import aliases
from prepare import prepared
from prepare.c_faces import c_comment, c_line_comment, cpp_comment
from prepare.go_faces import exported, go_comment, unexported
from prepare.rust_faces import rust_comment, rust_variant
from prepare.words import cpp_identifier, snake

HERE = Path(__file__).resolve().parent

# Each row: template, output file, data file.
OUTPUTS = [
    ("model.hpp.j2", "core/include/billcore/model.hpp", "resources.toml"),
    ("error_code.hpp.j2", "core/include/billcore/error_code.hpp", "errors.toml"),
    ("event_type.hpp.j2", "core/include/billcore/event_type.hpp", "events.toml"),
    ("options.hpp.j2", "core/include/billcore/options.hpp", "options.toml"),
    ("event_table.hpp.j2", "core/src/webhook/event_table.hpp", "events.toml"),
    ("status_table.hpp.j2", "core/src/call/status_table.hpp", "errors.toml"),
    ("option_table.hpp.j2", "core/src/call/option_table.hpp", "options.toml"),
    ("secret_fields.hpp.j2", "core/src/call/secret_fields.hpp", "resources.toml"),
    ("routes.hpp.j2", "core/src/call/routes.hpp", "operations.toml"),
    ("operations.hpp.j2", "core/include/billcore/operations.hpp", "operations.toml"),
    ("operations.cpp.j2", "core/src/call/operations.cpp", "operations.toml"),
    ("groups.hpp.j2", "core/include/billcore/groups.hpp", "operations.toml"),
    ("groups.cpp.j2", "core/src/client/groups.cpp", "operations.toml"),
    ("column_table.hpp.j2", "core/src/arrow/column_table.hpp", "resources.toml"),
    ("view.hpp.j2", "python/src/shared/view.hpp", "resources.toml"),
    ("event_class_table.hpp.j2", "python/src/webhook/event_class_table.hpp", "events.toml"),
    ("model_table.hpp.j2", "python/src/webhook/model_table.hpp", "resources.toml"),
    ("table.hpp.j2", "core/include/billcore/detail/table.hpp", "resources.toml"),
    ("py_operations.cpp.j2", "python/src/client/operations.cpp", "operations.toml"),
    ("arguments.hpp.j2", "python/src/client/arguments.hpp", "operations.toml and options.toml"),
    ("_columns.py.j2", "python/billcore/_columns.py", "resources.toml"),
    ("_shown_fields.py.j2", "python/billcore/_shown_fields.py", "resources.toml"),
    ("_types.py.j2", "python/billcore/_types.py", "resources.toml, events.toml and errors.toml"),
    ("_errors.py.j2", "python/billcore/_errors.py", "errors.toml"),
    ("__init__.py.j2", "python/billcore/__init__.py", "errors.toml and resources.toml"),
    ("__init__.pyi.j2", "python/billcore/__init__.pyi", "errors.toml and resources.toml"),
    ("_interface.py.j2", "python/billcore/_interface.py", "operations.toml and errors.toml"),
    ("_charge.py.j2", "python/billcore/journal/_charge.py", "operations.toml"),
    ("webhooks.py.j2", "python/billcore/webhooks.py", "events.toml"),
    ("_webhook.pyi.j2", "python/billcore/_webhook.pyi", "resources.toml and events.toml"),
    ("_client.pyi.j2", "python/billcore/_client.pyi", "operations.toml and options.toml"),
    ("_fields.py.j2", "python/billcore/testing/_fields.py", "resources.toml and events.toml"),
    ("event.h.j2", "capi/include/billcore/event.h", "events.toml"),
    ("event_kinds.hpp.j2", "capi/src/webhook/event_kinds.hpp", "events.toml"),
    ("resource_faces.hpp.j2", "capi/src/shared/resource_faces.hpp", "resources.toml"),
    ("client_options.h.j2", "capi/include/billcore/client_options.h", "options.toml"),
    ("client_option_names.hpp.j2", "capi/src/client/client_option_names.hpp", "options.toml"),
    ("c_operations.h.j2", "capi/include/billcore/operations.h", "operations.toml"),
    ("operation_options.h.j2", "capi/include/billcore/operation_options.h", "operations.toml and resources.toml"),
    ("c_operation_table.cpp.j2", "capi/src/client/operation_table.cpp", "operations.toml"),
    ("operation_option_names.hpp.j2", "capi/src/client/operation_option_names.hpp", "operations.toml"),
    ("arrow.h.j2", "capi/include/billcore/arrow.h", "operations.toml"),
    ("status.h.j2", "capi/include/billcore/status.h", "errors.toml"),
    ("go_model_resources.go.j2", "capi/go/internal/model/resources.go", "resources.toml and operations.toml"),
    ("go_model_fields.go.j2", "capi/go/internal/model/fields.go", "resources.toml"),
    ("go_model_codes.go.j2", "capi/go/internal/model/codes.go", "errors.toml and events.toml"),
    ("go_model_event_data.go.j2", "capi/go/internal/model/event_data.go", "events.toml"),
    ("go_operations.go.j2", "capi/go/operations.go", "operations.toml"),
    ("go_options.go.j2", "capi/go/options.go", "options.toml, operations.toml and resources.toml"),
    ("go_names.go.j2", "capi/go/names.go", "resources.toml and errors.toml"),
    ("go_names.go.j2", "capi/go/webhook/names.go", "resources.toml, errors.toml and events.toml"),
    ("rust_codes.rs.j2", "capi/rust/billcore/src/codes.rs", "errors.toml, events.toml and resources.toml"),
    ("rust_event_data.rs.j2", "capi/rust/billcore/src/event_data.rs", "events.toml"),
    ("rust_sys_names.rs.j2", "capi/rust/billcore-sys/src/names.rs", "errors.toml, events.toml and resources.toml"),
    ("rust_sys_operations.rs.j2", "capi/rust/billcore-sys/src/operations.rs", "operations.toml"),
    ("rust_operations.rs.j2", "capi/rust/billcore/src/client/operations.rs", "operations.toml"),
    ("rust_aio_operations.rs.j2", "capi/rust/billcore/src/aio/operations.rs", "operations.toml"),
    ("rust_resources.rs.j2", "capi/rust/billcore/src/resources.rs", "resources.toml"),
    (
        "rust_options.rs.j2",
        "capi/rust/billcore/src/client/settings.rs",
        "options.toml, operations.toml and resources.toml",
    ),
    ("wire_operations.hpp.j2", "tests/core/support/wire_operations.hpp", "operations.toml"),
    ("go_driver.go.j2", "tests/go/driver/operations.go", "operations.toml"),
    ("rust_driver.rs.j2", "tests/rust/driver/operations.rs", "operations.toml"),
    ("error_classes.c.j2", "tests/capi/support/error_classes.c", "errors.toml"),
    ("go_classes.go.j2", "tests/go/driver/classes.go", "errors.toml"),
    ("rust_classes.rs.j2", "tests/rust/driver/classes.rs", "errors.toml"),
    ("errors.json.j2", "tests/fixtures/errors.json", "errors.toml"),
    ("rust_fields.rs.j2", "tests/rust/driver/fields.rs", "resources.toml"),
    ("README.md.j2", "core/interface/README.md", "*.toml"),
]
# Templates that generate one file for each row of a prepared list. Each entry: template, output file, data file, name
# of the list, name of the list's row in the template.
EACH = [
    ("c_face.h.j2", "capi/include/billcore/{c_name}.h", "resources.toml", "c_headers", "header"),
    ("c_list.h.j2", "capi/include/billcore/{one}_list.h", "operations.toml", "queries", "list"),
]
# Stubs whose docstrings become constants of the Python modules written in C++. Each row: stub, output file.
DOCS = [
    ("python/billcore/_webhook.pyi", "python/src/shared/webhook_docs.hpp"),
    ("python/billcore/_client.pyi", "python/src/shared/client_docs.hpp"),
]
# The file with the path of the Go module; the package whose types package model shows.
GO_MODULE = "capi/go/go.mod"
INTERNAL_MODEL = "capi/go/internal/model"
MODEL_NAMES = "capi/go/model/names.go"
# What other programs write, as patterns of .gitattributes. Each comment names the program.
STORED = [
    "capi/rust/billcore-sys/src/client.rs",  # billcore-sys/generate.sh, with bindgen
    "capi/rust/billcore-sys/src/webhook.rs",
    "python/billcore/testing/samples.json",  # billcore_sandbox.catalog
    "tests/bench/*.svg",  # tests/bench/run.sh
    "tests/cost/costs.json",  # tests/cost/run.py --write
    "tests/fixtures/accounts.json",  # tests/fixtures/make_vectors.py
    "tests/fixtures/explain.json",
    "tests/fixtures/freshness.json",
    "tests/fixtures/webhook_vectors.json",
    "tests/fixtures/pickles.json",  # pickle, in earlier versions
    "**/go.sum",  # go mod tidy
]

COMMENTS = dict.fromkeys((".hpp", ".cpp", ".rs"), "// {}") | dict.fromkeys((".h", ".c"), "/* {} */")
COMMENTS |= {".py": "# {}", ".pyi": "# {}", ".md": "<!-- {} -->", ".go": "// {}"}


def note(path: str, source: str) -> str:
    if path.endswith(".json"):  # JSON has no comments
        return ""
    text = f"Generated by core/interface/generate.py from {source}."
    if path.endswith(".go"):  # Go's tools recognise this text; the blank line separates it from the package doc
        text = f"Code generated by core/interface/generate.py from {source}. DO NOT EDIT.\n"
    return COMMENTS[Path(path).suffix].format(text) + "\n"


def run(command: list[str], text: str, root: Path) -> str:
    return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE, cwd=root).stdout


def formatted(root: Path, path: str, text: str) -> str:
    """Formats the text with the formatter of its language."""
    suffix = Path(path).suffix
    if suffix in (".hpp", ".cpp", ".h", ".c"):
        command = ["clang-format", f"--assume-filename={root / path}"]
    elif suffix in (".py", ".pyi"):
        name = f"--stdin-filename={root / path}"
        text = run(["ruff", "check", "--quiet", "--select=I,RUF022", "--fix-only", name, "-"], text, root)
        command = ["ruff", "format", "--quiet", name, "-"]
    elif suffix == ".go":
        command = ["gofmt", "-s"]
    elif suffix == ".rs":
        command = ["rustfmt", "--edition=2024", "--config-path=."]
    else:
        return text
    return run(command, text, root)


def read(folder: Path) -> dict[str, Any]:
    names = ("resources", "events", "errors", "options", "operations")
    return {name: tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in names}


def generate(root: Path) -> dict[str, str]:
    """Maps the path of each generated file to its text, generated from the data and templates of the tree at `root`."""
    folder = root / "core/interface"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["c_comment"] = c_comment
    environment.filters["cpp_comment"] = cpp_comment
    environment.filters["c_line_comment"] = c_line_comment
    environment.filters["snake"] = snake
    environment.filters["go_comment"] = go_comment
    environment.filters["exported"] = exported
    environment.filters["unexported"] = unexported
    environment.filters["rust_comment"] = rust_comment
    environment.filters["rust_variant"] = rust_variant
    environment.filters["cpp_identifier"] = cpp_identifier
    data = prepared(read(folder))
    go_path = (root / GO_MODULE).read_text("utf-8").split()[1]
    out: dict[str, str] = {}
    files = [(template, path, source, {"folder": Path(path).parent.name}) for template, path, source in OUTPUTS]
    for template, path, source, rows, name in EACH:
        files += [(template, path.format(**row), source, {name: row}) for row in data[rows]]
    for template, path, source, own in files:
        text = note(path, source) + environment.get_template(template).render(data, go_path=go_path, **own)
        out[path] = formatted(root, path, text)
    for stub, path in DOCS:
        entries = stubs.entries(ast.parse(out[stub]))
        text = environment.get_template("docs.hpp.j2").render(entries=entries, module=f"billcore.{Path(stub).stem}")
        out[path] = formatted(root, path, note(path, stub) + text)
    sources = {path.name: path.read_text("utf-8") for path in (root / INTERNAL_MODEL).glob("*.go")}
    sources |= {Path(path).name: text for path, text in out.items() if path.startswith(INTERNAL_MODEL)}
    text = aliases(go_path, [text for _, text in sorted(sources.items())])
    out[MODEL_NAMES] = formatted(root, MODEL_NAMES, note(MODEL_NAMES, INTERNAL_MODEL) + text)
    parts = [("Generated by core/interface/generate.py: the files that it writes.", [*out, ".gitattributes"])]
    parts += [("The files that other programs write.", STORED)]
    sections = [f"# {title}\n" + "".join(f"{path} linguist-generated\n" for path in sorted(of)) for title, of in parts]
    out[".gitattributes"] = "".join(sections)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes what the languages repeat of the interface.")
    parser.add_argument("--check", action="store_true", help="write nothing; name the files that differ")
    parser.add_argument("--root", type=Path, default=HERE.parent.parent, help="the tree; default: the one of this file")
    options = parser.parse_args()
    stale = []
    for path, text in generate(options.root).items():
        file = options.root / path
        if file.exists() and file.read_text("utf-8") == text:
            continue
        stale.append(path)
        if not options.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    tell = partial(print, file=sys.stderr if options.check else sys.stdout)
    for path in stale:
        tell(f"{path}: {'stale: run core/interface/generate.py' if options.check else 'written'}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
