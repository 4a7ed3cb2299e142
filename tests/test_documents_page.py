"""The examples in docs/documents.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "documents.md"


def test_the_examples_of_the_page_about_documents_run() -> None:
    names: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(example, names)
    assert names["record"]["id"] == 18
