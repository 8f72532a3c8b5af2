"""Explains the ImportError for a shared library that the package needs but that is not installed."""

from __future__ import annotations

import re

_PACKAGES = {
    "libcurl.so": "libcurl 7.88 or newer (on Debian: apt-get install libcurl4)",
    "libcrypto.so": "OpenSSL 3 (on Debian: apt-get install libssl3)",
    "libssl.so": "OpenSSL 3 (on Debian: apt-get install libssl3)",
    "libz.so": "zlib (on Debian: apt-get install zlib1g)",
}


def explained(error: ImportError) -> ImportError:
    """If a library is missing, returns an error that says what to install; returns other errors unchanged."""
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
