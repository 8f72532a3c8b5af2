"""Conformance tests: the shared fixtures, played against the C++, C and Python clients and against the sandbox."""
