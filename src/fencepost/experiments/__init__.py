"""The paper's tables: one TOML file per table (``acl2018/``), the runner, and the pages it writes.

Training itself belongs in ``training``, scoring in ``evaluation``.
"""
