"""A look inside a trained model: where its errors are and what its attention heads look at, as one HTML page.

Pictures of trees belong in ``drawing``, whose primitives this room shares.
"""
