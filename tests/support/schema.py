"""Checks a result.json against docs/result.schema.json."""

import json
import pathlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA_PATH = ROOT / "docs" / "result.schema.json"


def _reject_constant(name):
    raise AssertionError(f"{name} is not JSON; a number that is not finite must be null")


def load(path):
    """The parsed result; NaN and Infinity, which Python would accept, are errors."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"), parse_constant=_reject_constant)


# They are listed with the kinds of ops, but are none.
FLUSH_CALLS = ("fsync", "fdatasync", "sync-file-range", "commit", "close")


def op_kinds():
    """The names of kinds of ops, in the schema's order."""
    return load(SCHEMA_PATH)["$defs"]["PhaseReport"]["properties"]["by_kind"]["propertyNames"]["enum"]


def validator():
    return jsonschema.Draft202012Validator(load(SCHEMA_PATH))


def problems(result):
    """Violations of the schema by `result`: one line each, which begins with the place. Empty if there are none."""
    errors = sorted(validator().iter_errors(result), key=lambda error: [str(step) for step in error.absolute_path])
    return [f"/{'/'.join(str(step) for step in error.absolute_path)}: {error.message}" for error in errors]


def validate(path):
    """Returns the result at `path`; AssertionError lists every place where it breaks the schema."""
    result = load(path)
    found = problems(result)
    assert not found, f"{path}:\n" + "\n".join(found)
    return result
