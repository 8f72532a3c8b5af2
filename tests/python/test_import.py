"""The modules and libraries that an import loads, and the public names."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from types import ModuleType, UnionType
from typing import Any

import pytest

import billcore
from billcore import _webhook, testing, webhooks

from .support import run_python

NEW_MODULES = """
import sys
before = set(sys.modules)
{}
print(*sorted(set(sys.modules) - before))
"""
VERIFIER = [
    "__future__",
    "billcore",
    "billcore._error_base",
    "billcore._errors",
    "billcore._webhook",
    "billcore.webhooks",
]


def new_modules(statement: str) -> list[str]:
    # pybind11 adds a module for the classes that it makes.
    names = run_python(NEW_MODULES.format(statement)).split()
    return [name for name in names if not name.startswith("pybind11_builtins")]


def test_import_billcore_loads_nothing_else() -> None:
    assert new_modules("import billcore") == ["billcore"]


def test_modules_load_on_first_use() -> None:
    """`import billcore` is enough to use billcore.otel, billcore.testing and billcore.webhooks, as the README says."""
    for name, attribute in (("otel", "OpenTelemetryHooks"), ("testing", "Sandbox"), ("webhooks", "Verifier")):
        code = f"import billcore, sys; assert 'billcore.{name}' not in sys.modules; print(billcore.{name}.{attribute})"
        assert attribute in run_python(code)
    assert (
        run_python("import billcore, sys; from billcore import *; print('billcore.testing' in sys.modules)")
        == "False\n"
    )


def test_help_works_without_opentelemetry() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import inspect, billcore; inspect.getmembers(billcore)"
    run_python(code)
    with pytest.raises(AssertionError, match=r"billcore\.otel needs OpenTelemetry: pip install"):
        run_python("import sys; sys.modules['opentelemetry'] = None; import billcore; billcore.otel")


def test_without_pyspark_the_import_says_what_to_install() -> None:
    with pytest.raises(AssertionError, match=r"ImportError: billcore\.spark needs pyspark and pyarrow: pip install"):
        run_python("import sys; sys.modules['pyspark'] = None; import billcore.spark")


def test_the_verifier_loads_only_itself() -> None:
    assert new_modules("from billcore import webhooks") == VERIFIER


def test_verifying_loads_nothing_more() -> None:
    code = """from billcore import webhooks
body, secret = b'{"id": 1, "name": "order.paid", "data": {"id": 2}}', "k" * 32
event = webhooks.Verifier(secret).unwrap(body, webhooks.sign(body, secret))
assert (event.id, event.name, event.data.id) == (1, "order.paid", 2)"""
    assert new_modules(code) == VERIFIER


def test_a_request_of_wsgi_loads_nothing_of_asgi() -> None:
    code = """from billcore import webhooks
from _io import BytesIO  # that Python has loaded at its start, unlike io since 3.14
body, secret = b'{"id": 1, "name": "order.paid", "account": 1}', "k" * 32
environ = {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
environ["HTTP_SERVICE_SIGNATURE"] = webhooks.sign(body, secret)
assert webhooks.from_wsgi(environ, webhooks.Verifier(secret)).id == 1"""
    receiver = ("_durations", "_receivers", "_receivers.request_body", "_receivers.wsgi")
    assert new_modules(code) == sorted([*VERIFIER, *(f"billcore.{name}" for name in receiver)])


def test_the_verifier_loads_no_http_client() -> None:
    code = "from billcore import webhooks; print(open('/proc/self/maps').read())"
    assert "libcurl" not in run_python(code) and "_client" not in run_python(code)
    assert "_client" in run_python(code.replace("webhooks", "Client", 1))


def test_the_verifier_loads_libcrypto_and_the_run_time_alone() -> None:
    code = """
def shared_objects():
    return {line.split("/")[-1].strip() for line in open("/proc/self/maps") if ".so" in line}
before = shared_objects()
from billcore import webhooks
webhooks.verify(b"", webhooks.sign(b"", "k" * 32), "k" * 32)
print(*sorted(shared_objects() - before))
"""
    loaded = run_python(code).split()
    assert [name for name in loaded if name.startswith("_webhook.")], loaded
    # libdl and libpthread are separate files in an old glibc, which the wheel supports.
    run_time = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libcrypto.so.3", "libdl.so.2", "libpthread.so.0"}
    names = {re.sub(r"(\.so\.\d+).*", r"\1", name) for name in loaded if not name.startswith("_webhook.")}
    assert names <= run_time, loaded


CLIENT = """import billcore
client = billcore.Client(base_url="http://127.0.0.1:9/x", api_key="k")
client.subscriptions, client.products.list(), client.with_options(timeout=1)
try:
    client.orders.get("o")
except billcore.ConnectionError:
    pass
client.close()"""


def test_the_blocking_client_needs_neither_logging_nor_asyncio() -> None:
    loaded = set(new_modules(CLIENT))
    assert "billcore._client" in loaded
    assert loaded.isdisjoint({"logging", "asyncio", "ssl", "contextvars", "billcore._hooks"}), loaded


def test_every_public_name_is_there() -> None:
    assert set(billcore.__all__) <= set(dir(billcore))
    for name in billcore.__all__:
        assert getattr(billcore, name) is not None
    with pytest.raises(AttributeError, match="'NoSuchName'"):
        _ = billcore.NoSuchName  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["nothing_such"])
def test_options_that_do_nothing_yet_are_refused(name: str) -> None:
    options: dict[str, Any] = {"base_url": "https://service.example/x", "api_key": "k", name: None}
    with pytest.raises(TypeError, match=name):
        billcore.Client(**options)


def public_objects() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for module in (billcore, webhooks):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType | UnionType | str | billcore.NotGiven) or not hasattr(value, "__module__"):
                continue
            if getattr(value, "__module__", "") == "typing":
                continue
            found.append((name, value))
            if isinstance(value, type) and not issubclass(value, BaseException):
                members = ((f"{name}.{key}", member) for key, member in vars(value).items() if not key.startswith("_"))
                found.extend(members)
    return found


@pytest.mark.parametrize(("name", "value"), public_objects(), ids=lambda value: value if isinstance(value, str) else "")
def test_everything_public_is_documented_and_looks_public(name: str, value: object) -> None:
    assert pydoc.getdoc(getattr(value, "__func__", value)), f"{name} has no docstring"
    module = getattr(value, "__module__", None)
    if isinstance(value, type) and module is not None:
        assert module in ("billcore", "billcore.webhooks"), module


def test_what_is_for_tests_looks_public() -> None:
    classes = [value for value in vars(testing).values() if isinstance(value, type)]
    assert {testing.Account, testing.Control, testing.Delivery, testing.Sandbox} <= set(classes)
    assert {value.__module__ for value in classes} == {"billcore.testing"}
    account = testing.Account("http://127.0.0.1:9/x", "k")
    assert pickle.loads(pickle.dumps(account)) == account


def test_signatures_can_be_inspected() -> None:
    charge = inspect.signature(billcore.Subscriptions.charge)
    assert list(charge.parameters)[1:] == [
        "id",
        "product_id",
        "amount",
        "quantity",
        "vat",
        "description",
        "timeout",
    ]
    assert inspect.signature(webhooks.Verifier).parameters["header"].default == "Service-Signature"
    assert inspect.signature(billcore.Client).parameters["timeout"].default == 30.0


def test_the_version_is_one() -> None:
    assert billcore.__version__ == _webhook.__version__
    assert all(part.isdigit() for part in billcore.__version__.split("."))


def test_another_build_of_the_other_module_is_refused() -> None:
    """`_client` and `_webhook` exchange C++ objects, so `_client` first checks that both have the same build id."""
    code = """
import ctypes, sys, types
import billcore._webhook as real
name = b"billcore._webhook._bridge"
table = (ctypes.c_char_p * 8)(b"0123456789abcdef")
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
real._bridge = new(ctypes.addressof(table), name, None)
try:
    import billcore._client
except ImportError as error:
    print(error)
"""
    assert "different builds" in run_python(code) and "reinstall" in run_python(code)
