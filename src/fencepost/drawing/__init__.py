"""Pictures: trees in the terminal, as SVG and as HTML, and the primitives that every picture is made of.

What a picture is about (attention, errors) belongs in ``analysis``.
"""
