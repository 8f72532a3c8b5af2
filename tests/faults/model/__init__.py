"""A model of HTTP connections: a peer that does random things, random callers at once, and what must hold of both.

    PYTHONPATH=PACKAGE:tests python -m faults.model [--seconds N] [SEED…]

Everything is drawn from the seed and the name of who draws (a request, a caller, a connection), never from a common
sequence: what another thread does first changes nothing.
"""
