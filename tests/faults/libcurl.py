"""Finds the release of libcurl that billcore uses, because the results of some faults depend on the release."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path

import billcore


@functools.cache
def library() -> Path | None:
    """Returns the libcurl that billcore has loaded; None when libcurl is linked statically."""
    with billcore.Client(base_url="http://127.0.0.1:1/acct", api_key="key"):
        found = re.search(r"/\S*libcurl\.so\S*", Path("/proc/self/maps").read_text())
    return None if found is None else Path(found[0])


def release() -> tuple[int, ...]:
    """Returns the version of libcurl; empty when libcurl is linked statically."""
    path = library()
    if path is None:
        return ()
    version = ctypes.CDLL(str(path)).curl_version
    version.restype = ctypes.c_char_p
    said = re.match(rb"libcurl/(\d+)\.(\d+)\.(\d+)", version())
    assert said is not None
    return tuple(map(int, said.groups()))
