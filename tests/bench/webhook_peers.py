"""Python programs that verify an event and read its id, its name and the subscription's status.

Only the benchmark's own environment has the packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import GenericAlias
from typing import Any

from .rows import Row, Server

Make = Callable[[Server, int], Row]
# The struct has every field of the interface, with defaults, because an event may lack fields. Times stay text,
# because converting them would take longer.
_text, _maybe = (str, ""), (str | None, None)
_FIELDS = [
    ("id", int | str),
    ("price", int, 0),
    ("vat", int, 0),
    *((name, *_text) for name in ("currency", "created_at")),
    *((name, *_maybe) for name in ("renews_at", "ends_at", "trial_ends_at", "reference_id", "reference_name")),
    *((name, *_text) for name in ("status", "update_card_url", "invoices_url", "cancel_url")),
]

# A function of Python code, so that no further call is measured beside the work. It returns the sum that the contenders
# in all languages return.
CODE = """
def run(count):
    for _ in range(count):
        {work}
        {id}
        {name}
        {status}
    return count * (len(str({id})) + len({name}) + len({status}))
"""
OBJECT = {"id": "event.id", "name": "event.name", "status": "event.data.status"}
DICT = {"id": "event['id']", "name": "event['name']", "status": "event['data']['status']"}
CHECK = "if not compare_digest(new(key, body, 'sha256').hexdigest(), signature): raise ValueError"


class Code:
    def __init__(self, work: str, read: dict[str, str], names: dict[str, Any], server: Server, _: int) -> None:
        folder = Path(server.base_url.partition(":")[2])
        secret = (folder / "secret").read_text("ascii")
        delivery = {"body": (folder / "body").read_bytes(), "signature": (folder / "signature").read_text("ascii")}
        if "webhooks" in names:
            names = {**names, "verifier": names["webhooks"].Verifier(secret)}
        scope: dict[str, Any] = {**names, **delivery, "secret": secret, "key": secret.encode()}
        exec(CODE.format(work=work, **read), scope)
        self.run: Callable[[int], int] = scope["run"]

    def show(self) -> str:
        return str(self.run(1))


def _by_hand(package: str, work: str, read: dict[str, str]) -> Make:
    module, hmac = import_module(package), import_module("hmac")
    names = {"new": hmac.new, "compare_digest": hmac.compare_digest, package: module}
    if package == "msgspec":
        field = module.defstruct("CustomField", [("id", int), ("label", str), ("type", str), ("value", Any)])
        data = module.defstruct(
            "Subscription", [*_FIELDS, ("custom_fields", GenericAlias(list, field), []), ("metadata", dict, {})]
        )
        envelope = [("id", int | str), ("name", str), ("account", int), ("created_at", str), ("data", data)]
        names["decode"] = module.json.Decoder(module.defstruct("Event", envelope)).decode
    return partial(Code, f"{CHECK}\n        event = {work}(body)", read, names)


def _billcore(work: str) -> Make:
    return partial(Code, f"event = {work}", OBJECT, {"webhooks": import_module("billcore").webhooks})


PEERS: dict[str, Callable[[], Make]] = {
    "msgspec": partial(_by_hand, "msgspec", "decode", OBJECT),
    "orjson": partial(_by_hand, "orjson", "orjson.loads", DICT),
    "json": partial(_by_hand, "json", "json.loads", DICT),
    "unwrap": partial(_billcore, "verifier.unwrap(body, signature)"),
    "one_shot": partial(_billcore, "webhooks.unwrap(body, signature, secret)"),
}
