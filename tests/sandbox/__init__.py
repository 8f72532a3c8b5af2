"""Tests of the sandbox, over real sockets."""
