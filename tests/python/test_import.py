"""The modules and libraries that an import loads."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import billcore

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
client.subscriptions, client.with_options(timeout=1), billcore.Order
client.products.list().to_arrow().__arrow_c_stream__(), client.products.list().to_batches()
try:
    client.orders.get("o")
except billcore.ConnectionError:
    pass
client.close()"""


def test_the_blocking_client_loads_no_other_package() -> None:
    loaded = {name if name.startswith("billcore") else name.split(".")[0] for name in new_modules(CLIENT)}
    assert "billcore._client" in loaded
    others = {"logging", "asyncio", "ssl", "contextvars", "billcore._hooks", "billcore._mock_signature"}
    others |= {"inspect", "unittest", "difflib", "pydantic", "pydantic_core", "rich"}
    others |= {"pyarrow", "nanoarrow", "polars", "pandas", "numpy", "duckdb"}
    assert loaded.isdisjoint(others), loaded


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


def test_the_files_of_another_interpreter_say_so(tmp_path: Path) -> None:
    """Such files are there after a copy of site-packages, or of a virtual environment, to another Python."""
    folder = Path(billcore.__file__).parent
    shutil.copytree(folder, tmp_path / "billcore", ignore=shutil.ignore_patterns("_client.*", "_webhook.*"))
    (tmp_path / "billcore/_webhook.cpython-39-s390x-linux-gnu.so").touch()
    for statement in ("import billcore; billcore.Client", "from billcore import webhooks"):
        with pytest.raises(AssertionError, match=r"are for cpython-39-s390x-linux-gnu, and this Python is .*: install"):
            run_python(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {statement}")
