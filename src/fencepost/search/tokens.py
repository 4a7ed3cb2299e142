"""Cuts a pattern into tokens: relations, labels, expressions, numbers and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from fencepost.errors import PatternError

_RELATION: Final = r"""<<<|<\.\.\.|<<[,\-`:#]|>>[,\-`:\#]|\$\+\+|\$--|\$\.\.|\$,,|<<|>>|[<>][,\-`:\#]|<=|\$[+\-.,]|==
    |\.\.|,,|[<>$.,:]"""
_BLANK: Final = r" \t\r\n\f"
_NOT_IN_LABELS: Final = r"(/@!#%&)=?\[\]><~.,$:" + _BLANK
_START: Final = rf"[^{_NOT_IN_LABELS}0-9_|]"
_TOKEN: Final = re.compile(
    rf"""(?P<blank>[{_BLANK}]+)
    |(?P<apostrophe>(?:<<?|>>?)'(?=[{_BLANK}]*[(!@{_BLANK}]+(?:{_START}|[/_"])))
    |(?P<chain>[<>.,]\+)
    |(?P<relation>{_RELATION})
    |(?P<regex>/(?:[^/\n\r\\]|\\[^\n\r])*/[A-Za-z]*)
    |(?P<quoted>"(?:[^"\\]|\\.)+")
    |(?P<any>__)
    |(?P<root>_ROOT_)
    |(?P<number>[0-9]+|-[0-9]+(?![^{_NOT_IN_LABELS}]))
    |(?P<label>{_START}[^{_NOT_IN_LABELS}]*)
    |(?P<sign>[()\[\]!?&|=~@\#%])""",
    re.VERBOSE,
)
_BRACES: Final = re.compile("[{};]")

Kind = Literal["chain", "relation", "regex", "quoted", "any", "root", "number", "label", "sign", "end"]


@dataclass(frozen=True)
class Token:
    kind: Kind
    text: str
    column: int  # from 1
    glued: bool  # nothing stands between this token and the one before it

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


def read_tokens(pattern: str) -> list[Token]:
    """The tokens of a pattern, followed by an empty one that marks the end."""
    tokens: list[Token] = []
    at, glued, braces = 0, False, 0
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None:
            _stray(pattern, at)
        kind, text = match.lastgroup, match[0]
        if kind == "blank":
            at, glued = match.end(), False
            continue
        if kind == "label" and (braces or (tokens and tokens[-1].text == "<...")):
            # In <... { A ; B } the signs { ; } aren't part of labels, as they are elsewhere.
            text = text[0] if text[0] in "{};" else _BRACES.split(text, maxsplit=1)[0]
            braces += {"{": 1, "}": -1}.get(text, 0)
            kind = "sign" if text in "{};" else "label"
        token_text = f"{text[:-1]}-" if kind == "apostrophe" else text
        token_kind: Kind = "relation" if kind == "apostrophe" else kind  # type: ignore[assignment]
        tokens.append(Token(token_kind, token_text, at + 1, glued))
        at, glued = at + len(text), True
    tokens.append(Token("end", "", len(pattern.rstrip()) + 1, False))
    return tokens


def _stray(pattern: str, at: int) -> NoReturn:
    character = pattern[at]
    if character == "/":
        raise PatternError("this expression is never closed", pattern, at + 1, hint="end it with /, as in /^NP/")
    hint = "a label begins with a letter; write any other as an expression, such as /^_$/"
    raise PatternError(f"{character!r} can't begin a label", pattern, at + 1, hint=hint)
