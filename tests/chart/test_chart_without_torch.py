from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["torch"] = None
import fencepost.chart.cky, fencepost.chart.inside, fencepost.chart.kbest
"""


def test_charts_are_decoded_where_torch_is_not_installed() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
