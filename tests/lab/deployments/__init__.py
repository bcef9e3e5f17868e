"""Deployments that validate meets, right and wrong ones: a row says how one is made, and what must be said of it.

Each module of this package has ROWS, of one kind. test_deployments.py runs them.
"""

import dataclasses
import importlib
import pathlib
import typing


@dataclasses.dataclass(frozen=True)
class Says:
    """What a check must say: its verdict, and words of what it found, its evidence or its advice; each as it stands there."""

    verdict: str
    words: tuple = ()
    not_words: tuple = ()  # that would send the reader to the wrong place

    def problems(self, check):
        text = " ".join([check.get("found", ""), *check.get("evidence", []), check.get("advice", "")])
        return [*([f"is {check['verdict']} instead of {self.verdict}"] if check["verdict"] != self.verdict else []),
                *[f"does not say {word!r}" for word in self.words if word not in text],
                *[f"says {word!r}" for word in self.not_words if word in text]]


@dataclasses.dataclass(frozen=True)
class Row:
    """A deployment. make: called with a deployment.Deployment; mounts it, breaks it, and tells its undo() how to mend the lab.

    must: by check. One cause is one finding: every check that is not in `must` may pass, warn, be skipped or follow from
    another, but not fail. options: of validate; by default, its quick set with few names. fault: the name of the
    Deployment's method that makes the fault.
    """

    name: str
    make: typing.Callable
    must: dict
    options: tuple = ("--clock-difference", "3", "--names", "200")
    fault: str = ""
    facts: dict = dataclasses.field(default_factory=dict)  # ValidateReport.facts: name -> a part of its answer

    def problems(self, checks, facts):
        """What is wrong with the report, as lines; facts: answers by name."""
        found = [f"{name} {problem}" for name, says in self.must.items() for problem in says.problems(checks[name])]
        found += [f"{name} fails: {check['found']}" for name, check in checks.items()
                  if check["verdict"] == "fail" and name not in self.must]
        return found + [f"fact {name} is {facts.get(name)!r} instead of {answer!r}" for name, answer in self.facts.items()
                        if answer not in facts.get(name, "")]


def rows_of(module):
    """Of one module of this package."""
    return importlib.import_module(f"{__name__}.{module}").ROWS


def all_rows():
    """Of all modules of this package, in the order of their names."""
    modules = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("[a-z]*.py"))
    rows = [row for name in modules for row in rows_of(name)]
    assert len({row.name for row in rows}) == len(rows), "two rows have one name"
    return rows
