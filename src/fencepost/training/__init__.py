"""Training: from a treebank to a model folder, in one loop that can be interrupted and resumed exactly.

Read it in this order: ``train`` (the public function), ``run`` (one run from start to end), ``trainer`` (the loop's
steps and checks), ``data`` (trees as numbers), ``prefetch`` (the next batch, made in ``preparing``), ``losses``,
``saving`` (checkpoint, model folder, resuming).
The model itself is in ``model/``, scoring in ``evaluation/``; nothing here knows about the command line.
"""
