"""Orders in a workbook of openpyxl, shown in python/docs/with/spreadsheets.md. test_openpyxl.py calls it."""

from __future__ import annotations

from collections.abc import Iterable

import openpyxl
from openpyxl.cell import WriteOnlyCell

import billcore


def write(orders: Iterable[billcore.Order], file: str) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("orders")
    sheet.append(["id", "total", "reference_name"])
    for order in orders:
        values = str(order.id), order.total, order.reference_name
        cells = [WriteOnlyCell(sheet, value) for value in values]
        for cell in cells:
            if cell.data_type == "f":
                cell.data_type = "s"  # a text that begins with "=" is not a formula
        sheet.append(cells)
    book.save(file)
