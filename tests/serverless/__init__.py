"""Tests of from_lambda, from_asgi and from_wsgi, and of the handlers in examples/serverless."""
