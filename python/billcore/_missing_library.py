"""Explains an ImportError: a shared library is not installed, or the package has no modules for this interpreter."""

from __future__ import annotations

import re

_PACKAGES = {
    "libcurl.so": "libcurl 7.88 or newer (on Debian: apt-get install libcurl4)",
    "libcrypto.so": "OpenSSL 3 (on Debian: apt-get install libssl3)",
    "libssl.so": "OpenSSL 3 (on Debian: apt-get install libssl3)",
    "libz.so": "zlib (on Debian: apt-get install zlib1g)",
}


def explained(error: ImportError) -> ImportError:
    """If a library or an extension module is missing, returns an error that says what to do; returns other errors
    unchanged."""
    if isinstance(error, ModuleNotFoundError):
        text = _without_module() if error.name in ("billcore._client", "billcore._webhook") else None
        return error if text is None else ModuleNotFoundError(text, name=error.name)
    missing = re.search(r"(lib\w+\.so)[.\d]*: cannot open shared object file", str(error))
    if missing is None:
        return error
    needed = _PACKAGES.get(missing[1], missing[1])
    return ImportError(
        f"billcore was built to use this system's libraries, and one is not installed: install {needed}, or a wheel of "
        f"billcore, which needs none ({error})",
        name=error.name,
        path=error.path,
    )


def _without_module() -> str | None:
    """Says why the package has no extension module for this interpreter; None if it has one."""
    import os
    from importlib.machinery import EXTENSION_SUFFIXES

    folder = os.path.dirname(__file__)
    if not os.path.isdir(folder):
        return (
            f"billcore cannot run inside of {folder}, because Python loads no extension modules from a zip archive: "
            "put the folder billcore beside the archive, or pack the program with shiv or pex"
        )
    ours = EXTENSION_SUFFIXES[0].strip(".").removesuffix(".so")
    built = {name.split(".")[1] for name in os.listdir(folder) if re.fullmatch(r"_(client|webhook)\.[^.]+\.so", name)}
    if ours in built:  # the module that is missing was left out on purpose
        return None
    return (
        f"the files of billcore in {folder} are for {' and '.join(sorted(built)) or 'no interpreter'}, and this Python "
        f"is {ours}: install billcore with the pip of this Python"
    )
