"""A trained model to ONNX graphs that run without torch.

Running those graphs belongs in ``backends``.
"""
