"""The paper's model in torch, and nothing else: words -> vectors -> vectors in context -> scores of spans -> losses.

``build`` turns a configuration into modules, ``parser_model`` has the whole model, and ``docs/paper.md`` lists where
each equation is. ``cuda`` computes some formulas faster on a GPU, and ``cuda.available`` decides when it does.

What does not belong here: searching charts (``chart``, ``backends.charts``), reading text or files (``features``,
``storage``), running a trained model (``backends``) and the training loop (``training``).
"""
