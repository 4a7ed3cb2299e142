"""Long attacks on fencepost, with seeds. ``tests/attacks`` has the short ones, one for each hole that was found.

    python -m benchmarks.attacks brackets --cases 1000000 --seed 1 --processes 8
    python -m benchmarks.attacks text --cases 1000000 --seed 1 --processes 8 --through pipe
    python -m benchmarks.attacks text --cases 20000 --seed 1 --through spacy
    python -m benchmarks.attacks splitting --cases 1400000 --seed 1
    python -m benchmarks.attacks patterns --cases 2000 --seed 1
    python -m benchmarks.attacks folders --cases 5000 --seed 1
    python -m benchmarks.attacks crafted --cases 2247
    python -m benchmarks.attacks kills --cases 130 --seed 1 --device cpu
    python -m benchmarks.attacks kills --cases 100 --seed 1 --of commands
    python -m benchmarks.attacks kills --cases 40 --seed 1 --of serve
    python -m benchmarks.attacks disks --cases 200 --seed 1
    python -m benchmarks.attacks guided --of graphs --seconds 600
    python -m benchmarks.attacks soak --cases 1000000 --through parse
    python -m benchmarks.attacks report

Each one adds a line to docs/results/reliability.jsonl; ``report`` writes the table in docs/results/reliability.md.
``--seconds`` stops an attack after a time, as SIGTERM does at any time; with ``--state FOLDER`` the same command goes
on where it stopped. An input that made the program fail goes to ``benchmarks/attacks/corpus``, and every later run
begins with it.
"""
