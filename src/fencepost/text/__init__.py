"""Raw text to sentences to tokens, each with its place in the text.

Nothing here knows about trees, models or numbers.
"""

from fencepost.text.sentences import Mode, Span, read_sentences, split_sentences
from fencepost.text.stream import TextSentence, read_stream
from fencepost.text.tokens import Token, tokenize

__all__ = ["Mode", "Span", "TextSentence", "Token", "read_sentences", "read_stream", "split_sentences", "tokenize"]
