"""The parser: checks sentences, groups them into chunks and batches, scores them and builds trees, in order.

Reading text belongs in ``text``, running a model in ``backends``, and writing output in ``cli``.
"""
