"""Reports on a trained model: its errors, and where its attention goes.

``attention`` reads one sentence and ``heads`` averages over many; ``svg`` and ``png`` draw charts; ``report`` writes
the page; ``run`` does it all for ``fencepost analyze``.
Scores come from ``evaluation``; drawing tools and pictures of trees from ``drawing``.
"""
