"""Prepares the public names of the Python package, and the modules that define them."""

from __future__ import annotations

from .words import Row

_CLIENT = [
    "ArrowBatch",
    "ArrowStream",
    "AsyncClient",
    "AsyncPager",
    "Client",
    "Got",
    "Page",
    "Pager",
    "Response",
    "Verdict",
]
_WEBHOOK = ["Resource", "ResponseInfo", "__version__", "format_amount"]


def homes(data: Row) -> Row:
    groups = [group["name"] for group in data["groups"]]
    errors = {error["python"]["class"] for error in data["error_classes"]} | set(data["error_classes_by_hand"])
    enumerations = [row["name"] for row in data["enumerations"]]
    writes = [row["name"] for row in data["writes"]]
    homes = {
        "_build_info": ["BuildInfo", "build_info"],
        "_client": [*_CLIENT, *groups, *(f"Async{name}" for name in groups)],
        "_errors": errors - {"SignatureError"},
        "_hooks": ["Attempt", "Hooks"],
        "_ids": ["same_id"],
        "_not_given": ["NOT_GIVEN", "NotGiven"],
        "_progress": ["progress"],
        "_types": [*enumerations, *writes, "EventName", "SignatureReason", "VerdictReason"],
        "_webhook": [*_WEBHOOK, *(resource["name"] for resource in data["resources"])],
    }
    named = {home: sorted(names) for home, names in homes.items()}
    every = sorted({name for names in named.values() for name in names} | {"webhooks"})
    return {"homes": named, "public_names": every}
