"""The parser: sentences are checked, cut into chunks, batched, scored and turned into trees, in the order they came.

Reading text belongs in ``text``, running a model in ``backends``, and writing output in ``cli``.
"""
