"""A model of HTTP connections: a peer that acts at random, concurrent callers that make random calls, and the rules
that the peer and the client must obey.

    PYTHONPATH=PACKAGE:tests python -m faults.model [--seconds N] [SEED…]

Every random choice depends only on the seed and the name of the request, caller or connection that it concerns. No
random choice depends on the order in which threads run.
"""
