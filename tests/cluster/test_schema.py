"""docs/result.schema.json accepts what the program writes and refuses wrong results; docs/validate.schema.json does the
same for validations. test_compare.py checks that of comparisons."""

import copy
import json
import pathlib
import re
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import schema  # noqa: E402

GOLDEN_PATH = ROOT / "tests" / "unit" / "golden" / "result.json"
VALIDATE_SCHEMA_PATH = ROOT / "docs" / "validate.schema.json"
GOLDEN_VALIDATION_PATH = ROOT / "tests" / "unit" / "golden" / "validate.json"
CAPACITY_SCHEMA_PATH = ROOT / "docs" / "capacity.schema.json"
SCHEMA_PATHS = pytest.mark.parametrize("path", [schema.SCHEMA_PATH, VALIDATE_SCHEMA_PATH, CAPACITY_SCHEMA_PATH], ids=lambda path: path.name)


@pytest.fixture
def golden():
    return schema.load(GOLDEN_PATH)


@SCHEMA_PATHS
def test_the_schema_is_valid_by_itself(path):
    jsonschema.Draft202012Validator.check_schema(schema.load(path))


@SCHEMA_PATHS
def test_every_reference_in_the_schema_leads_somewhere(path):
    document = schema.load(path)
    text = json.dumps(document)
    for name in document["$defs"]:
        assert f'"#/$defs/{name}"' in text, f"{name} is never used"

    def walk(node):
        if isinstance(node, dict):
            if "$ref" in node:
                assert node["$ref"].removeprefix("#/$defs/") in document["$defs"]
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(document)


def test_the_golden_result_is_valid():
    assert schema.validate(GOLDEN_PATH)["schema"] == "cluster-iobench result 1"


def test_kinds_of_ops_are_those_of_the_protocol():
    protocol = (ROOT / "proto" / "iobench" / "v1" / "result.proto").read_text(encoding="utf-8")
    (kinds,) = re.findall(r"^enum OpKind \{(.*?)^\}", protocol, re.S | re.M)
    assert schema.op_kinds() == [name.lower().replace("_", "-") for name in re.findall(r"^ +OP_(\w+) = ", kinds, re.M)]


def change(result, place, value):
    *path, last = place
    for step in path:
        result = result[step]
    if value is None:
        del result[last]
    else:
        result[last] = value


@pytest.mark.parametrize(
    "place, value",
    [
        (("schema",), "cluster-iobench result 2"),
        (("run",), None),
        (("run", "exit_code"), "2"),
        (("run", "plan", "phases", 0, "stonewall"), 2),
        (("phases", 0, "bytes"), "16777216"),
        (("phases", 0, "bytes"), 1.5),
        (("phases", 0, "bytes"), -1),
        (("phases", 0, "operation"), None),
        (("phases", 0, "headline", "bytes_per_s"), "62914560"),
        (("phases", 0, "headline", "name"), "best"),
        (("phases", 0, "headline", "region"), "close"),
        (("phases", 0, "throughput_bytes_per_s", "parent"), None),
        (("phases", 0, "surprise"), 1),
        (("phases", 0, "by_kind", "erase"), {}),
        (("phases", 0, "clients", 0, "workers", 0, "lanes", 0, "bytes"), None),
        (("phases", 0, "errors", 0, "errno"), None),
        (("phases", 0, "errors", 0, "errno_value"), 5),
        (("phases", 0, "clients", 0, "host_delta", "nfs", "first"), {"ops": {}}),
    ],
)
def test_a_result_that_is_wrong_is_refused(golden, place, value):
    wrong = copy.deepcopy(golden)
    change(wrong, place, value)
    assert wrong != golden
    assert schema.problems(wrong)


def test_an_unknown_figure_is_null_and_valid(golden):
    assert golden["phases"][0]["throughput_bytes_per_s"]["full"] is None
    change(golden, ("phases", 0, "headline", "bytes_per_s"), 0)
    golden["phases"][0]["headline"]["bytes_per_s"] = None
    assert not schema.problems(golden)


def test_the_helper_says_where(golden, tmp_path):
    golden["phases"][1]["clients"][0]["bytes"] = "many"
    path = tmp_path / "result.json"
    path.write_text(json.dumps(golden), encoding="utf-8")
    with pytest.raises(AssertionError, match="/phases/1/clients/0/bytes: 'many' is not of type 'integer'"):
        schema.validate(path)


def test_the_helper_refuses_nan(tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"schema": NaN}', encoding="utf-8")
    with pytest.raises(AssertionError, match="must be null"):
        schema.validate(path)


@pytest.fixture
def golden_validation():
    return schema.load(GOLDEN_VALIDATION_PATH)


def problems_of_validation(document):
    return list(jsonschema.Draft202012Validator(schema.load(VALIDATE_SCHEMA_PATH)).iter_errors(document))


def test_the_golden_validation_is_valid_and_has_every_verdict(golden_validation):
    assert problems_of_validation(golden_validation) == []
    verdicts = schema.load(VALIDATE_SCHEMA_PATH)["$defs"]["Verdict"]["enum"]
    assert {check["verdict"] for check in golden_validation["checks"]} == set(verdicts) == set(golden_validation["counts"])


@pytest.mark.parametrize(
    "place, value",
    [
        (("schema",), "cluster-iobench validation 2"),
        (("path",), None),
        (("surprise",), 1),
        (("seed",), "42"),
        (("counts", "failed"), 1),
        (("counts", "fail"), 0),
        (("clients", 0, "workers"), 0),
        (("clients", 0, "mount_options"), None),
        (("checks", 0, "verdict"), "FAIL"),
        (("checks", 0, "verdict"), ""),
        (("checks", 0, "evidence"), "c01"),
        (("checks", 0, "advice"), None),
        (("checks", 4, "waiver"), ""),
        (("checks", 2, "figures", 0, "value"), "12345"),
        (("checks", 2, "figures", 0, "unit"), "reads"),
    ],
)
def test_a_validation_that_is_wrong_is_refused(golden_validation, place, value):
    change(golden_validation, place, value)
    assert problems_of_validation(golden_validation)


def test_the_schema_of_validations_has_the_fields_of_the_protocol():
    protocol = (ROOT / "proto" / "iobench" / "v1" / "validate.proto").read_text(encoding="utf-8")
    described = schema.load(VALIDATE_SCHEMA_PATH)["$defs"]
    for message, body in re.findall(r"^message (\w+) \{(.*?)^\}", protocol, re.S | re.M):
        fields = re.findall(r"^  \S.*?(\w+) = \d+;", body, re.M)
        name = "Validation" if message == "ValidateReport" else message
        # A message that is not set is left out.
        messages = set(re.findall(r"^  [A-Z]\w* (\w+) = \d+;", body, re.M))
        assert list(described[name]["properties"]) == fields, message
        assert described[name]["required"] == [field for field in fields if field not in messages], message
