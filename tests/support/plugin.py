"""Defines the options with which a separate pytest process loads billcore's pytest plugin."""

from importlib.metadata import entry_points

NAME = "billcore._pytest_plugin"
# pytest loads the plugin of an installed billcore by its entry point, and refuses to load it again by another name.
INSTALLED = any(point.value == NAME for point in entry_points(group="pytest11"))
OPTIONS = [] if INSTALLED else ["-p", NAME]
