"""The code blocks of python/docs/spark.md, in one program with the variables that the page asks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from billcore.testing import Sandbox

from . import engines

PAGE = Path(__file__).resolve().parents[2] / "python/docs/spark.md"


@pytest.mark.skipif(engines.SPARK, reason="the page's program starts Sail")
def test_the_programs_of_the_page(sandbox: Sandbox, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    program = tmp_path / "program.py"
    program.write_text("\n".join([*blocks, "spark.stop()\nserver.stop()"]))
    # pyspark has set variables of this process to the session of the other tests.
    variables = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    variables |= {"BILLCORE_API_KEY": sandbox.api_key, "BILLCORE_BASE_URL": sandbox.base_url}
    subprocess.run([sys.executable, program], cwd=tmp_path, env=variables, check=True, timeout=100)
