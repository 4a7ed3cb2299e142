"""The table of lexical kinds: what each representation of a word reads, and what other modules need to know about it.

The indexer, the vocabularies, model folders, training, export and the ONNX backend look here. ``model.build`` has the
class of each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from fencepost.config.settings import Config, LexicalKind

LETTERS, SUBWORDS = "letters.onnx", "subwords.onnx"  # graphs in an exported model folder

Reads = Literal["words", "tags", "letters", "subwords", "vectors", "treebanks"]


@dataclass(frozen=True)
class LexicalTraits:
    """One row of the table. A kind's settings are the section of ``Config`` with its name."""

    name: LexicalKind
    section: str  # of the paper
    reads: Reads  # what the batch must hold; the input of model.onnx has the same name
    graph: str | None = None  # file with the graph that computes its vectors for model.onnx, if it needs one
    exportable: bool = True
    source: str | None = None  # the setting that names a file or folder, without which the kind can't be used
    not_in_weights: tuple[str, ...] = ()  # settings besides dropout that may change when a model is trained further


_ROWS: Final = (
    LexicalTraits("words", "§2.2", "words", not_in_weights=("min_count",)),
    LexicalTraits("tags", "§2.2", "tags"),
    LexicalTraits("char_lstm", "§5.1", "letters", LETTERS),
    LexicalTraits("char_concat", "§5.1", "letters", LETTERS),
    LexicalTraits("char_attention", "§5.1", "letters", LETTERS),
    LexicalTraits(
        "pretrained",
        "§5.2",
        "subwords",
        SUBWORDS,
        source="model",
        not_in_weights=("model", "frozen", "learning_rate", "window", "overlap", "mask"),
    ),
    LexicalTraits("vectors", "§5.2", "vectors", exportable=False, source="path", not_in_weights=("path",)),
    LexicalTraits("treebank", "§2.2", "treebanks"),
)
LEXICAL_KINDS: Final[dict[LexicalKind, LexicalTraits]] = {row.name: row for row in _ROWS}


def reads(config: Config, what: Reads) -> bool:
    """True if one of the model's lexical representations reads ``what``."""
    return any(LEXICAL_KINDS[kind].reads == what for kind in config.lexical)


def graphs(config: Config) -> list[str]:
    """The graphs that the model's lexical representations need in an export, each once, in the table's order."""
    files = [row.graph for row in _ROWS if row.name in config.lexical and row.graph is not None]
    return list(dict.fromkeys(files))
