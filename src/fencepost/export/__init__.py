"""Turns a trained model into ONNX graphs that run without torch.

Running those graphs belongs in ``backends``.
"""
