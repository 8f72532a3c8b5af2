"""Prepares events, errors and statuses."""

from __future__ import annotations

import re

from .words import Row, pascal, snake

_NO_RESOURCE = {"None": "std::monostate", "Resource": "Resource", "Value": "Value"}


def _prepare_data(rows: list[Row], resources: dict[str, Row]) -> None:
    """Prepares the types that the data of an event can have."""
    for place, row in enumerate(rows):
        if row["number"] != place:
            raise ValueError(f"events.toml: data {row['name']} has number {row['number']} at place {place}")
        name = row["name"]
        row["is_typed"] = name not in _NO_RESOURCE
        row["snake"] = snake(name)
        row["cpp_type"] = _NO_RESOURCE.get(name, name)
        if row["is_typed"]:
            resource = resources[name]
            row["words"] = f"{resource['c_article']} {resource['c_words']}"
            row["c_name"] = resource["c_name"]
        row.setdefault("doc", "")


def prepare_events(data: Row, resources: dict[str, Row]) -> Row:
    events = data["event"]
    for place, event in enumerate(events, start=1):
        if event["number"] != place:
            raise ValueError(f"events.toml: {event['name']} has number {event['number']} at place {place}")
        event.setdefault("data", "")
        event["cpp_name"] = re.sub(r"\W", "_", event["name"])
        event["class"] = pascal(event["cpp_name"])
    _prepare_data(data["data"], resources)
    typed = [row for row in data["data"] if row["is_typed"]]
    names = {"", *(row["name"] for row in typed)}
    for event in events:
        if event["data"] not in names:
            raise ValueError(f"events.toml: {event['name']} has data {event['data']}, which is not among [[data]]")
    return {
        "events": events,
        "data_kinds": data["data"],
        "typed_data": typed,
    }


def _status_row(row: Row, error: str) -> Row:
    first = row.get("status", row.get("first"))
    last = row.get("status", row.get("last"))
    kept = {"repeat": "never", "outcome": "refused", **row, "error": error, "first": first, "last": last}
    kept["first_text"] = "std::numeric_limits<int>::min()" if first is None else str(first)
    kept["last_text"] = "std::numeric_limits<int>::max()" if last is None else str(last)
    if first == last:
        kept["range"] = str(first)
    elif first is None:
        kept["range"] = f"up to {last}"
    else:
        kept["range"] = f"from {first}" if last is None else f"{first} to {last}"
    kept["single"] = first == last
    return kept


def prepare_errors(data: Row) -> Row:
    errors = data["error"]
    for place, error in enumerate(errors):
        if error["number"] != place:
            raise ValueError(f"errors.toml: {error['name']} has number {error['number']} at place {place}")
        error.setdefault("doc", "")
        error.setdefault("python", None)
    rows = [_status_row(row, error["name"]) for error in errors for row in error.get("statuses", [])]
    rows += [_status_row(row, row["error"]) for row in data["status"]]
    rows.sort(key=lambda row: (not row["single"], row.get("status", 0)))
    classes = [error for error in errors if error["python"] and not error["python"].get("by_hand")]
    builtin = {"StopIteration", "MemoryError", "KeyboardInterrupt"}
    by_hand = {error["python"]["class"] for error in errors if error["python"] and error["python"].get("by_hand")}
    class_of = {error["name"]: error["python"]["class"] for error in errors if error["python"]}
    for row in rows:
        row["class"] = class_of.get(row["error"], "")
    # Several error codes may share a Python class; the class then has the number of the first code.
    numbers = {class_of[error["name"]]: error["number"] for error in reversed(errors) if error["name"] in class_of}
    return {
        "class_numbers": dict(sorted(numbers.items(), key=lambda item: item[1])),
        "errors": errors,
        "statuses": rows,
        "signature_reasons": data["signature_reason"],
        "error_classes": classes,
        "error_classes_by_hand": sorted(by_hand - builtin),
    }
