"""pytest plugin: the fixtures `billcore_sandbox`, `billcore_sandbox_options` and `signed_event`, and a marker.

pytest imports this module in every run, so the module imports only pytest. The fixtures import billcore.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from billcore.testing import Sandbox, SandboxAccount, SignedEvent

MARKER = "billcore_sandbox(*, strict=True, demo=True, **options)"


def pytest_configure(config: pytest.Config) -> None:
    about = "the AccountOptions of the fixture billcore_sandbox, and whether unknown parameters fail the test"
    config.addinivalue_line("markers", f"{MARKER}: {about}")


@pytest.fixture(scope="session")
def billcore_sandbox_options() -> dict[str, Any]:
    """Arguments of billcore.testing.Sandbox for the test run: override this fixture in conftest.py to change them."""
    return {}


@pytest.fixture(scope="session")
def _billcore_sandbox_process(billcore_sandbox_options: dict[str, Any]) -> Iterator[Sandbox]:
    """One sandbox process for the whole test run: a new process takes longer to make than a new account."""
    from billcore.testing import Sandbox

    with Sandbox(**billcore_sandbox_options) as sandbox:
        yield sandbox


@pytest.fixture
def billcore_sandbox(
    request: pytest.FixtureRequest, billcore_sandbox_options: dict[str, Any], _billcore_sandbox_process: Sandbox
) -> Iterator[SandboxAccount]:
    """A new account with demo data, whose events have all fields (unless `event_payload` is chosen).

    `accounts[1]` is another new account. The fixture deletes both accounts after the test.

    The test fails if one of its faults happened less often than its `times` (with a `probability`: never), unless that
    fault has `optional=True`, or if a request had parameters that the service does not have.
    """
    from billcore.testing import ControlError

    process = _billcore_sandbox_process
    settings = _settings(request.node)
    strict = settings.pop("strict")
    if "event_payload" not in billcore_sandbox_options:
        settings.setdefault("event_payload", "full")
    try:
        own, other = process.new_account(**settings), process.new_account(**settings)
    except ControlError as error:
        raise pytest.UsageError(f"{request.node.nodeid}: the marker is {MARKER}: {error.message}") from None
    own.accounts.extend(other.accounts)
    request.node.stash[_CHECKED] = own, other, strict
    yield own
    own.close()
    for account in own.accounts:
        process.control.delete_account(account.base_url.rpartition("/")[2])


_CHECKED = pytest.StashKey[tuple["SandboxAccount", "SandboxAccount", bool]]()


def _settings(item: pytest.Item) -> dict[str, Any]:
    """The arguments of a test's markers; an argument of the nearest marker overrides the others."""
    settings: dict[str, Any] = {"strict": True, "demo": True}
    for mark in reversed(list(item.iter_markers("billcore_sandbox"))):
        if mark.args:
            raise pytest.UsageError(f"{item.nodeid}: the marker is {MARKER}, not {mark.args}")
        settings |= mark.kwargs
    return settings


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Checks the faults and requests of a passed test here, so that the test itself fails, and not its teardown."""
    if _CHECKED in item.stash:
        own, other, strict = item.stash[_CHECKED]
        if own._errors:
            raise own._errors[0]
        problems = [problem for each in (own, other) for problem in _problems(each.control.state(), strict)]
        if problems:
            pytest.fail("\n".join(problems), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Tells in the error of a failed test what its handlers raised, and which fields the sandbox left out of events."""
    if call.when == "call" and call.excinfo is not None and _CHECKED in item.stash:
        from billcore.testing._left_out import explain

        error, own = call.excinfo.value, item.stash[_CHECKED][0]
        if own._errors and repr(error) != repr(own._errors[0]):
            error.add_note(f"a handler of receive() raised {own._errors[0]!r}")
        explain(error, own.control)


def _problems(state: dict[str, Any], strict: bool) -> Iterator[str]:
    for fault in state["faults"]:
        # How often a fault with a probability happens is chance: it is only expected to happen at all.
        expected = 1 if fault["probability"] < 1 else fault["times"]
        if fault["fired"] < expected and not fault["optional"]:
            often = f"happened {fault['fired']} of {fault['times']} times" if fault["fired"] else "never happened"
            yield (
                f"the fault {fault['id']} ({fault['kind']}) {often}: {fault['seen']} matched, and it begins with "
                f"number {fault['nth']}. Correct its selectors or its times, or pass optional=True"
            )
    for each in state["unknown_parameters"] if strict else ():
        yield (
            f"{each['operation']} got the parameter {each['name']!r} ({each['count']} times), which it does not have: "
            "correct it, or mark the test with @pytest.mark.billcore_sandbox(strict=False)"
        )


@pytest.fixture(scope="session")
def signed_event() -> SignedEvent:
    """The function billcore.testing.event, which makes the body and the signature of a webhook."""
    from billcore.testing import event

    return event
