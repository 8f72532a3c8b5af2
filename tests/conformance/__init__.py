"""Conformance tests: the shared fixtures against the C++, C and Python clients and against the sandbox."""
