"""Checks values against a small recursive schema (wire/_shapes.json), and the order and page numbers of lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from .fixtures import load

Json = Any
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "any": (object,),
}


class Shapes:
    def __init__(self) -> None:
        self._named: dict[str, Json] = load("wire/_shapes.json")

    def differences(self, shape: Json, value: Json, path: str = "$") -> Iterator[str]:
        while "$ref" in shape:
            shape = self._named[shape["$ref"]]
        if value is None and (shape.get("nullable") or shape["type"] == "any"):
            return
        kind = shape["type"]
        right = isinstance(value, _TYPES[kind]) and (not isinstance(value, bool) or kind in ("boolean", "any"))
        if not right:
            yield f"{path}: {value!r} is not a {kind}"
            return
        if "enum" in shape and value not in shape["enum"]:
            yield f"{path}: {value!r} is not in {shape['enum']}"
        if "minimum" in shape and value < shape["minimum"]:
            yield f"{path}: {value!r} is less than {shape['minimum']}"
        if "format" in shape and not _has_format(shape["format"], value):
            yield f"{path}: {value!r} is not a {shape['format']}"
        if kind == "array" and "items" in shape:
            for index, item in enumerate(value):
                yield from self.differences(shape["items"], item, f"{path}[{index}]")
        if kind == "object":
            keys = shape.get("keys", {})
            missing, extra = keys.keys() - value.keys(), value.keys() - keys.keys()
            if missing:
                yield f"{path}: lacks {sorted(missing)}"
            if extra and shape.get("exact"):
                yield f"{path}: has {sorted(extra)} besides"
            for key in keys.keys() & value.keys():
                yield from self.differences(keys[key], value[key], f"{path}.{key}")


def _has_format(name: str, text: str) -> bool:
    if name == "date-time":
        try:
            return datetime.fromisoformat(text).tzinfo is not None and "T" in text
        except ValueError:
            return False
    assert name == "uri", f"unknown format {name}"
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def sort_differences(items: list[Json], by: str, order: str) -> Iterator[str]:
    keys = [datetime.fromisoformat(item[by]) for item in items]
    for index, (before, after) in enumerate(itertools.pairwise(keys)):
        if before < after if order == "descending" else before > after:
            yield f"items {index} and {index + 1} are out of order: {items[index][by]}, {items[index + 1][by]}"


def page_differences(pages: list[Json], path: str, query: str) -> Iterator[str]:
    """Yields a text for each wrong page number or link in the pages of a list that was read from page 1 to its
    end."""
    first = pages[0]["pagination"]
    total, per_page = first["total"], first["per_page"]
    if first["total_pages"] not in {-(-total // per_page), max(1, -(-total // per_page))}:
        yield f"total_pages {first['total_pages']} for {total} items, {per_page} a page"
    for number, page in enumerate(pages, start=1):
        numbers, last = page["pagination"], number == len(pages)
        expected = {"total": total, "per_page": per_page, "current_page": number, "total_pages": first["total_pages"]}
        expected["count"] = len(page["data"])
        for name, value in expected.items():
            if numbers[name] != value:
                yield f"page {number}: {name} is {numbers[name]}, expected {value}"
        if len(page["data"]) != (per_page if not last else total - per_page * (number - 1)):
            yield f"page {number}: {len(page['data'])} items"
        links = numbers["links"]
        for name, target in (("previous", number - 1), ("next", 0 if last else number + 1)):
            if target == 0:
                if links[name] is not None:
                    yield f"page {number}: {name} is {links[name]!r}, expected null"
            elif links[name] is None:
                yield f"page {number}: {name} is null"
            else:
                yield from _link_differences(f"page {number}: {name}", links[name], target, path, query)
    ids = [item["id"] for page in pages for item in page["data"]]
    if len(set(ids)) != len(ids) or len(ids) != total:
        yield f"{len(ids)} items, {len(set(ids))} different, total {total}"


def _link_differences(where: str, link: str, page: int, path: str, query: str) -> Iterator[str]:
    parts = urlsplit(link)
    if not parts.path.endswith(path):
        yield f"{where} points to {parts.path}"
    wanted = sorted([(k, v) for k, v in parse_qsl(query) if k != "page"] + [("page", str(page))])
    if sorted(parse_qsl(parts.query)) != wanted:
        yield f"{where} has the query {parts.query!r}, expected {wanted}"
