"""The last word of commands that write a model folder: where it is."""

from __future__ import annotations

import sys
from pathlib import Path


def say_written(what: str, folder: str) -> None:
    """Says so; and how a shell that stands in the folder, which was replaced by a new one, gets into that."""
    sys.stderr.write(f"{what} {folder}\n")
    if Path(folder).resolve() == Path.cwd():
        sys.stderr.write("hint: this folder was written anew; `cd .` leads your shell into the new one\n")
