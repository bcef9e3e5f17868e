"""Advice names an option only where it can be left out if it is in use: in braces, for AdviceFor
(coordinator/analysis/marks/advice.h)."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [*(ROOT / "coordinator/analysis/marks").glob("*.cc"), *(ROOT / "coordinator/analysis/explain").glob("*.cc"),
           ROOT / "coordinator/capacity/capacity_report.cc"]
# What OptionsOfNoUse knows.
KNOWN = r"(-I|-o|-e|-c|-U|--cold|--drop-caches|--rotate-clients)(?![\w-])"


def literals(text):
    """String literals, with those that follow each other joined."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
        yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group()))


def test_options_in_advice_are_in_braces():
    wrong = []
    for file in SOURCES:
        for literal in literals(file.read_text(encoding="utf-8")):
            outside = re.sub(r"\{[^}]*\}", "", literal)
            if re.search(rf"(?:\b(?:use|add|or)|,) {KNOWN}", outside):
                wrong.append(f"{file.relative_to(ROOT)}: {literal}")
    assert not wrong, "\n".join(wrong)
