"""Charts in numpy: scores of spans, the best tree, sums over trees, the k best trees, the tree of least risk.

This is the contract between every backend and everything after it. Nothing here knows where scores come from.
"""
