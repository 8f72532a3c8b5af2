"""Makes the reference of the C headers with Doxygen, and checks it. Run it in the root of the tree.

Each function, type and constant of the headers must be on a page, and no page may show the macros that declare
functions. Doxygen itself warns about declarations without a comment (capi/Doxyfile makes warnings errors).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from header import headers, read_functions

INCLUDE = Path("capi/include")
OUTPUT = Path("build/docs-c")
HIDDEN = re.compile(r"\bBILLCORE_(?:API|EXPORT|INLINE|INLINE_VOID|NODISCARD|CAST|INT64)\b")


def declared() -> set[str]:
    """Returns every public name of the headers. A function's name ends with `()`, because the reference must show it
    as a function."""
    names = {f"{function.name}()" for function in read_functions(INCLUDE)}
    for path in headers(INCLUDE):
        text = path.read_text("utf-8")
        names |= set(re.findall(r"^typedef .*?\b(billcore_\w+);$", text, re.MULTILINE))
        for body in re.findall(r"^enum \{(.*?)^\};", text, re.MULTILINE | re.DOTALL):
            names |= set(re.findall(r"^  (BILLCORE_\w+) =", body, re.MULTILINE))
    return names


def main() -> int:
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    made = subprocess.run(["doxygen", "capi/Doxyfile"], stdin=subprocess.DEVNULL)
    shown: set[str] = set()
    hidden: set[str] = set()
    for page in (OUTPUT / "html").glob("*_8h.html"):
        text = re.sub(r"<[^>]+>", "", page.read_text("utf-8"))
        shown |= {  # the names in headings of functions and types, and the constants of enumerations
            *re.findall(r"&#9670;(?:&#160;|&nbsp;)(\w+(?:\(\))?)", text),
            *re.findall(r"\b(BILLCORE_\w+) = ", text),
        }
        hidden |= set(HIDDEN.findall(text))
    problems = [f"{name} is on no page: does its header begin with `/** @file`?" for name in sorted(declared() - shown)]
    problems += [f"{name} is on a page" for name in sorted(hidden)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or made.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
