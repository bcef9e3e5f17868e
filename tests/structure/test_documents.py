"""The documents are reachable: each link, in a document or in the code, leads to a file and a heading that exist. Each document
says first for whom it is and what it holds."""
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_WORDS_OF_THE_FIRST_PARAGRAPH = 60
# What the code and its messages, the plans, the tests and the schemas say: a file of docs, with an anchor or without.
NAMED = re.compile(r"\bdocs/([a-z-]+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Everything that git knows, except what others wrote and pictures.
FILES = [ROOT / name for name in subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True,
                                                capture_output=True, text=True).stdout.split("\n") if name]
DOCUMENTS = [path for path in FILES if path.suffix == ".md" and path.is_file() and "golden" not in path.parts]


def anchors(document):
    """GitHub's: small letters, no punctuation, a hyphen for each space; a number after a heading that stood before."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        number = next((n for n in range(1, 99) if f"{anchor}-{n}" not in found), 1) if anchor in found else 0
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def problem(document, anchor):
    if not document.exists():
        return "no such file"
    if anchor and document.suffix == ".md" and anchor not in anchors(document):
        return f"no heading {anchor}"
    return None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_of_a_document_leads_somewhere(document):
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.S | re.M)
    wrong = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = problem((document.parent / name).resolve() if name else document, anchor)
        if found:
            wrong.append(f"{target}: {found}")
    assert not wrong


# The README shows its readers what the program is.
@pytest.mark.parametrize("document", [path for path in DOCUMENTS
                                      if path.parent in (ROOT, ROOT / "docs") and path != ROOT / "README.md"],
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_the_first_paragraph_says_for_whom_and_what(document):
    """"For READERS: what it holds", in at most 60 words."""
    title, first = document.read_text(encoding="utf-8").split("\n\n")[:2]
    assert title.startswith("# ") and "\n" not in title.strip()
    assert re.match(r"For [^.:]+: \S", first.replace("\n", " ")), first
    assert len(first.split()) <= MOST_WORDS_OF_THE_FIRST_PARAGRAPH, first


def test_each_document_that_the_code_names_exists():
    wrong = []
    for path in FILES:
        if not path.is_file() or path.suffix in (".png", ".gz", ".pb", ".bin") or "corpus" in path.parts:
            continue
        for name, anchor in NAMED.findall(path.read_text(encoding="utf-8", errors="ignore")):
            found = problem(ROOT / "docs" / name, "" if anchor == "CODE" else anchor)
            if found:
                wrong.append(f"{path.relative_to(ROOT)}: docs/{name}#{anchor}: {found}")
    assert not wrong


def test_marks_have_headings_in_the_order_of_the_table():
    """The constants stand in the order of the table (test_decided_once.py)."""
    declared = (ROOT / "common" / "text" / "mark_codes.h").read_text(encoding="utf-8")
    codes = re.findall(r'^inline constexpr std::string_view k\w+ = "(\w+)";', declared, re.M)
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "marks.md").read_text(encoding="utf-8"), re.M)
    assert codes and headings == codes


def test_every_operation_has_its_row():
    """docs/operations.md names each row of the tables of operations in the first cell of a row."""
    names = set()
    for table in ("operation.cc", "metadata_operation.cc"):
        text = (ROOT / "common" / "model" / table).read_text(encoding="utf-8")
        names |= set(re.findall(r'^    \{(?:\.name = )?"([a-z-]+)",', text, re.M))
    assert len(names) > 50, "the tables are read"
    cells = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \|", (ROOT / "docs" / "operations.md").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"`([a-z-]+)`", " ".join(cells))) == names
