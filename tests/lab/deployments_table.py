#!/usr/bin/env python3
"""Prints the rows of tests/lab/deployments as the table of docs/validate.md ("Deployments that it was tried on")."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from deployments import all_rows  # noqa: E402


def said_of(row):
    said = [f"`{name}`: {says.verdict}" for name, says in row.must.items()]
    said += [f"{len(row.facts)} facts as they are"] if row.facts else []
    return ", ".join(said) or "nothing fails"


if __name__ == "__main__":
    print("| deployment | what `validate` says |\n|---|---|")
    for row in all_rows():
        print(f"| {row.name} | {said_of(row)} |")
