"""Fixtures: a sandbox, and the databases of the inbox's tests."""

from inbox.conftest import database, postgres, postgresql, sqlite
from support.accounts import sandbox

__all__ = ["database", "postgres", "postgresql", "sandbox", "sqlite"]
