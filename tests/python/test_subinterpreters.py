"""An import in a subinterpreter is refused with one sentence, and does not affect the main interpreter."""

from __future__ import annotations

import sys

import pytest

from .support import run_python

CODE = """
import sys
{first}
def inside():
    return '''
import sys
{hide}
try:
    {statement}
except ImportError as error:
    text = str(error)
else:
    text = "imported"
assert len(text.splitlines()) == 1 and "in a subinterpreter: import it in the main interpreter" in text, text
print("refused", flush=True)
'''
{run}
import billcore
from billcore import webhooks
billcore.Client(base_url="http://127.0.0.1:9/x", api_key="k").close()
webhooks.verify(b"", webhooks.sign(b"", "k" * 32), "k" * 32)
print("works")
"""

STATEMENTS = ["import billcore", "import billcore._webhook", "from billcore import Client"]
# Hides the package's own check of the interpreter, so that the C++ modules have to check it themselves.
HIDE = "sys.modules['_xxsubinterpreters'] = None; import _thread; _thread._is_main_interpreter = lambda: True"
WAYS = {
    "_testcapi": "import _testcapi; assert _testcapi.run_in_subinterp(inside()) == 0",
    "_xxsubinterpreters, isolated": """
import _xxsubinterpreters as interpreters
one = interpreters.create(isolated=True)
interpreters.run_string(one, inside())
interpreters.destroy(one)
""",
}


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="the functions that make a subinterpreter have other names there"
)
@pytest.mark.parametrize("first", ["", "import billcore._client"], ids=["before", "after"])
@pytest.mark.parametrize("hide", ["", HIDE], ids=["package", "modules"])
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("way", WAYS)
def test_an_import_in_a_subinterpreter_is_refused(way: str, statement: str, hide: str, first: str) -> None:
    if hide and statement == "import billcore":
        pytest.skip("the package alone loads no C++ module")
    code = CODE.format(first=first, statement=statement, hide=hide, run=WAYS[way])
    assert run_python(code) == "refused\nworks\n"
