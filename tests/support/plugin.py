"""billcore's pytest plugin in a pytest of its own."""

from importlib.metadata import entry_points

NAME = "billcore._pytest_plugin"
# An installed billcore loads it through its entry point, and pytest refuses a second time by another name.
INSTALLED = any(point.value == NAME for point in entry_points(group="pytest11"))
OPTIONS = [] if INSTALLED else ["-p", NAME]
