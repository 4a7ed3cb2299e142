"""Measures of syntactic complexity over trees: one row of figures for a text.

``l2sca`` counts Lu's structures by his patterns, ``depth`` has Yngve's and Frazier's depth, ``shape`` counts nodes and
branches, and ``measure`` adds them up for the trees of a text. ``docs/measures.md`` defines every figure.
Nothing here parses, reads files or prints: the command is in ``cli``.
"""
