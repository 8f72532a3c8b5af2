"""Turns the sources of Go's package internal/model into aliases for package model, with their documentation.

Go's tools show neither the fields nor the methods of an alias, so the comment of each alias lists them.
"""

from __future__ import annotations

import re

# A top-level declaration with its comment. gofmt indents everything inside a declaration.
_DECLARATION = re.compile(r"((?://.*\n)*)((?:type|const|func)\b.*\n(?:(?:\t.*)?\n)*(?:[)}].*\n)?)")
_METHOD = re.compile(r"func \((\w+) (\*?)(\w+)\) [A-Z].*?(?= \{)")
_CONSTANT = re.compile(r"\t([A-Z]\w*) +(\w+) += [^/\n]+?( *//.*)?$", re.MULTILINE)


def _fields(struct: str) -> str:
    """Returns a struct without its unexported fields; "" if no field is exported."""
    lines = [line for line in struct.splitlines()[1:-1] if re.match(r"\t(?:[A-Z]|//)|$", line)]
    if not any(line.startswith("\t") for line in lines):
        return ""
    return "\n".join([struct.splitlines()[0], *lines]).rstrip() + "\n}\n"


def aliases(module: str, sources: list[str]) -> str:
    """Returns the source of package model of the Go module with the path `module`."""
    found = [match.groups() for source in sources for match in _DECLARATION.finditer(source)]
    methods: dict[str, list[str]] = {}
    for comment, text in found:
        if method := _METHOD.match(text):
            methods.setdefault(method[3], []).append(comment + method[0] + "\n")
    out = [f'package model\n\nimport "{module}/internal/model"\n']
    for comment, text in found:
        name = text.split()[1]
        if text.startswith("const (") and _CONSTANT.search(text):
            out.append(comment + _CONSTANT.sub(r"\t\1 \2 = model.\1\3", text))
        elif text.startswith("type ") and name[0].isupper() and "interface {" not in text:
            listed = methods.get(name, [])
            if text.rstrip().endswith("struct{ record }"):
                listed = listed + [re.sub(r"(?<=\w )(\*?)record\)", rf"\1{name})", one) for one in methods["record"]]
            code = "\n".join(filter(None, [_fields(text), *listed]))
            shown = "".join(f"//\t{line}\n" if line else "//\n" for line in code.splitlines())
            out.append(comment + (f"//\n{shown}" if shown else "") + f"type {name} = model.{name}\n")
    return "\n".join(out)
