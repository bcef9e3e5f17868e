"""What a comment names exists, and what a header declares is found where the header says."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("cmake", "common", "coordinator", "deploy", "docs", "proto", "tests", "web", "worker")
FILES = [str(file.relative_to(ROOT)) for top in TOPS for file in sorted((ROOT / top).rglob("*"))
         if file.is_file() and "node_modules" not in file.parts]
SOURCES = [name for name in FILES
           if name.endswith((".cc", ".h", ".c", ".proto", ".py", ".js", ".mjs", ".sh", ".cmake", "CMakeLists.txt"))]
HEADERS = [name for name in FILES if re.match(r"(common|worker|coordinator)/.*\.h$", name)]


def test_files_that_comments_name_exist():
    """A path from the root or below a folder of ours, such as worker/lane/lane.cc, in a comment or a docstring."""
    known = set(FILES)
    wrong = []
    for name in SOURCES:
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("#include"):
                continue
            for path in re.findall(r"(?<![\w/.{}$*-])((?:\w+/)+\w+\.(?:cc|h|proto|py|mjs|js|md|yaml))\b", line):
                if path.split("/")[0] in TOPS and path not in known:
                    wrong.append(f"{name}:{number}: {path}")
    assert wrong == []


def test_one_place_enters_namespaces():
    """Without --root and --wd, a command goes astray where the machine's root is a chroot: tests/support/namespaces.py."""
    callers = [name for name in FILES if name.startswith("tests/") and name.endswith(".py") and re.search(r"""[(\[]["']nsenter["']""", (ROOT / name).read_text(encoding="utf-8"))]
    assert callers == ["tests/support/namespaces.py"]


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", re.sub(r"//.*", "", text), flags=re.S)


def functions(text, end):
    """The names of functions at the start of a line that end like this: ";" for declarations, "{" for definitions."""
    pattern = r"^(?!#|namespace|using|class|struct|enum|template|typedef|static|extern|\})([\w:][^;{}=]*?)\b(\w+)\(((?:[^;{}]|\{\})*?)([;{])"
    return {match[2] for match in re.finditer(pattern, without_comments(text), re.M) if match[4] == end}


def classes(text):
    return set(re.findall(r"^(?:class|struct) (?:ABSL_\w+(?:\([^)]*\))? )?(\w+)[^;{]*\{", without_comments(text), re.M))


def classes_with_methods(text):
    return set(re.findall(r"^(?!\s)[^;{}()=]*?\b(\w+)::~?\w+\([^;]*?\{", without_comments(text), re.M))


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_says_where_that_is_defined_which_its_own_source_does_not(header):
    """A reader looks for a function of lane.h in lane.cc. The header names the source that has it instead."""
    text = (ROOT / header).read_text(encoding="utf-8")
    own = (ROOT / header).with_suffix(".cc")
    declared = functions(text, ";") - (functions(own.read_text(encoding="utf-8"), "{") if own.exists() else set())
    for source in sorted(own.parent.glob("*.cc")):
        if source == own or source.name in text:
            continue
        there = source.read_text(encoding="utf-8")
        elsewhere = (declared & functions(there, "{")) | (classes(text) & classes_with_methods(there))
        assert not elsewhere, f"{header} declares {sorted(elsewhere)}, which {source.name} defines"
