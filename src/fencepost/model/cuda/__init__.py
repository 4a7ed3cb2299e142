"""The model's operations on a GPU: Triton kernels, and CUDA graphs for whole layers.

``available`` alone decides whether they apply. A ``*_kernels`` module holds Triton code; another module wraps it for
torch's autograd: ``attention_kernels`` and ``packed_attention``, ``layer_kernels`` and ``layer_sums``, ``lstm_kernels``
and ``letters``, ``span_kernels`` and ``spans``. ``backends.charts`` wraps ``chart_kernels``. Triton isn't installed
everywhere, so a wrapper imports its kernels only when it launches them.

What does not belong here: formulas that ``model`` doesn't have. Every function computes what its counterpart in
``model`` or ``chart`` computes, up to rounding, and the tests compare the two.
"""
