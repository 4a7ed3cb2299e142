"""Phrase-structure trees and collections of them.

``tree`` is the type, ``brackets`` reads and writes it, ``spans`` turns it into labelled spans and back. ``treebank``,
``normalize``, ``split`` and ``stats`` work on many trees.
Nothing here knows about models or scores. Opening files is the job of ``storage``; drawing trees that of ``drawing``.
"""
