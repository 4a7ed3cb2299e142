"""The paper's model in torch, and nothing else: words -> vectors -> vectors in context -> scores of spans -> losses.

``build`` turns a configuration into modules, ``parser_model`` holds the whole model, ``docs/paper.md`` says where each
equation is. Where a GPU has a faster way to compute a formula, ``cuda.available`` says so and ``cuda`` has that way.

What does not belong here: searching charts (``chart``, ``backends.charts``), reading text or files (``features``,
``storage``), running a trained model (``backends``) and the training loop (``training``).
"""
