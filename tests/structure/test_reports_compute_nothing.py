"""Every figure is computed once, in coordinator/analysis: reports convert its unit and lay it out."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULT = ROOT / "proto" / "iobench" / "v1" / "result.proto"

# What reports may use of the analysis: what it decides about plans and marks, and the figures of other tools.
HEADERS_FOR_REPORTS = {
    "across/phase_facts.h": "which of the two rates is the headline's, and who took part",
    "across/measured_window.h": "the time that a phase's latencies are of",
    "across/surfaces.h": "which plans and tables are sweeps",
    "charts/latency_curve.h": "which percentiles a curve has",
    "foreign/bonnie_figures.h": "Bonnie++'s figures",
    "foreign/fio_figures.h": "fio's figures",
    "foreign/ior_figures.h": "IOR's and mdtest's figures",
    "foreign/iozone_cpu.h": "IOzone's figures",
    "iozone_bands.h": "the names of IOzone's bands",
    "marks/mark_table.h": "what a mark means",
    "marks/marks.h": "which marks there are",
}

# Names that compute a figure from several.
COMPUTING = re.compile(r"\b(MedianOf|RepetitionsOf|RatioOfRates|SummarizeRepetitions|UpdateSurfaces|UpdateEachPath|UpdateWorkerScaling"
                       r"|std::(?:accumulate|reduce|transform_reduce|inner_product|sqrt|exp|nth_element))\b")

# Arithmetic that is layout, or no figure of the run: file, part of the statement, reason.
ALLOWED = [
    (r"bonnie/bonnie_run\.cc", "run.seeker_count =", "the plan's seekers of one worker"),
    (r"bonnie/bonnie_run\.cc", "run.seek_count =", "the plan's seeks of one worker"),
    (r"bonnie/bonnie_run\.cc", "const uint64_t records =", "the plan's records of a file"),
    (r"bonnie/bonnie_text\.cc", "default_seeks", "whether the plan asks for as many seeks as Bonnie++ does by itself"),
    (r"console/console_phase\.cc", "files.bytes_per_lane() / count", "the plan's size of a file, for an advice"),
    (r"console/console_writes\.cc", "memory_or_nothing", "whether a line is worth showing"),
    (r"console/progress_line\.cc", "", "how far a run is, while it lasts"),
    (r"iozone/iozone_figures\.cc", "/ per", "a unit: kilobytes or ops"),
    (r"page/packed_columns\.cc", "", "numbers are packed into a few bytes each"),
    (r"page/page_data\.cc", "lost.back() += worker.lost()", "counts rows"),
    (r"page/page_data\.cc", "sum / (end - first)", "slices are merged that are too many to be drawn"),
    (r"page/page_data\.cc", "step", "the same"),
    (r"result_store\.cc", "index / planned", "in which repetition a phase is"),
    (r"text/column_unit\.cc", "", "chooses the unit of a column"),
    (r"text/console_words\.cc", "sources.asked_bytes()", "a part in per cent of the sum of all parts, beside both"),
    (r"t\w+/soak_tables?\.cc", "client.phases_failed() + client.phases_lost()", "two counts share a column"),
    (r"text/text_table\.cc", "std::accumulate(widths", "widths of columns"),
]

NUMBER = r"(?:[-+]?\d[\d']*(?:\.\d+)?(?:e-?\d+)?[uUlLf]*|k[A-Z]\w*)"


def figures():
    """Names of the numeric fields of result.proto."""
    text = RESULT.read_text(encoding="utf-8")
    text = text[text.index("- finished\n"):]
    return set(re.findall(r"^\s+(?:optional )?(?:double|float|u?int(?:32|64)) (\w+) = \d+", text, re.M))


def statements_of(text):
    """A source without comments and texts, a statement, or a condition, a line."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"(?<![\w'])'(?:\\.|[^'\\\n])'", "''", text)
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"^#.*", ";", text, flags=re.M)
    return [" ".join(each.split()) for each in re.split(r"[;{}]", text)]


GETTER = rf"(?:\.|->)(?:{'|'.join(sorted(figures(), key=len, reverse=True))})\(\)"
# A figure as an operand, perhaps as a double.
FIGURE = re.compile(rf"(?:static_cast<[^>]+>\(|AsNumber\()*\w+(?:(?:\.|->)\w+\(\w*\))*{GETTER}\)*")
OPERATOR = re.compile(r"(?<=[\w)'\"\]]) (?P<operator>[-+*/]|[-+*/]=) (?=[\w('\"*])")
# Units are powers of ten or two: numbers, or constants. Texts are joined with +.
CONSTANT = re.compile(rf"(?:{NUMBER}|''|\"\"|\.?size)")


def left_operand(text):
    """The last operand of a text that ends before an operator: a name, a call, a number or a text."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text[i], 0)
        if depth < 0 or (depth == 0 and text[i] in " ,?:!{=;"):
            return text[i + 1:]
    return text


def right_operand(text):
    """The first operand of a text that begins after an operator."""
    depth = 0
    for i, char in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if depth < 0 or (depth == 0 and char in " ,?:;}"):
            return text[:i]
    return text


def arithmetic_in(line):
    """What a statement computes from figures, other than by a constant. A sum that is compared with 0 asks for any of its parts."""
    if COMPUTING.search(line):
        yield "a function that computes a figure"
    for match in OPERATOR.finditer(line):
        left, right, operator = left_operand(line[:match.start()]), right_operand(line[match.end():]), match["operator"]
        if CONSTANT.fullmatch(left) or CONSTANT.fullmatch(right):
            continue
        if operator == "+" and re.search(r"> 0\b", line):
            continue
        if operator in ("/", "/="):
            yield "a ratio"
        elif FIGURE.fullmatch(right) or (FIGURE.fullmatch(left) and len(operator) == 1):
            yield f"{operator} of figures"


def sources():
    return sorted(each for each in (ROOT / "coordinator" / "report").glob("**/*") if each.suffix in (".h", ".cc"))


def found():
    """(file, what is computed, statement) of all arithmetic in the reports."""
    for path in sources():
        name = str(path.relative_to(ROOT / "coordinator" / "report"))
        for statement in statements_of(path.read_text(encoding="utf-8")):
            for what in arithmetic_in(statement):
                yield name, what, statement


def test_reports_include_no_computing_header():
    for path in sources():
        used = re.findall(r'^#include "coordinator/analysis/([^"]+)"', path.read_text(encoding="utf-8"), re.M)
        assert set(used) <= HEADERS_FOR_REPORTS.keys(), path


def test_reports_compute_nothing():
    wrong = [f"{name}: {what}: {statement}" for name, what, statement in found()
             if not any(re.fullmatch(file, name) and part in statement for file, part, _ in ALLOWED)]
    assert wrong == [], "\n".join(["compute it in coordinator/analysis, or say in ALLOWED why it is layout:", *wrong])


def test_every_exception_is_needed():
    every = list(found())
    unused = [(file, part) for file, part, _ in ALLOWED
              if not any(re.fullmatch(file, name) and part in statement for name, _, statement in every)]
    assert unused == []


@pytest.mark.parametrize("line, what", [
    ("x = rate.bytes_per_s() / other;", "a ratio"),
    ("x = MedianOf(rates);", "a function that computes a figure"),
    ("x = lane.cpu_user_s() + lane.cpu_system_s();", "+ of figures"),
    ("cpu += lane.cpu_user_s();", "+= of figures"),
    ("x = phase.bytes_per_lane() * lanes;", "* of figures"),
    ("x = static_cast<double>(phase.bytes()) - less;", "- of figures"),
    ("x = phase.duration_s() * 1e3;", None),
    ("x = 100 * cell.of_first();", None),
    ("x = rate.bytes_per_s() / kKiB;", None),
    ("x = phase.repetition() + 1;", None),
    ("if (loss.lost() + loss.stale() > 0)", None),
    ("x = text_of(point.rate()) + LettersAt(sweep);", None),
    ("text = std::to_string(phase.index()) + '';", None),
])
def test_the_search_finds_arithmetic_and_lets_conversions_be(line, what):
    assert list(arithmetic_in(line)) == ([what] if what else [])
