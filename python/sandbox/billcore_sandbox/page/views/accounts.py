"""The accounts with their keys, clocks and options; scenarios, the size of the history, and the reset."""

from __future__ import annotations

from shlex import quote
from typing import Any

from billcore_sandbox import scenarios
from billcore_sandbox.control import accounts, bodies, history
from billcore_sandbox.control.routes import PREFIX as CONTROL
from billcore_sandbox.options import of_accounts
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.inputs import inputs, shown
from billcore_sandbox.service.calls import Reply


def show(request: PageRequest) -> Reply:
    """The chosen account or all; parameters: account, after (the number of an account)."""
    world, after = request.world, request.number("after") or 0
    chosen = request.query.get("account") or None
    state = history.state(world, bodies.Nothing(account=chosen))
    found = [each for each in state["accounts"] if each["number"] > after]
    options = of_accounts()
    public = world.options.public()  # without the secret
    return request.render(
        "accounts.html",
        total=len(state["accounts"]),
        accounts=[_shown(request, {**each}) for each in found[:PAGE]],
        more=found[PAGE - 1]["number"] if len(found) > PAGE else None,
        demo=inputs(bodies.NewAccount, {"demo": True}, {}, {"demo": "no: without products and subscriptions"})[0],
        options=inputs(
            bodies.NewAccount,
            {each.name: public[each.name] for each in options},
            {},
            {each.name: each.metadata["help"] for each in options},
        ),
        scenarios=scenarios.listed(world, bodies.Nothing())["scenarios"],
        history=state["history"],
    )


def _shown(request: PageRequest, account: dict[str, Any]) -> dict[str, Any]:
    uuid, origin = account["account"], f"http://{request.header('host')}"
    keys = accounts.keys(request.world, bodies.Nothing(account=uuid))["keys"]
    valid = [each["api_key"] for each in keys if each["state"] == "valid"]
    variables = {
        "BILLCORE_BASE_URL": f"{origin}/{uuid}",
        "BILLCORE_API_KEY": valid[-1] if valid else "",
        "BILLCORE_SANDBOX_CONTROL": f"{origin}{CONTROL}",
    }
    return {
        **account,
        "first": account["number"] == request.world.store.accounts[0].number,
        "base_url": variables["BILLCORE_BASE_URL"],
        "keys": keys,
        "valid": len(valid),
        "exports": "".join(f"export {name}={quote(value)}\n" for name, value in variables.items()),
        "options": {name: shown(value) or "none" for name, value in account["options"].items()},
    }
