"""Run a model: a batch of sentences goes in, charts and tags come out, on ONNX Runtime or on torch.

Model folders are read in ``storage``, models become ONNX graphs in ``export``, and trees are built in ``parsing``.
"""

import os

# From 1.29 on, ONNX Runtime notes the names and sizes of models in ~/.cache and sends them to its makers, unless this
# is set before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
