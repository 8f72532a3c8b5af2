"""The rate limit of an account (--rate-limit): a number of requests in each window of the account's clock.

A window begins with the first request after the last window. The count is kept in memory.
"""

from __future__ import annotations

import math
from datetime import timedelta

from billcore_sandbox.errors import Refusal
from billcore_sandbox.store import Account

CODE = "rate_limited"


def refusal(account: Account) -> Refusal | None:
    """Count a request; returns the Refusal 429, with the rest of the window as Retry-After, if it is one too many."""
    if account.options.rate_limit is None:
        return None
    most, seconds = account.options.rate_limit
    now = account.clock.now()
    if account.window_ends is None or now >= account.window_ends:
        account.requests, account.window_ends = 0, now + timedelta(seconds=seconds)
    account.requests += 1
    if account.requests <= most:
        return None
    rest = math.ceil((account.window_ends - now).total_seconds())
    message = f"More than {most:g} requests in {seconds:g} s: try again in {rest} s."
    return Refusal(429, CODE, message, [("Retry-After", str(rest))])
