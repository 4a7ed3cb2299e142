"""All the vocabularies of one model, collected from its training trees."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np

from fencepost.config.settings import Config
from fencepost.errors import COPY_AGAIN, InputError, ModelError, TrainingError
from fencepost.features.batch import Ints
from fencepost.features.lexical_kinds import reads
from fencepost.features.possible_tags import PossibleTags
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.vocab import Labels, Vocab
from fencepost.storage.safe_json import parse_json
from fencepost.trees.brackets import DEFAULT_ROOT, ROOT_SYMBOLS
from fencepost.trees.functions import split_functions
from fencepost.trees.tree import Leaf, Tree, check_tags
from fencepost.trees.treebank import Sentence

FORMAT_VERSION: Final = 1

UNKNOWN, START, STOP = 0, 1, 2  # numbers of words and tags
TOKEN_MARKS: Final = 3
PADDING, UNKNOWN_LETTER, WORD_START, WORD_STOP, SENTENCE_START, SENTENCE_STOP = range(6)
LETTER_MARKS: Final = 6
NO_FUNCTION: Final = 0
MOST_TREEBANKS: Final = 1000
MARK: Final = ":"  # between a symbol and its treebank's name, in a model of several treebanks


@dataclass(frozen=True)
class TreebankPart:
    """What one treebank has of a model of several: its number, and the numbers of its labels and tags."""

    treebank: int
    labels: Ints  # the empty label first
    tags: Ints  # the marks first


@dataclass(frozen=True)
class Vocabularies:
    """``words`` is empty where the model has no word embeddings: CharLSTM models know letters only."""

    labels: Labels
    words: Vocab
    tags: Vocab
    letters: Vocab
    root: str  # the symbol put over every parsed tree
    pretrained: PretrainedFiles | None = None  # kept in files of their own
    functions: Vocab | None = None  # of phrases, where the model predicts them; 0 is no function
    possible_tags: PossibleTags | None = None  # where the model predicts tags; older models have none
    treebanks: tuple[str, ...] = ()  # of a model of several treebanks; labels and tags end in these names: NP:fo
    part: TreebankPart | None = None  # the labels and tags of one of them, if these are its vocabularies

    @classmethod
    def of(cls, trees: Sequence[Tree], config: Config, base: Vocabularies | None = None) -> Vocabularies:
        """The symbols in the trees. With ``base``: that model's vocabularies, followed by the symbols new to them.

        With ``scorer.functions``, labels such as NP-SBJ are split into a label and a function.
        """
        functions = None
        if config.scorer.functions:
            pairs = [split_functions(tree) for tree in trees]
            trees = [tree for tree, _ in pairs]
            marks = (mark for _, marks in pairs for mark in marks)
            functions = Vocab.of((mark.function for mark in marks if mark.function is not None), NO_FUNCTION + 1)
            if not functions.symbols:
                raise TrainingError(
                    "scorer.functions is set, and no label has a function such as NP-SBJ",
                    hint="keep them (fencepost treebank normalize --keep-functions), or set scorer.functions=false",
                )
        leaves = [leaf for tree in trees for leaf in tree.leaves()]
        treebanks = _treebanks(leaves) if reads(config, "treebanks") else ()
        words = (leaf.word for leaf in leaves) if reads(config, "words") else ()
        reads_encoder = reads(config, "subwords") and base is None
        seen = cls(
            labels=Labels.of(trees),
            words=Vocab.of(words, TOKEN_MARKS, config.words.min_count),
            tags=Vocab.of((leaf.tag for leaf in leaves), TOKEN_MARKS),
            letters=Vocab.of(chain.from_iterable(leaf.word for leaf in leaves), LETTER_MARKS),
            root=_root(trees),
            pretrained=PretrainedFiles.of(config.pretrained.model) if reads_encoder else None,
            functions=functions,
            possible_tags=PossibleTags.of(leaves) if config.scorer.predict_tags else None,
            treebanks=treebanks if base is None else (*base.treebanks, *sorted({*treebanks} - {*base.treebanks})),
        )
        return seen if base is None else base._extended(seen)

    def _extended(self, other: Vocabularies) -> Vocabularies:
        return replace(
            self,
            labels=self.labels.extended(other.labels),
            words=self.words.extended(other.words),
            tags=self.tags.extended(other.tags),
            letters=self.letters.extended(other.letters),
            root=other.root,
            treebanks=other.treebanks,
            functions=_extended_functions(self.functions, other.functions),
            possible_tags=_extended_tags(self.possible_tags, other.possible_tags),
        )

    def treebank_of(self, sentence: Sentence) -> int:
        """The number of the treebank that a sentence belongs to: these are its vocabularies, or its tags say it."""
        if self.part is not None:
            return self.part.treebank
        name = sentence.tags[0].rpartition(MARK)[2] if sentence.tags else ""
        return self._treebank_numbers.get(name, UNKNOWN)

    @cached_property
    def _treebank_numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.treebanks, 1)}

    def of_treebank(self, name: str) -> Vocabularies:
        """The labels and tags of one treebank, without its name after them. Letters and words are shared."""
        labels = [0, *(number for number, chain in enumerate(self.labels.chains) if chain and _is_of(chain[0], name))]
        if len(labels) == 1 or not all(_is_of(label, name) for each in labels for label in self.labels.chains[each]):
            raise ModelError(f"vocab.json is damaged: the labels of {name} lack its name, or it has none")
        tags = [*range(TOKEN_MARKS), *(number for tag, number in self.tags.ids.items() if _is_of(tag, name))]
        part = TreebankPart(self._treebank_numbers[name], np.array(labels), np.array(tags))
        return replace(
            self,
            labels=Labels(tuple(tuple(_plain(label) for label in self.labels.chains[each]) for each in labels)),
            tags=Vocab(
                tuple(_plain(self.tags.symbol(each)) for each in tags[TOKEN_MARKS:]),
                tuple(self.tags.counts[each - TOKEN_MARKS] for each in tags[TOKEN_MARKS:]),
                TOKEN_MARKS,
            ),
            possible_tags=None if self.possible_tags is None else _possible_in(self.possible_tags, name),
            part=part,
        )

    def to_json(self) -> str:
        table: dict[str, Any] = {
            "format": FORMAT_VERSION,
            "root": self.root,
            "labels": self.labels.to_json(),
            "tags": self.tags.to_json(),
            "letters": self.letters.to_json(),
            "words": self.words.to_json(),
        }
        if self.functions is not None:
            table["functions"] = self.functions.to_json()
        if self.possible_tags is not None:
            table["possible_tags"] = self.possible_tags.to_json()
        if self.treebanks:
            table["treebanks"] = list(self.treebanks)
        return json.dumps(table, ensure_ascii=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Vocabularies:
        """Raises ModelError unless the text is a vocab.json that a model can use. It may come from a stranger."""
        try:
            table = parse_json(text)
            version, root = table["format"], table["root"]
            if type(version) is not int or version < 1:
                raise ValueError(f"the format is {version!r:.20}")
            if version > FORMAT_VERSION:
                raise ModelError(
                    f"the model has format {version}; this fencepost reads formats up to {FORMAT_VERSION}",
                    hint="pip install --upgrade fencepost",
                )
            check_tags([root])
            functions, possible = table.get("functions"), table.get("possible_tags")
            tags = Vocab.from_json(table["tags"], TOKEN_MARKS).require_symbols()
            return cls(
                labels=Labels.from_json(table["labels"]),
                words=Vocab.from_json(table["words"], TOKEN_MARKS).require_words(),
                tags=tags,
                letters=Vocab.from_json(table["letters"], LETTER_MARKS).require_letters(),
                root=root,
                functions=None if functions is None else Vocab.from_json(functions, NO_FUNCTION + 1).require_symbols(),
                possible_tags=None if possible is None else PossibleTags.from_json(possible, tags),
                treebanks=_checked_names(table.get("treebanks", [])),
            )
        except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:
            problem = error.message if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            raise ModelError(f"vocab.json is damaged: {problem:.200}", hint=COPY_AGAIN) from error


def _extended_functions(ours: Vocab | None, theirs: Vocab | None) -> Vocab | None:
    """``theirs`` decides whether the new model predicts functions."""
    return theirs if ours is None or theirs is None else ours.extended(theirs)


def _extended_tags(ours: PossibleTags | None, theirs: PossibleTags | None) -> PossibleTags | None:
    """None if one of them is: nothing is known about the tags of the other trees."""
    return None if ours is None or theirs is None else ours.extended(theirs)


def _treebanks(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    names = {leaf.tag.rpartition(MARK)[2] for leaf in leaves if MARK in leaf.tag}
    unmarked = next((leaf for leaf in leaves if MARK not in leaf.tag), None)
    if unmarked is not None:
        raise TrainingError(
            f"a model of several treebanks needs a treebank's name after each label and tag; {unmarked.tag} has none",
            hint="write (NP:fo (PRO-N:fo Eg)), as models/languages/prepare_languages.py does",
        )
    return tuple(sorted(names))


def _checked_names(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or len(names) > MOST_TREEBANKS or len(set(names)) != len(names):
        raise ValueError(f"the treebanks are not a list of at most {MOST_TREEBANKS} distinct names")
    check_tags(names)
    return tuple(names)


def _is_of(symbol: str, treebank: str) -> bool:
    return symbol.endswith(MARK + treebank) and len(symbol) > len(MARK + treebank)


def _plain(symbol: str) -> str:
    """``NP`` of ``NP:fo``."""
    return symbol.rpartition(MARK)[0]


def _possible_in(possible: PossibleTags, treebank: str) -> PossibleTags:
    def own(tags: Sequence[str]) -> tuple[str, ...]:
        return tuple(_plain(tag) for tag in tags if _is_of(tag, treebank))

    signs = {sign: own(tags) for sign, tags in possible.signs.items()}
    return PossibleTags(
        {sign: tags for sign, tags in signs.items() if tags}, own(possible.rare_signs), own(possible.words)
    )


def _root(trees: Sequence[Tree]) -> str:
    """The most frequent root symbol. A root that is a phrase is predicted like any other, and goes below this."""
    symbols = Counter(tree.label for tree in trees if tree.label in ROOT_SYMBOLS)
    return max(symbols, key=symbols.__getitem__, default=DEFAULT_ROOT)
