"""Tests the generator of core/interface: the generated files are up to date, and the generator refuses contradictory
data."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .copies import ROOT, copy_of_the_tree, generate

GENERATOR = ROOT / "core/interface/generate.py"


def test_nothing_is_stale() -> None:
    ran = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_change_by_hand_is_found(tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path)
    changed = tree / "core/src/call/routes.hpp"
    changed.write_text(changed.read_text("utf-8").replace("/order/{id}", "/orders/{id}"), "utf-8")
    ran = generate(tree, "--check")
    assert ran.returncode == 1 and ran.stderr.splitlines() == [
        "core/src/call/routes.hpp: stale: run core/interface/generate.py"
    ]
    assert generate(tree).returncode == 0
    assert changed.read_bytes() == (ROOT / "core/src/call/routes.hpp").read_bytes()


@pytest.mark.parametrize(
    ("name", "line", "instead"),
    [
        ("errors.toml", "number = 10\n", "number = 11\n"),
        ("events.toml", "number = 8\n", "number = 9\n"),
        ("events.toml", "number = 0\n", "number = 1\n"),
        ("events.toml", 'deleted"\ndata = "ProductGroup"\n', 'deleted"\ndata = "Productgroup"\n'),
        ("operations.toml", 'list = "Product"\n', 'list = "ProductGroup"\n'),
    ],
)
def test_data_that_contradict_each_other_are_refused(tmp_path: Path, name: str, line: str, instead: str) -> None:
    tree = copy_of_the_tree(tmp_path)
    data = tree / "core/interface" / name
    text = data.read_text("utf-8")
    assert text.count(line) == 1
    data.write_text(text.replace(line, instead), "utf-8")
    ran = generate(tree)
    assert ran.returncode != 0 and f"{name}: " in ran.stderr.splitlines()[-1]


def test_the_data_have_every_field_of_the_fixture() -> None:
    """tests/fixtures/fields.json is written by hand from the service interface; the data must agree with it."""
    rows = json.loads((ROOT / "tests/fixtures/fields.json").read_text("utf-8"))["rows"]
    resources = tomllib.loads((ROOT / "core/interface/resources.toml").read_text("utf-8"))["resource"]
    fields = {(resource["name"], field["name"]): field for resource in resources for field in resource["fields"]}
    seen = set()
    for row in rows:
        if row["resource"] in ("Event envelope", "Pagination"):
            continue
        name = row["class"], row["member"]
        # A field of type "any" (any JSON value) may be null, so the fixture marks the field as nullable.
        assert (fields[name].get("nullable", False) or fields[name]["type"] == "any") == row["nullable"], row
        assert (fields[name].get("unit") == "cents") == (row["kind"] == "money"), row
        seen.add(name)
    assert set(fields) - seen == {("ImageSource", "src")}  # fields.json has `portrait.src` and `square.src` instead
