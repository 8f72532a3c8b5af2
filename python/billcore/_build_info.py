"""build_info(): the versions of billcore and its libraries in this installation."""

from __future__ import annotations

from typing import TypedDict


class BuildInfo(TypedDict):
    """The result of build_info()."""

    version: str
    """The release of billcore."""
    build: str
    """A fingerprint of the build."""
    compiler: str
    """The compiler and its release."""
    self_contained: bool
    """Whether the libraries are part of the package, as in a wheel, and not those of the system."""
    libraries: dict[str, str]
    """The name of each library that is used, in lowercase, and its release."""


def build_info() -> BuildInfo:
    """Describe this installation, for bug reports and to see whether it contains a certain release of a library.

    The first call of build_info() imports the REST client.

    Returns:
        The release of billcore, the compiler, and the releases of the libraries.

    Raises:
        ImportError: libcurl or zlib, which the client needs, is not installed.
    """
    from . import (
        Client,  # noqa: F401 (this import explains a missing library)
        _client,
        _webhook,
    )

    build, compiler, self_contained = _webhook._build
    return {
        "version": _webhook.__version__,
        "build": build,
        "compiler": compiler,
        "self_contained": self_contained,
        "libraries": dict(sorted({**dict(_webhook._libraries), **dict(_client._libraries)}.items())),
    }


def describe() -> str:
    """The result of build_info() as text, for `billcore --version`."""
    info = build_info()
    where = "part of the package" if info["self_contained"] else "of this system"
    libraries = ", ".join(f"{name} {version}" for name, version in info["libraries"].items())
    return f"billcore {info['version']} (build {info['build']}, {info['compiler']})\nlibraries, {where}: {libraries}"


for _value in (BuildInfo, build_info):
    _value.__module__ = "billcore"
del _value
