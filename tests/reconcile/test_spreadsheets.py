"""Tables that spreadsheets and databases have written: separators, encodings, nulls, and ids that were changed."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from billcore.testing import SandboxAccount
from export.support import export
from support.accounts import account

from .support import order, orders, read, write_export
from .test_command import run
from .test_compare import refused, results

__all__ = ["account"]  # a fixture
NAMES = ["Søren Ærø", "a;b", 'say "x"', "", None]
ROWS = [order(number, id=f"10000000040{number}", reference_id=name) for number, name in enumerate(NAMES)]


def export_of(folder: Path, *rows: dict[str, Any]) -> Path:
    return write_export(folder, [(orders(*rows), pyarrow.Table.from_pylist([read("1")]))], "parquet")


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return export_of(tmp_path / "export", *ROWS)


def text(separator: str, null: str = "") -> str:
    """As Excel writes it: a text is quoted if necessary, an empty text always."""
    lines = [["id", "total", "reference_id"]]
    for row in ROWS:
        name = null if row["reference_id"] is None else row["reference_id"].replace('"', '""')
        is_plain = row["reference_id"] is None or (name and not {*name} & {'"', separator})
        lines.append([row["id"], str(row["total"]), name if is_plain else f'"{name}"'])
    return "".join(separator.join(line) + "\r\n" for line in lines)


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("mine.csv", text(";").encode(), {}),
        ("mine.csv", text(";").encode("utf-8-sig"), {"delimiter": ";"}),
        ("mine.csv", text("\t").encode("utf-16"), {}),
        ("mine.txt", b"\xfe\xff" + text("\t").encode("utf-16-be"), {"delimiter": "tab"}),
        ("mine.csv.gz", gzip.compress(text(",").encode("utf-16")), {}),
        ("mine.tsv", text("\t").encode("cp1252"), {"encoding": "windows-1252", "delimiter": r"\t"}),
        ("mine.csv.gz", gzip.compress(text(";").encode("cp1252")), {"encoding": "windows-1252"}),
        ("mine.csv", f"sep=;\r\n{text(';')}".encode("utf-8-sig"), {}),
        ("mine.csv", text(",", r"\N").encode(), {}),
        ("mine.csv", text(",", "NULL").encode(), {"null": "NULL"}),
    ],
)
def test_how_a_table_is_written(exported: Path, tmp_path: Path, name: str, data: bytes, options: Any) -> None:
    (tmp_path / name).write_bytes(data)
    assert results(exported, tmp_path / name, **options) == {}
    shown = [f"--{option}={value}" for option, value in options.items()]
    done = run(exported, tmp_path / name, *shown)
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (text(";").encode("cp1252"), {}, "not utf-8 encoded: pass its encoding, such as windows-1252"),
        (text(";").encode("cp1252"), {"encoding": "utf-8"}, "mine.csv is not utf-8: "),
        (text(";").encode("utf-16-le"), {}, "not possible to automatically detect the CSV parsing dialect"),
        (text(";").encode(), {"delimiter": "|"}, "no column is named id: the table has id;total;reference_id: "),
        (text(";").encode(), {"delimiter": "::::::"}, "delimiter option cannot exceed a size of 4 bytes"),
        (text(";").encode(), {"delimiter": ""}, "the delimiter is empty"),
        (text(";").encode(), {"encoding": "hex"}, "there is no encoding 'hex'"),
    ],
)
def test_a_table_that_cannot_be_read(exported: Path, tmp_path: Path, data: bytes, options: Any, message: str) -> None:
    (tmp_path / "mine.csv").write_bytes(data)
    said = refused(exported, tmp_path / "mine.csv", **options)
    assert message in said and "Søren" not in said


@pytest.mark.parametrize("option", ["delimiter", "encoding", "null"])
def test_options_of_csv_for_another_table(exported: Path, option: str) -> None:
    assert "are for csv" in refused(exported, orders(*ROWS), **{option: "x" if option != "encoding" else "utf-8"})


SEPARATED = ["100.000.000.400", "100,000,000,400", "100'000'000'400", "100\xa0000\xa0000\xa0400", "1,00,00,00,00,400"]
DATES = ["02-mar", "2-Mar-2025", "Mar-25", "1. maj 2025", "01.03.2025", "3/1/2025", "2025-03-01 00:00:00"]


@pytest.mark.parametrize(
    ("id", "looks"),
    [
        *((id, "a rounded number") for id in ("1,00E+11", "1.00E+11", "1E+11", "1.000000004e11")),
        *((id, "a number with separators") for id in SEPARATED),
        *((id, "a date") for id in DATES),
        *((id, "an error of a spreadsheet") for id in ("#######", "#N/A")),
        *((f"100000000400{end}", "a number with a decimal point") for end in (",00", ".0", ".")),
        *((f"{begin}100000000400", "text with blanks or quotes") for begin in ("'", "=", " ")),
        ("100000000400 ", "text with blanks or quotes"),
    ],
)
def test_ids_that_a_spreadsheet_has_changed(exported: Path, tmp_path: Path, id: str, looks: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f'order;total\n{ROWS[0]["id"]};1\n"{id}";2\n"{id}";3\n')
    said = refused(exported, file, columns={"id": "order", "total": "total"})
    assert said.startswith(f"the table has the id {id!r} (row 2, column order), which looks like {looks}: write ids as")


@pytest.mark.parametrize(
    ("id", "newer"),
    [("1E+11", "2E+11"), ("1.000", "2.000"), ("7,0", "8,0"), ("2-3-4", "3-4-5"), ("#1", "#2"), (" x", " y")],
)
def test_an_export_that_has_such_ids(tmp_path: Path, id: str, newer: str) -> None:
    """Its new ids look so too, and are not refused."""
    export = export_of(tmp_path / "export", order(0, id=id))
    assert {*results(export, orders(order(0, id=id), order(0, id=newer)))} == {"unknown"}


@pytest.mark.parametrize(
    ("exported_id", "id", "newer"),
    [("000123", "123", "124"), ("9912140633506421", "9912140633506420", "9912140633506430")],
)
def test_digits_that_a_spreadsheet_has_removed(tmp_path: Path, exported_id: str, id: str, newer: str) -> None:
    export = export_of(tmp_path / "export", order(9), order(0, id=exported_id))
    said = refused(export, orders(order(9), order(0, id=id)))
    assert said.startswith(f"the table has the id {id!r} (row 2, column id), which is {exported_id!r} in the export: ")
    assert {*results(export, orders(order(9), order(0, id=exported_id), order(0, id=id)))} == {"unknown"}
    assert {*results(export, orders(order(9), order(0, id=newer)))} == {"missing", "unknown"}


def test_the_list_of_an_order_that_a_spreadsheet_has_changed(exported: Path) -> None:
    changed = [{**row, "subscription_id": "1.0"} for row in ROWS]
    assert "the id '1.0' (row 1, column subscription_id)" in refused(exported, orders(*changed))


def test_an_export_for_a_spreadsheet(account: SandboxAccount, tmp_path: Path) -> None:
    """reconcile reads the values that the service has, whatever is in them."""
    rng = random.Random(20261127)
    odd = ["+45 12345678", "-5", "'=1", "a;=1", 'a;"=1;b', "x=1"]
    odd += ["".join(rng.choices("=+-@'\";,\t\r\na \uff1d", k=rng.randint(1, 6))) for _ in range(60)]
    for name in odd:
        made = account.control.checkout(account.ids["products"]["subscription"], reference_name=name)
        account.control.confirm(made["order"]["id"])
    for path, *options in (
        ("plain.parquet",),
        ("one.csv", "--for-spreadsheet"),
        ("parts/", "--format", "csv", "--for-spreadsheet", "--lists-per-part", 50),
    ):
        done = export(account, "orders", "-o", f"{tmp_path}/{path}", *options)
        assert done.returncode == 0, done
    one, parts, plain = tmp_path / "one.csv", tmp_path / "parts", tmp_path / "plain.parquet"
    for left, right in ((one, plain), (plain, one), (parts, plain), (one, one)):
        assert results(left, right) == {}, (left, right)
    names = {row["reference_name"] for row in pyarrow.parquet.read_table(plain).to_pylist()}
    assert names > {*odd}
