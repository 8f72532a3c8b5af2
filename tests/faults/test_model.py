"""Runs the model in model/ with fixed seeds, or for $BILLCORE_MODEL_SECONDS seconds with random seeds."""

from __future__ import annotations

import os

import pytest

from .certificates import Certificates
from .model.run import TRANSPORTS, Totals, random_names, run_many

SEEDS = 15  # number of seeds for each transport


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_callers_are_told_is_what_happened(
    certificates: Certificates, model_totals: Totals, transport: str
) -> None:
    seconds = float(os.environ.get("BILLCORE_MODEL_SECONDS", "0")) / len(TRANSPORTS)
    seeds = random_names([transport], seconds) if seconds else (f"{transport}-{number}" for number in range(SEEDS))
    found = run_many(seeds, certificates, model_totals)
    assert not found, "\n\n".join(found)


def test_every_kind_of_outcome_was_seen(model_totals: Totals) -> None:
    if model_totals.seeds < SEEDS:
        pytest.skip("too few seeds were run")
    kinds = ["list failed", "list ok", "read failed", "read ok"]
    kinds += ["write certainly not done", "write done", "write unknown"]
    assert sorted(kind for kind, count in model_totals.outcomes.items() if count) == kinds
