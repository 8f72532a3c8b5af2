"""Conformance tests: the shared fixtures, run against every client and against the sandbox."""
