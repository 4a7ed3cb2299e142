"""``fencepost corpus``: parses many documents into files, in runs that can be stopped and resumed."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from fencepost.cli.shared import add_parsing_options, require_from_one

EXAMPLES: Final = """\
examples:
  fencepost corpus news.jsonl.gz --out parsed
  fencepost corpus books/ --out parsed --format parquet --workers 8
  fencepost corpus 'crawl/*.parquet' --id-column url --text-column content --out parsed --dry-run
  fencepost corpus sentences.txt --lines --out parsed
  fencepost corpus crawl/ --out /shared/parsed --format parquet --ray 10.0.0.1:6379

Documents come from .jsonl and .parquet files (one document per line or row) and .txt files (one document
per file, or per line with --lines); .jsonl and .txt files may be compressed (.gz, .zst). The output folder
gets part-*.jsonl or part-*.parquet with one record per sentence, errors.jsonl with the documents that
can't be parsed, and manifest.json. To resume a run that was stopped, run the same command again; the output is
the same as that of an uninterrupted run.

Exit status: 0 when all documents are parsed or listed in errors.jsonl; 2 for invalid options or inputs;
1 if the run couldn't continue, for example because the disk is full; 130 after Ctrl-C.
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "corpus",
        help="parse many documents into files",
        description="Parse many documents into JSON Lines or Parquet files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="files, folders or globs")
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder for the output")
    parser.add_argument(
        "--format", choices=("jsonl", "parquet"), default="jsonl", help="output format (default: jsonl)"
    )
    parser.add_argument(
        "--id-column",
        metavar="NAME",
        help="the field with the id of a document (default: id; documents without it are named FILE:LINE)",
    )
    parser.add_argument(
        "--text-column", metavar="NAME", default="text", help="the field with the text of a document (default: text)"
    )
    parser.add_argument("--lines", action="store_true", help="treat each line of a .txt file as a document")
    parser.add_argument("--probabilities", action="store_true", help="give the probability of each constituent")
    parser.add_argument("--model", help="a model folder, or the name of an installed model (default: en)")
    parser.add_argument(
        "--part-bytes",
        type=int,
        metavar="N",
        help="bytes of text in each part (default: 128 kB to 8 MB, so that there are about 256 parts)",
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="run on Ray: on the cluster at ADDRESS, or on this machine; put it after the inputs",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="estimate the output and the time that the run would take; write nothing"
    )
    add_parsing_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    require_from_one(arguments, "workers", "batch_tokens", "part_bytes")
    from fencepost.corpus.readers import Columns
    from fencepost.corpus.run import Job, Options, run_corpus

    options = Options(
        inputs=arguments.inputs,
        out=Path(arguments.out),
        format=arguments.format,
        columns=Columns(arguments.id_column, arguments.text_column, arguments.lines),
        probabilities=arguments.probabilities,
        model=arguments.model,
        device=arguments.device,
        precision=arguments.precision,
        batch_tokens=arguments.batch_tokens,
        part_bytes=arguments.part_bytes,
        workers=arguments.workers,
        ray=arguments.ray,
    )
    job = Job.of(options)
    if job.passed_over:
        files = "1 file that isn't" if job.passed_over == 1 else f"{job.passed_over:,} files that aren't"
        sys.stderr.write(f"note: skipped {files} .jsonl, .parquet or .txt\n")
    if arguments.dry_run:
        from fencepost.corpus.estimate import estimate

        print(estimate(options, job))
        return 0
    try:
        counts = run_corpus(options, job)
    except KeyboardInterrupt:
        command = shlex.join(["fencepost", *arguments.command_line])
        raise KeyboardInterrupt(f"resume with `{command}`") from None
    done = f"{_count(counts.documents, 'document')}, {_count(counts.sentences, 'sentence')}"
    sys.stderr.write(f"{done} in {options.out}\n")
    if counts.errors:
        sys.stderr.write(
            f"note: {_count(counts.errors, 'document')} couldn't be parsed: see {options.out / 'errors.jsonl'}\n"
        )
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
