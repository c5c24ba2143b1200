"""Options of the command line that several papers have."""

import argparse
from pathlib import Path

_HERE = Path(__file__).parent


def add_run_options(parser, seeds):
    """Add what says how much is measured, by how many processes, and kept where.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of a paper.

    seeds : str
        What there is one of for each seed.
    """
    add = parser.add_argument
    add("--figure", type=Path, help="file of the figure; default: it is not drawn")
    add("--seeds", type=_positive, default=3, help=f"{seeds}, default 3")
    add("--jobs", type=_positive, default=2, help="processes, default 2")
    add("--results", type=Path, default=_HERE / "results", help="folder of results")


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
