"""Run a model: a batch of sentences goes in, charts and tags come out, on ONNX Runtime or on torch.

Model folders are read in ``storage``, models become ONNX graphs in ``export``, and trees are built in ``parsing``.
"""
