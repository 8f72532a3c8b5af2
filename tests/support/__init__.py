"""Helpers shared by the Python tests of several folders."""
