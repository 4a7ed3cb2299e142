"""Reads JSON that may come from a stranger. Whatever is wrong with it is a ValueError."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError if it isn't JSON, contains NaN or infinity, or is nested deeply."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
