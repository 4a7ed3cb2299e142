"""Patterns over trees: Tregex's language, and an index that answers them over many trees at once.

``grammar`` and ``descriptions`` read a pattern into ``syntax``. ``definitions`` matches it against one tree, and is
written to be read: every relation is one short function. ``matcher`` counts the matches in one tree and ``listing``
lists them, both in bounded time. ``joins`` and ``counts`` answer the same question for many trees at once, whose
``columns`` are arrays. Regular expressions have Java's syntax (``java_regex``) and run in bounded time (``machine``).
``pattern`` is the public class, and ``index`` keeps the columns of a treebank on disk.
Nothing here draws or prints: the command is in ``cli``, colours are in ``drawing``.
"""
