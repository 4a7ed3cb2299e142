"""A spaCy component: ``nlp.add_pipe("fencepost")``, then ``sentence._.parse_string``. The names are benepar's."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple
from weakref import finalize

from fencepost.errors import InputError, MissingExtraError, ModelError, UsageError
from fencepost.parsing.confidence import Analysis, without_probabilities
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.storage.find_model import DEFAULT_MODEL, find_model, split_language
from fencepost.storage.model_files import listed_files
from fencepost.storage.model_folder import ModelFolder
from fencepost.text.languages import forms_of
from fencepost.text.sentences import length_problem
from fencepost.trees.treebank import Sentence

try:
    import srsly
    from spacy.language import Language
    from spacy.tokens import Doc, Span
except ImportError as error:
    raise MissingExtraError("spacy", "spacy", "the spaCy component") from error

from fencepost.features.lexical_kinds import reads
from fencepost.integrations.spacy_language import require_fit, split_doc
from fencepost.integrations.spacy_spans import (
    Constituents,
    NonConstituentError,
    is_word,
    register,
    tag_of,
    token_offsets,
    word_of,
)
from fencepost.integrations.universal_tags import universal_tags

__all__ = ["FencepostComponent", "NonConstituentError", "create_component"]
BENEPAR_ENGLISH: Final = "benepar_en"  # how the names of benepar's English models begin
DEFAULTS: Final = {
    "model": None,
    "device": "cpu",
    "disable_tagger": False,
    "probabilities": False,
    "functions": False,
    "spans_key": None,
    "pos": False,
    "subbatch_max_tokens": None,
}
register()


@Language.factory("fencepost", assigns=["token.tag"], default_config=DEFAULTS)
def create_component(
    nlp: Language,
    name: str,
    model: str | None,
    device: str,
    disable_tagger: bool,
    probabilities: bool,
    functions: bool,
    spans_key: str | None,
    pos: bool,
    subbatch_max_tokens: int | None,
) -> FencepostComponent:
    return FencepostComponent(
        name,
        model,
        device,
        disable_tagger,
        probabilities,
        subbatch_max_tokens,
        functions,
        spans_key=spans_key,
        pos=pos,
        language=nlp.lang,
    )


class Task(NamedTuple):
    """A sentence of a document, where to store its tree, and the indices of its words: its tokens except whitespace."""

    doc: Doc
    parse: Constituents
    words: list[int]
    sentence: Sentence


class FencepostComponent:
    """Parses the sentences of documents. Each process loads the model when it gets its first document."""

    def __init__(
        self,
        name: str = "fencepost",
        model: str | None = None,
        device: str = "cpu",
        disable_tagger: bool = False,
        probabilities: bool = False,
        subbatch_max_tokens: int | None = None,
        functions: bool = False,
        *,
        spans_key: str | None = None,
        pos: bool = False,
        language: str | None = None,
    ) -> None:
        """``language``: the pipeline's; the model must have the same one. None: any model."""
        if pos and disable_tagger:
            raise UsageError(
                "pos needs the model's tags, but disable_tagger turns them off", hint="use only one of the two"
            )
        self.spans_key = spans_key
        self.pos = pos
        self.language = language
        self.name = name
        self.model = model
        self.device = device
        self.disable_tagger = disable_tagger
        self.probabilities = probabilities
        self.functions = functions
        self.subbatch_max_tokens = subbatch_max_tokens
        self._loaded: tuple[int, Parser] | None = None  # process id, parser
        self._scratch = False  # True if the model came as bytes, and is in a temporary folder

    @property
    def parser(self) -> Parser:
        if self._loaded is None or self._loaded[0] != os.getpid():
            # A forked process doesn't have the threads of a loaded model, so it loads the model again.
            if self._loaded is not None and (torch := sys.modules.get("torch")):
                torch.set_num_threads(1)
            parser = load(_our_model(self.model), device=self.device)
            require_fit(parser, self.language, pos=self.pos)
            self._loaded = os.getpid(), parser
        return self._loaded[1]

    def __call__(self, doc: Doc) -> Doc:
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Yields documents in order; the sentences of ``batch_size`` documents are parsed together."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            self._parse(batch)
            yield from batch

    def _parse(self, docs: list[Doc]) -> None:
        parses = [Constituents(token_offsets(doc, 0, len(doc))) for doc in docs]
        tasks = [task for doc, parse in zip(docs, parses, strict=True) for task in self._tasks(doc, parse)]
        analyses = self._analyses([task.sentence for task in tasks if not length_problem(len(task.words))])
        for task in tasks:
            if too_long := length_problem(len(task.words)):
                task.parse.add(task.words, ())
                warnings.warn(f"a sentence has {too_long}, and gets a flat tree", stacklevel=2)
                continue
            analysis = next(analyses)
            task.parse.add(task.words, analysis.constituents)
            self._tag(task, analysis)
        for doc, parse in zip(docs, parses, strict=True):
            parse.save(doc)
            if self.spans_key is not None:
                doc.spans[self.spans_key] = parse.spans(doc)

    def _tasks(self, doc: Doc, parse: Constituents) -> Iterator[Task]:
        if not doc.has_annotation("SENT_START"):
            split_doc(doc, self.parser.text_language)
        for span in doc.sents:
            words = [token.i for token in span if is_word(token)]
            if words:
                yield Task(doc, parse, words, self._sentence(span, words))

    def _sentence(self, span: Span, words: list[int]) -> Sentence:
        tokens = [span.doc[index] for index in words]
        spans = [(token.idx - span.start_char, token.idx + len(token) - span.start_char) for token in tokens]
        forms = tuple(word_of(form) for form in forms_of(self.parser.text_language, span.text, spans))
        spaces = tuple(following.idx > token.idx + len(token) for token, following in pairwise(tokens))
        tags = None
        if reads(self.parser.config, "tags"):
            tags = tuple(map(tag_of, tokens))
            if not all(tags):
                raise InputError(
                    f"the model {self.model or DEFAULT_MODEL} reads tags, and this document has none",
                    hint="put a tagger before fencepost, or use a model that doesn't read tags",
                )
        return Sentence(forms, tags, spaces=(*spaces, bool(tokens[-1].whitespace_)))

    def _analyses(self, sentences: list[Sentence]) -> Iterator[Analysis]:
        if self.probabilities:
            return self.parser.iter_analyze(
                sentences, k=0, batch_tokens=self.subbatch_max_tokens, functions=self.functions
            )
        if self.functions:
            return self.parser.iter_functions(sentences, batch_tokens=self.subbatch_max_tokens)
        trees = self.parser.parse(sentences, batch_tokens=self.subbatch_max_tokens)
        return (without_probabilities(tree, score=0.0) for tree in trees)

    def _tag(self, task: Task, analysis: Analysis) -> None:
        if self.disable_tagger or not self.parser.config.scorer.predict_tags or task.sentence.tags:
            return
        for index, tag in zip(task.words, analysis.tree.tags(), strict=True):
            task.doc[index].tag_ = tag
        if self.pos:
            for index, part in zip(task.words, universal_tags(analysis.tree, self.parser.text_language), strict=True):
                task.doc[index].pos_ = part

    # A stored pipeline contains its model, so that it can be moved to another machine.

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the model to a folder, and deletes a model already there: some of its files would be read as well."""
        files, folder = self._files(), Path(path)
        for name in map(_plain, listed_files(folder)):
            (folder / name).unlink(missing_ok=True)
        _write(files, folder)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> FencepostComponent:
        _, language = split_language(self.model)  # stored with the pipeline's settings, and not with the model
        folder = str(Path(path).absolute())
        self.model = folder if language is None else f"{folder}:{language}"
        self._loaded, self._scratch = None, False
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        content: bytes = srsly.msgpack_dumps(self._files())
        return content

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> FencepostComponent:
        try:
            files = srsly.msgpack_loads(bytes_data)
        except Exception as error:  # its errors have no common parent
            raise _not_stored() from error
        folder = Path(mkdtemp(prefix="fencepost-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        _write(files, folder)
        self.from_disk(folder)
        self._scratch = True
        return self

    def _files(self) -> dict[str, bytes]:
        return ModelFolder.read(_our_model(self.model), _contents)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the parser, which is loaded again from its folder, but keeps a model that came as bytes."""
        content = self.to_bytes() if self._scratch else None
        return {**vars(self), "_loaded": None, "content": content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = state.pop("content")
        vars(self).update(state)
        if content is not None:
            self.from_bytes(content)


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes the files of a model, which may come from a stranger."""
    parts = files.items() if isinstance(files, Mapping) else [(None, files)]
    if not all(isinstance(name, str) and isinstance(content, bytes) for name, content in parts):
        raise _not_stored()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / _plain(name)
        path.unlink(missing_ok=True)  # a link would lead to another file
        path.write_bytes(content)


def _not_stored() -> ModelError:
    return ModelError("these bytes aren't a stored model", hint="from_bytes reads what to_bytes wrote")


def _plain(name: str) -> str:
    """Checks the name of a model file. It may come from an untrusted source, and must not lead out of the folder."""
    if name in ("", ".", "..") or not {"/", "\\", "\0"}.isdisjoint(name):
        raise ModelError(f"{name!r} can't be the name of a model file")
    return name


def _contents(folder: ModelFolder) -> dict[str, bytes]:
    return {name: (folder.path / name).read_bytes() for name in map(_plain, listed_files(folder.path))}


def _our_model(name: str | None) -> str | Path:
    if name is None:
        return find_model()
    if not name.startswith(BENEPAR_ENGLISH) or Path(name).exists():
        return name
    warnings.warn(
        f"{name} is a benepar model; fencepost's own model {DEFAULT_MODEL} is used instead "
        "(`fencepost import-benepar` converts benepar models)",
        stacklevel=2,
    )
    return find_model()
