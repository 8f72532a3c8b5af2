"""Resources with a different value in each field, made from the rows of tests/fixtures/fields.json."""

from __future__ import annotations

import datetime
import json
from typing import Any

TABLES = {
    "subscription": "Subscription",
    "order": "Order",
    "product": "Product",
    "product_group": "Product group",
    "custom_field": "CustomFieldValue",
    "image": "Product.images[]",
    "event": "Event envelope",
    "pagination": "Pagination",
}
PAGE = {"total": 1, "count": 1, "per_page": 20, "current_page": 1, "total_pages": 1}  # a list with one item


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class Samples:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        # In fields.json, the row of a view and the row of its first field have the same `c_getter`: keep the row of the
        # field.
        self.by_getter = {row["c_getter"]: row for row in sorted(rows, key=lambda row: row["kind"] != "view")}

    def sample(self, row: dict[str, Any], *, full: bool) -> Any:
        number = self.rows.index(row)
        kind, name = row["kind"], f"{row['resource']}.{row['field']}"
        if row["nullable"] and not full:
            return None
        if row["resource"] == "Pagination" and kind == "integer":
            return PAGE[row["field"]]
        if kind in ("integer", "money") or row["type"].startswith("integer"):
            return 1000 + number
        if kind == "time":
            return f"2025-04-25T{number // 60:02}:{number % 60:02}:00Z"
        if kind == "list" and "CustomFieldValue" in row["type"]:
            return [self.table("CustomFieldValue", full=full)]
        if kind == "list":
            return [5] if "integer" in row["type"] else [self.table(name + "[]", full=full)]
        return {
            "number": number + 0.5,
            "boolean": True,
            "json": {"number": number},
            "view": None if kind != "view" else self.table(name, full=full),
            "data": None,
        }.get(kind, f"the {name}")

    def table(self, name: str, *, full: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        rows = [row for row in self.rows if row["resource"] == name]
        assert rows, name
        for row in rows:
            *outer, last = row["field"].split(".")
            into = out
            for step in outer:
                into = into.setdefault(step, {})
            into[last] = self.sample(row, full=full)
        return out

    def value(self, getter: str) -> Any:
        """Returns the expected result of an accessor; JSON is returned as text. None if the accessor does not read a
        field."""
        row = self.by_getter.get(getter)
        if row is None:
            for kind, table in TABLES.items():  # `getter` may be the accessor of a whole object
                inner = self.table(table, full=True).get(getter.removeprefix(f"billcore_{kind}_"))
                if isinstance(inner, dict):
                    return compact(inner)
            return None
        found = self.sample(row, full=True)
        return compact(found) if isinstance(found, dict) else str(found) if isinstance(found, float) else found

    def first(self, getter: str) -> Any:
        """Returns the expected first item of the list that a function such as billcore_x_product_at reads."""
        begin = getter.removesuffix("_at")
        (row,) = [row for row in self.rows if row["c_getter"].startswith(begin) and row["c_getter"].endswith("s_count")]
        return self.sample(row, full=True)[0]

    def field(self, kind: str) -> str:
        return next(iter(self.table(TABLES[kind], full=True)))

    def micros(self, time: str) -> int:
        return int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()) * 1_000_000

    def event(self, kind: str, name: str, *, full: bool) -> str:
        data = self.table(TABLES[kind], full=full)
        return compact(self.table("Event envelope", full=full) | {"name": name, "data": data})

    def page(self, kind: str) -> str:
        items = [self.table(TABLES[kind], full=True)]
        return compact({"data": items, "pagination": self.table("Pagination", full=True)})
