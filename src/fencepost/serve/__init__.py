"""The HTTP service (``fencepost serve``) and its page.

``app`` has the endpoints, ``batching`` parses the sentences of all clients together, ``corenlp`` speaks as CoreNLP's
server does, ``protocol`` keeps connections within limits, and ``page/`` is what a browser shows.
Parsing itself belongs in ``parsing``, and the plain data of a parsed sentence in ``parsing/records.py``.
"""
