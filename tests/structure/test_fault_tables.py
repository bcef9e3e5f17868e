"""Each row of the tables of docs/faults.md is tested, and what is tested has its row."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import fault_table  # noqa: E402


@pytest.mark.parametrize("table", [fault_table.MATRIX, fault_table.LAB], ids=["faults", "lab"])
def test_the_rows_of_the_docs_are_those_of_the_tests(table):
    assert list(table.rows()) == table.keys, "IOBENCH_UPDATE_GOLDEN=1 with these tests writes the table"
