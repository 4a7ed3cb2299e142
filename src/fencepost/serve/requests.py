"""The body of ``POST /v1/parse``: read, checked, and turned into sentences to parse."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fencepost.serve.batching import Placed, Wish
from fencepost.serve.failures import InvalidError
from fencepost.serve.settings import MOST_TREES
from fencepost.text.sentences import Mode
from fencepost.text.stream import TextSentence, read_stream
from fencepost.text.tokens import Token
from fencepost.trees.tree import NOT_TEXT


class ParseRequest(BaseModel):
    """Either ``text`` or ``tokens``, and what to say about them."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: Annotated[str | list[str] | None, Field(description="a text, or a list of texts")] = None
    tokens: Annotated[
        list[str] | list[list[str]] | None,
        Field(description="the words of a sentence, or a list of sentences, each a list of words"),
    ] = None
    model: Annotated[str | None, Field(description="the name of a model (default: the server's first)")] = None
    kbest: Annotated[int, Field(ge=0, le=MOST_TREES, description="the number of best trees for each sentence")] = 0
    probabilities: Annotated[bool, Field(description="give the probability of each constituent")] = False
    functions: Annotated[bool, Field(description="give the function of each constituent: NP-SBJ, PP-LOC, …")] = False
    mode: Annotated[
        Mode,
        Field(
            description="text: a line end is a space; paragraph: no sentence crosses one; line: one sentence per line"
        ),
    ] = "text"
    format: Annotated[Literal["json", "brackets"], Field(description="json, or plain text with one tree per line")] = (
        "json"
    )
    stream: Annotated[bool, Field(description="send each sentence as soon as it is parsed, as a line of JSON")] = False

    @property
    def wish(self) -> Wish:
        return Wish(self.kbest, self.probabilities, self.functions)

    @property
    def size(self) -> int:
        """Characters, roughly."""
        if isinstance(self.text, str):
            return len(self.text)
        return sum(map(len, self.text or ())) + sum(map(len, self.tokens or ())) * 5

    def sentences(self, language: str) -> Iterator[Placed]:
        if self.tokens is not None:
            given: Sequence[Any] = self.tokens
            sentences: list[list[str]] = [list(given)] if given and isinstance(given[0], str) else list(given)
            return (Placed(number, of_tokens(words)) for number, words in enumerate(sentences))
        texts = [self.text] if isinstance(self.text, str) else self.text or []
        return (
            Placed(number, each)
            for number, text in enumerate(texts)
            for each in read_stream(in_pieces(text), self.mode, language)
        )


PIECE: Final = 8_192  # characters
EXAMPLE: Final = '{"text": "It works."}'
_WRONG: Final = {
    "text": "text must be a string or a list of strings",
    "tokens": "tokens must be a list of words, or a list of lists of words",
}
Fields = TypeVar("Fields", bound=BaseModel)


def read_request(body: bytes) -> ParseRequest:
    """The request in a body. Raises InvalidError if it isn't one."""
    request = read_fields(ParseRequest, body, EXAMPLE, _WRONG)
    if (request.text is None) == (request.tokens is None):
        problem = "text or tokens is missing" if request.text is None else "give text or tokens, not both"
        raise InvalidError(problem, hint=f"such as {EXAMPLE}")
    if request.stream and request.format != "json":
        raise InvalidError("a stream is always JSON", hint='leave out "format" or "stream"')
    return request


def read_fields(kind: type[Fields], body: bytes, example: str, wrong: Mapping[str, str]) -> Fields:
    """The fields in a body. ``wrong`` has the message for fields whose types are hard to describe otherwise."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise _invalid(error, kind, example, wrong) from None


def in_pieces(text: str) -> Iterator[str]:
    """A text as it would come from a file: it is split into sentences piece by piece, not for seconds at a stretch."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def of_tokens(words: Sequence[str]) -> TextSentence:
    """A sentence that is already split into words. Its text has blanks between them."""
    tokens: list[Token] = []
    start = 0
    for word in words:
        tokens.append(Token(word, start, start + len(word), NOT_TEXT.sub("\ufffd", word)))
        start += len(word) + 1
    return TextSentence(" ".join(words), 0, tokens, tokenized=True)


def _invalid(error: ValidationError, kind: type[BaseModel], example: str, wrong: Mapping[str, str]) -> InvalidError:
    """The first problem in one sentence."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = [str(part) for part in problem["loc"]]
    if problem["type"] == "json_invalid":
        return InvalidError(f"the body isn't JSON: {problem['ctx']['error']}", hint=f"such as {example}")
    if not where:
        return InvalidError("the body must be a JSON object", hint=f"such as {example}")
    if problem["type"] == "missing":
        return InvalidError(f"{where[0]} is missing", hint=f"such as {example}")
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where[0], kind.model_fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the fields are {', '.join(kind.model_fields)}"
        return InvalidError(f"unknown field {where[0][:50]!r}", hint=hint)
    message = problem["msg"][:1].lower() + problem["msg"][1:]
    return InvalidError(wrong.get(where[0], f"{where[0]}: {message}"))
