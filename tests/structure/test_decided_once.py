"""What is decided once in analysis is not decided again elsewhere."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [file for folder in ("coordinator", "web/src") for file in sorted((ROOT / folder).rglob("*"))
           if file.suffix in (".cc", ".h", ".js")]


def statements():
    for file in SOURCES:
        text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
        for statement in re.split(r"[;{}]\n", text):
            yield file.relative_to(ROOT), " ".join(statement.split())


def test_no_format_chooses_between_response_and_service_times():
    """latency_us is what counts (coordinator/analysis/phase/latency.h); the others are shown by their own names."""
    choices = [(file, statement) for file, statement in statements()
               if "latency_us" in statement and re.search(r"response_us|service_us", statement)]
    assert [file for file, _ in choices] == [pathlib.Path("coordinator/analysis/phase/latency.cc")], choices


def test_only_analysis_judges_whether_a_phase_is_whole():
    """not_whole is what counts (coordinator/analysis/marks/whole.h); the counts behind it are only shown."""
    count = r"(lanes_failed|workers_lost|lanes_sat_out)\(\)"
    joined = rf"interrupted\(\) *(\|\||&&).*{count}|{count}.*(\|\||&&) *!?[\w.>-]*interrupted\(\)"
    judged = [(file, statement) for file, statement in statements() if re.search(joined, statement)]
    assert not judged, judged


def test_one_function_says_what_a_phase_of_the_run_is_called():
    """NameInRun (common/text/phase_name.h): nobody else adds a round or repetition to a name."""
    adds = r'", round |" of ", *[\w.>()-]*repetitions|, round %'
    found = [(file, statement) for file, statement in statements()
             if re.search(adds, statement) and "Repetition " not in statement]
    assert not found, found


def test_one_function_knows_which_fields_say_no_more_than_being_left_out():
    """IsZero (common/model/plan_traits.h)."""
    compares = r"Get(String|Bool|Double|Float|Int32|Int64|UInt32|UInt64|EnumValue)\([^)]*field\)( == 0|\.empty\(\))|!get\.GetBool\("
    found = [(file, statement) for file, statement in statements() if re.search(compares, statement)]
    assert not found, found


def test_who_takes_part_is_no_text():
    """Boot id, clone number and server are apart (common/roster/roster.h): nobody joins them to a text, or takes one apart."""
    joined = r"set_boot_id\(.*(StrCat|\+)|StrAppend\(.*mutable_boot_id|(ConsumePrefix|StartsWith|BootOf)\(.*boot_id\(\)"
    found = [(file, statement) for file, statement in statements() if re.search(joined, statement)]
    assert not found, found


def test_which_file_system_it_is_is_no_text():
    """The host, its clone and the device are apart: FilesystemOf (common/roster/filesystem.h), which everything compares."""
    used = [(file, statement) for file, statement in statements()
            if re.search(r"\b(filesystem_id\(\)|set_filesystem_id\(|mutable_filesystem_id\()", statement)]
    assert not used, used


def test_the_plan_that_runs_is_recorded_once():
    """Resolve (coordinator/plan/resolve.h) makes it; only the phases of a search and notes are added later."""
    copies = [(file, statement) for file, statement in statements() if "record_.mutable_plan() =" in statement]
    assert len(copies) == 1, copies


def test_marks_are_named_by_their_constants():
    """A code is written once, in common/text/mark_codes.h; a misspelt one does not compile."""
    declared = (ROOT / "common/text/mark_codes.h").read_text(encoding="utf-8")
    codes = re.findall(r'^inline constexpr std::string_view \w+ = "(\w+)";', declared, re.M)
    assert len(codes) > 30 and len(codes) == len(set(codes))
    table = (ROOT / "coordinator/analysis/marks/mark_table.cc").read_text(encoding="utf-8")
    assert re.findall(r"^ +\{\.code = mark_code::k(\w+),", table, re.M) == [
        "".join(word.capitalize() for word in code.split("_")) for code in codes], "same marks, same order"
    # The same words, but not marks: the title of a column, a kind of bytes, the label of a line, a state, an outcome.
    others = {("soak_tables.cc", "stalled"), ("soak_tables.cc", "failed_ops"), ("phase_tables.cc", "holes"), ("phase_tables.cc", "retransmissions"),
              ("console_words.cc", "holes"), ("console_header.cc", "resumed"),
              ("phase_hooks.cc", "partial"), ("capacity_report.cc", "generator_bound"), ("across.js", "cached"), ("soak.js", "failed_ops")}
    literal = re.compile("[\"'](" + "|".join(codes) + ")[\"']")
    found = {(file.name, code) for file, statement in statements() for code in literal.findall(statement)}
    assert found == others, found ^ others


def test_one_function_writes_times_for_people():
    """FormatSeconds (common/text/units.h): "10 s", not 10010 ms. Tables and figures have units of their own."""
    own = {pathlib.Path(file) for file in (
        "common/text/units.cc", "common/model/phase_check.cc",  # what a plan says, in its own unit
        "coordinator/analysis/capacity/slo.cc", "coordinator/analysis/charts/latency_map.cc",
        "coordinator/analysis/explain/nfs_finders.cc", "coordinator/selftest/selftest_report.cc")}
    found = []
    for folder in ("common", "coordinator", "worker"):
        for file in sorted((ROOT / folder).rglob("*.cc")):
            text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
            raw = r'(\w|\)), *" (ns|us|ms)\b|(SecondsFrom\([^"]*\)|timeout_s|seconds), *" s\b'
            if file.relative_to(ROOT) not in own and re.search(raw, text):
                found.append(file.relative_to(ROOT))
    assert not found, found
