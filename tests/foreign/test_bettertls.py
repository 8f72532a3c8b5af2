"""Runs BetterTLS' cases of certificate path building: servers send certificates of which only some chain to the
trusted root."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import billcore

TIMEOUT = 60.0
CASES = 81
ACCEPTED = 45  # number of cases that a client accepts if it tries every path

# The valid chains that OpenSSL refuses. OpenSSL follows the first issuer certificate that has the right name and has
# not expired. If the resulting chain is invalid, OpenSSL does not try another issuer. For a client that fails two cases
# called BRANCHING, BetterTLS skips all cases with the chains listed here.
KNOWN = {
    **dict.fromkeys([2, 23, *range(31, 36)], "of two roots the second is trusted"),
    **dict.fromkeys(range(49, 61), "two authorities certify each other, and one of the paths is invalid"),
    **dict.fromkeys([61, 62, *range(64, 69)], "authorities meet at a bridge, which several have certified"),
}

Outcomes = list[tuple[dict[str, Any], billcore.TlsError | None]]  # (case, error of the call, or None)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    root = tmp_path_factory.mktemp("bettertls") / "root.pem"
    command: list[str | Path] = [os.environ["BILLCORE_BETTERTLS"], root]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None  # leaving `with` closes the program's stdin, which ends the program
        cases: list[dict[str, Any]] = json.loads(server.stdout.readline())
        return [(case, _call(case["port"], root)) for case in cases]


def _call(port: int, root: Path) -> billcore.TlsError | None:
    url = f"https://localhost:{port}/v1/account"
    with billcore.Client(base_url=url, api_key="key", ca_bundle=root, max_retries=0, timeout=TIMEOUT) as client:
        try:
            assert client.request("GET", "/products/").json() == {"reached": True}
        except billcore.TlsError as error:
            return error
    return None


def test_every_case_is_there(outcomes: Outcomes) -> None:
    assert (len(outcomes), sum(case["accepted"] for case, _ in outcomes)) == (CASES, ACCEPTED)


def test_no_invalid_chain_is_accepted(outcomes: Outcomes) -> None:
    assert [case for case, error in outcomes if error is None and not case["accepted"]] == []


def test_only_known_valid_chains_are_refused(outcomes: Outcomes) -> None:
    refused = {case["id"]: case for case, error in outcomes if error is not None and case["accepted"]}
    assert refused.keys() == KNOWN.keys()
    assert all("BRANCHING" in case["needs"] for case in refused.values())
