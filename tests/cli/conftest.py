"""Fixtures: a sandbox, and a new account of it for each test: 6 subscriptions with 65 orders."""

from support.accounts import account, sandbox

__all__ = ["account", "sandbox"]
