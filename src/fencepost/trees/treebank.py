"""Sentences and treebanks: what training reads and evaluation compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from fencepost.errors import InputError, MismatchError, UsageError
from fencepost.storage.find_files import find_files
from fencepost.storage.text_reader import read_lines
from fencepost.storage.text_writer import write_atomically
from fencepost.trees.brackets import read_trees
from fencepost.trees.garbage_collection import no_garbage_collection
from fencepost.trees.tree import Tree, as_tree

if TYPE_CHECKING:
    import nltk


@dataclass(frozen=True)
class Sentence:
    """Words and, if known, their tags, their tree, and which of them have a space after them in the text.

    Lists become tuples.

    >>> sentence = Sentence(["Cats", "sleep", "."], spaces=[True, False, False])
    >>> sentence.words
    ('Cats', 'sleep', '.')
    >>> len(sentence)
    3
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    tree: Tree | None = None
    spaces: tuple[bool, ...] | None = None  # True for a word with a space after it

    def __post_init__(self) -> None:
        for name in ("words", "tags", "spaces"):
            if type(value := getattr(self, name)) is not tuple and (value is not None or name == "words"):
                object.__setattr__(self, name, _as_tuple(name, value))
        if self.tags is not None and len(self.tags) != len(self.words):
            raise MismatchError(f"{len(self.words)} words but {len(self.tags)} tags")
        if self.spaces is not None and len(self.spaces) != len(self.words):
            raise MismatchError(f"{len(self.words)} words but {len(self.spaces)} spaces")
        if self.tree is not None and tuple(self.tree.words()) != self.words:
            raise MismatchError("the leaves of the tree are not the words of the sentence")

    @classmethod
    def of(cls, tree: Tree) -> Sentence:
        """The sentence under a tree.

        >>> Sentence.of(Tree.from_string("(NP (DT the) (NN cat))")).tags
        ('DT', 'NN')
        """
        leaves = tree.leaves()
        return cls(tuple(leaf.word for leaf in leaves), tuple(leaf.tag for leaf in leaves), tree)

    def __len__(self) -> int:
        return len(self.words)


def _as_tuple(name: str, value: object) -> tuple[object, ...]:
    if isinstance(value, (str, bytes, set, frozenset, Tree)) or not isinstance(value, Iterable):
        examples = {"words": '["Some", "words"]', "tags": '["DT", "NNS"]', "spaces": "[True, False]"}
        raise InputError(f"the {name} of a sentence are a list, not {value!r}", hint=f"such as {examples[name]}")
    return tuple(value)


class Treebank(Sequence[Tree]):
    """Trees in memory, in the order of their files. NLTK trees are converted.

    >>> bank = Treebank([Tree.from_string("(TOP (NP (NNS Cats)))"), Tree.from_string("(TOP (NP (NNS Dogs)))")])
    >>> len(bank)
    2
    >>> print(bank[1])
    (TOP (NP (NNS Dogs)))
    >>> [sentence.words for sentence in bank.sentences()]
    [('Cats',), ('Dogs',)]
    """

    def __init__(self, trees: Iterable[Tree | nltk.Tree]) -> None:
        if isinstance(trees, Tree):
            raise UsageError("a treebank takes a list of trees, not one tree", hint="Treebank([tree])")
        self.trees = tuple(map(as_tree, trees))

    @classmethod
    def load(cls, *paths: str | Path) -> Treebank:
        """Reads files, folders and globs. Files may be gzipped (``.gz``)."""
        for path in paths:
            if not isinstance(path, str | Path):
                raise UsageError(f"a path is a string or a Path, not {path!r}", hint="Treebank.load(*paths)")
        with no_garbage_collection():
            bank = cls(iter_trees(*paths))
        if not bank:
            raise InputError("there are no trees", source=", ".join(map(str, paths)))
        return bank

    def save(self, path: str | Path) -> None:
        """Writes one tree per line."""
        with write_atomically(path) as file:
            file.writelines(f"{tree}\n" for tree in self.trees)

    def sentences(self) -> Iterator[Sentence]:
        """The words, tags and tree of each sentence, for a parser or for training."""
        return map(Sentence.of, self.trees)

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Treebank: ...
    def __getitem__(self, index: int | slice) -> Tree | Treebank:
        return Treebank(self.trees[index]) if isinstance(index, slice) else self.trees[index]

    def __len__(self) -> int:
        return len(self.trees)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Treebank) and self.trees == other.trees

    def __hash__(self) -> int:
        return hash(self.trees)

    def __repr__(self) -> str:
        return f"Treebank of {len(self)} trees"


def iter_trees(*paths: str | Path, unlabelled: str | None = None) -> Iterator[Tree]:
    """Streams trees from files, folders and globs; ``unlabelled`` as in ``read_trees``."""
    for path in find_files(paths):
        yield from read_trees(read_lines(path), str(path), unlabelled)
