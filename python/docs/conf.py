"""Sphinx configuration of the site. python/docs/site.sh builds it, and serves it.

Sphinx reads the docstrings of the C++ modules from their stubs, so the modules need not be compiled.
"""

from __future__ import annotations

import ast
import atexit
import inspect
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock  # type: ignore[attr-defined]
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.util import logging

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = Path(tempfile.mkdtemp(prefix="billcore-docs-")) / "billcore"

sys.path[:0] = [str(HERE), str(HERE / "_pictures"), str(ROOT / "core/interface")]
import draw  # noqa: E402
import tables  # noqa: E402
from stubs import with_all_parameters  # noqa: E402

project = "billcore"
author = "the billcore authors"
project_copyright = author
release = version = re.findall(r"project\(billcore VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))[0]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"billcore {release}"
html_show_sourcelink = False
html_extra_path = ["llms.txt"]
exclude_patterns = ["conftest.py", "commands_head.md"]
nitpicky = True
maximum_signature_line_length = 100
autodoc_member_order = "bysource"
autodoc_mock_imports = ["pyspark"]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

# Types of other packages: Sphinx does not warn about their missing links in signatures.
ELSEWHERE = re.compile(
    r"(typing|typing_extensions|collections\.abc|contextlib|datetime|decimal|os|types|builtins|opentelemetry|trace|pathlib|billcore\._client|billcore\.(testing\._page|journal\._journal))\.|"
    r"(Any|Buffer|Console|Callable|Coroutine|Decimal|Iterable|Iterator|AsyncIterator|Awaitable|Mapping|MutableMapping|Self|Item|"
    r"Sequence|Literal|GenericAlias|PathLike|TracebackType|TracerProvider|Unpack|datetime|timedelta|Path|ValueError|"
    r"Exception|AttributeError|RuntimeError|TypedDict|FaultKind|\w+Fields|BillcoreConnectionError|BillcoreTimeoutError|"
    r"(list|dict|tuple|str|int|float|bool|bytes|object|type|None|Ellipsis)\b.*|StructType|pa\.Schema|DataSourceReader|_\w+)$"
)


def join_overloads(owner: ast.ClassDef) -> None:
    """Replaces the overloads of each method with one method that has all their parameters."""
    seen: set[str] = set()
    kept: list[ast.stmt] = []
    for member in owner.body:
        if isinstance(member, ast.FunctionDef) and "overload" in map(ast.unparse, member.decorator_list):
            if member.name in seen:
                continue
            seen.add(member.name)
            member = with_all_parameters(owner, member)
            member.decorator_list = []
        kept.append(member)
    owner.body = kept


def make_package() -> None:
    """Copies the package, with each stub as a module; adds __version__, which only the compiled modules define."""
    atexit.register(shutil.rmtree, PACKAGE.parent)
    shutil.copytree(
        ROOT / "python/billcore", PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyi", "sandbox")
    )
    for stub in (ROOT / "python/billcore").glob("_[a-z]*.pyi"):
        module = ast.parse(stub.read_text("utf-8"))
        for owner in module.body:
            if isinstance(owner, ast.ClassDef):
                join_overloads(owner)
        text = "from __future__ import annotations\n" + ast.unparse(module)
        (PACKAGE / f"{stub.stem}.py").write_text(text + f'\n__version__ = "{release}"\n', "utf-8")
    sys.path.insert(0, str(PACKAGE.parent))


def public_objects() -> dict[str, Any]:
    """Returns each public name with its object, and sets the object's __module__ to the module that users import."""
    import billcore
    from billcore import bulk, inbox, journal, testing, webhooks

    with mock(autodoc_mock_imports):
        from billcore import spark

    found = {}
    for module in (billcore, webhooks, testing, journal, inbox, bulk, spark):
        for name in module.__all__:
            value = getattr(module, name)
            if name.startswith("__") or isinstance(value, ModuleType):
                continue
            found[f"{module.__name__}.{name}"] = value
            if getattr(value, "__module__", "").startswith("billcore._"):
                value.__module__ = module.__name__
    return found


make_package()
PUBLIC = public_objects()


def resolve(_app: Sphinx, env: Any, node: Mapping[str, Any], contents: nodes.Element) -> nodes.Element | None:
    """Resolves public names that docstrings write without their module; does not link names of other packages."""
    target = str(node.get("reftarget", ""))
    domain = env.domains["py"]
    modules = ("", "webhooks.", "testing.", "journal.", "inbox.", "bulk.", "spark.")
    for name in (f"billcore.{module}{target}" for module in modules):
        if name in domain.objects:
            entry = domain.objects[name]
            made = domain.resolve_xref(env, node["refdoc"], _app.builder, "obj", entry.node_id and name, node, contents)
            return made if isinstance(made, nodes.Element) else None
    return contents if ELSEWHERE.match(target) else None


def google_style(app: Sphinx, what: str, name: str, value: Any, options: Mapping[str, Any], lines: list[str]) -> None:
    """Converts Google-style docstrings; used instead of Sphinx's napoleon extension.

    napoleon treats the text before a colon in a property's docstring as a type.
    """
    kind: Any = "method" if what == "property" else what
    settings: Any = Config(napoleon_use_ivar=True)
    made = str(GoogleDocstring(lines, settings, app, kind, name, value, options))
    lines[:] = re.sub(r"Service\s+interface:", ":doc:`Service interface </interface>`:", made).splitlines()


def sections() -> dict[str, list[str]]:
    """Returns the sections of the service interface, each with the public names whose docstrings refer to it."""
    found: dict[str, list[str]] = {}
    for name, value in PUBLIC.items():
        members = {f"{name}.{key}": member for key, member in vars(value).items()} if isinstance(value, type) else {}
        for each, member in {name: value, **members}.items():
            text = re.search(r"Service\s+interface:\s+([^.]+)\.", getattr(member, "__doc__", None) or "")
            for section in text[1].split("; ") if text and ".Async" not in each else []:
                found.setdefault(" ".join(section.split()), []).append(each)
    return found


# The names that conftest.py defines for the examples of a page.
DEFINED = {
    "sandbox": "`sandbox` is a running sandbox, `billcore.testing.Sandbox()`",
    "signed_event": "`signed_event(name)` makes a body and its signature, as the fixture of pytest does",
    "secret": "`secret` is the secret of the endpoint",
    "folder": "`folder` is an empty folder",
}


EXPLAINED = ("journal", "inbox", "skill", "spark", "testing")  # pages whose text explains the names


def explain_names(_app: Sphinx, page: str, source: list[str]) -> None:
    """Appends an explanation of the names in DEFINED that a page's examples use."""
    code = "".join(re.findall(r"^```python$(.*?)^```$", source[0], re.MULTILINE | re.DOTALL))
    used = [text for name, text in DEFINED.items() if re.search(rf"\b{name}\b(?!\s*=|\w|\(self)", code)]
    if used and page not in EXPLAINED:
        source[0] += f"\n\n---\n\nIn the examples of this page {', '.join(used)}: see {{doc}}`/start/first_test`.\n"


def add_tables(_app: Sphinx, page: str, source: list[str]) -> None:
    if page in tables.MADE:
        source[0] += tables.MADE[page]()
    if page == "interface":
        rows = (
            f"| {section} | {', '.join(f'{{py:obj}}`{name}`' for name in sorted(names))} |"
            for section, names in sorted(sections().items())
        )
        source[0] += "\n".join(["| section | names |", "|---|---|", *rows]) + "\n"


def check_complete(app: Sphinx, _error: Exception | None) -> None:
    """Warns about public names and methods that are on no page; for a method of several classes, one page is enough."""
    methods: dict[Any, set[str]] = {}
    for name, value in PUBLIC.items():
        for key, method in inspect.getmembers(value, inspect.isfunction) if isinstance(value, type) else ():
            if not key.startswith("_"):
                methods.setdefault(method, set()).add(f"{name}.{key}")
    for names in [*({name} for name in PUBLIC), *methods.values()]:
        if names.isdisjoint(app.env.domains["py"].objects):
            logging.getLogger(__name__).warning("%s is public and on no page", min(names))


def repair(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Repairs what a screen reader and a keyboard need: the level of a heading, and a focus for what scrolls."""
    repairs = {
        'role="heading"': 'role="heading" aria-level="2"',
        "<pre>": '<pre tabindex="0">',
        'class="table-wrapper ': 'tabindex="0" class="table-wrapper ',
    }
    for part in ("furo_navigation_tree", "body"):
        for old, new in repairs.items():
            if isinstance(context.get(part), str):
                context[part] = context[part].replace(old, new)


def setup(app: Sphinx) -> None:
    draw.setup(app)
    app.connect("autodoc-process-docstring", google_style)
    app.connect("source-read", add_tables)
    app.connect("source-read", explain_names)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", repair, priority=900)  # after furo
    app.connect("build-finished", check_complete)
