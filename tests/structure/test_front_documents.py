"""The front of the documents: a short README, an index of all documents, and a list of all folders."""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README_WORDS = 1000
GROUPS = ["Tutorials", "How-to", "Reference", "Explanation"]


def linked(text):
    """The targets of all links of a Markdown text, without anchors."""
    return [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]


def is_local(target):
    return target and not re.match(r"[a-z]+:", target)


def test_the_readme_is_short():
    count = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert count <= README_WORDS, f"{count} words: details belong into docs/"


def test_the_index_lists_every_document_once():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert [title for title in re.findall(r"^## (.*)$", index, re.M)] == GROUPS
    listed = sorted(target for target in linked(index) if is_local(target) and not target.startswith("../"))
    there = sorted(file.name for file in DOCS.iterdir() if file.is_file() and file.name != "README.md")
    assert listed == there


def test_the_architecture_lists_every_folder():
    listed = re.findall(r"^([a-z]\S*/) ", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.M)
    there = [f"{file.parent.relative_to(ROOT)}/" for top in ("common", "coordinator", "worker")
             for file in (ROOT / top).rglob("CMakeLists.txt")]
    assert len(listed) == len(set(listed))
    assert sorted(set(there) - set(listed)) == [], "folders that docs/architecture.md does not list"
    gone = [folder for folder in listed if not (ROOT / folder).is_dir()]
    assert gone == [], "folders that docs/architecture.md lists, and that do not exist"


def test_all_that_is_linked_statically_or_bundled_has_a_notice():
    notices = (ROOT / "THIRD-PARTY.md").read_text(encoding="utf-8")
    cmake = (ROOT / "cmake" / "Bundle.cmake").read_text(encoding="utf-8")
    lists = re.findall(r"(?:set\(|list\(APPEND )(?:worker|program|workbook)_libraries ([^)]*)\)", cmake)
    libraries = [name for names in lists for name in names.split()]
    packages = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    missing = [name for name in libraries if f"`{name}`" not in notices]
    missing += [name for name in packages if name not in notices]
    assert libraries and not missing
