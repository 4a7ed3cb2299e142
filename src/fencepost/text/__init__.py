"""Splits raw text into sentences and tokens, each with its position in the text.

Nothing here depends on models.
"""

from fencepost.text.languages import Rules, rules
from fencepost.text.sentences import Mode, Span, read_sentences, split_sentences
from fencepost.text.stream import TextSentence, read_stream
from fencepost.text.tokens import Token, tokenize

__all__ = [
    "Mode",
    "Rules",
    "Span",
    "TextSentence",
    "Token",
    "read_sentences",
    "read_stream",
    "rules",
    "split_sentences",
    "tokenize",
]
