"""validate on deployments that are right and wrong in many ways: the cause is named, once, and nothing else fails.

By default, a sample that changes from day to day; IOBENCH_DEPLOYMENTS=all, a number of rows, a part of their names, or
modules (locks.py,rules.py).
"""

import json
import os

import pytest

import day_sample
import lab as nfs_lab
from deployment import Deployment, serve_and_join
from deployments import all_rows, rows_of

SAMPLE = 5


def chosen_rows():
    rows, wanted = all_rows(), os.environ.get("IOBENCH_DEPLOYMENTS", str(SAMPLE))
    if wanted == "all":
        return rows
    if wanted.endswith(".py"):
        return [row for module in wanted.split(",") for row in rows_of(module.removesuffix(".py"))]
    if not wanted.isdigit():
        return [row for row in rows if wanted in row.name]
    return day_sample.of_today(rows, int(wanted))


@pytest.fixture(scope="session")
def disk_mb():
    return 512


@pytest.fixture(scope="module")
def served(lab):
    return serve_and_join(lab)


@pytest.mark.parametrize("row", chosen_rows(), ids=lambda row: row.name)
def test_the_cause_is_named_and_nothing_else_fails(row, served, directory_name, tmp_path):
    with Deployment(served, directory_name, tmp_path) as made:
        row.make(made)
        checks = made.validate(*row.options, fault=getattr(made, row.fault) if row.fault else None)
    facts = {fact["name"]: fact["answer"] for fact in json.loads((tmp_path / "report.json").read_text()).get("facts", [])}
    assert row.problems(checks, facts) == []
    served.run(nfs_lab.SERVER, ["rm", "-rf", made.on_server])
