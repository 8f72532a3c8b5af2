"""A workbook that openpyxl writes: ids stay text, and a customer's text does not become a formula."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from billcore import testing

from . import workbook

FORMULA = '=HYPERLINK("http://a.example","pay")'


def test_ids_and_formulas(tmp_path: Path) -> None:
    file = str(tmp_path / "orders.xlsx")
    workbook.write([testing.order(id=100000000410, reference_name=FORMULA), testing.order(id="007", total=-15)], file)
    header, first, second = openpyxl.load_workbook(file)["orders"].iter_rows()
    assert [cell.value for cell in header] == ["id", "total", "reference_name"]
    assert [(cell.value, cell.data_type) for cell in first][::2] == [("100000000410", "s"), (FORMULA, "s")]
    assert [(cell.value, cell.data_type) for cell in second][:2] == [("007", "s"), (-15, "n")]


@pytest.mark.parametrize("value", [FORMULA])
def test_without_the_data_type_it_is_a_formula(value: str) -> None:
    book = openpyxl.Workbook()
    book.active.append([value])
    assert book.active["A1"].data_type == "f"
