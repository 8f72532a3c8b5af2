"""Runs worlds.py with few keys. The docstring of worlds.py has the command for the whole simulation."""

from __future__ import annotations

import os

import pytest

from .worlds import WORLDS, World, simulate

KEYS = 18_000 if os.environ.get("BILLCORE_PROOF") == "all" else 300


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_key_is_charged_once_as_far_as_the_promise_goes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = simulate(world, KEYS, 1, monkeypatch)
    print(world.name, dict(counts))
    assert counts["double"] <= world.doubles * counts["keys"]
    assert counts["lost"] <= world.doubles * counts["keys"]
    if not world.equal and not world.doubles:
        assert counts["foreign"] == 0
