"""A model of HTTP connections: a peer with random acts, random concurrent callers, and the rules for both.

    PYTHONPATH=PACKAGE:tests python -m faults.model [--seconds N] [SEED…]

Every random choice depends only on the seed and the name of its owner (a request, a caller, a connection), not on a
shared sequence: the order of the threads does not matter.
"""
