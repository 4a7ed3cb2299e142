"""Pictures of trees, and the tools that every picture is made with.

Trees: ``boxes`` lays a tree out; ``terminal``, ``svg`` and ``html`` draw it.
Tools, shared with ``analysis``: ``text_width``, ``direction``, ``colours``, ``markup``, ``visible_text``.
Pictures of models (attention, errors) belong in ``analysis``. It imports this package; this package never imports it.
"""
