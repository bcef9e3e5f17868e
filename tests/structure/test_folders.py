"""Folders follow the order in CMakeLists.txt: each includes only what its target links, and none depends upward."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_HEADERS = 16
# Second targets in a folder, for files that are not always built: target -> folder.
SHARED_FOLDERS = {"iobench_nfs": "worker/storage"}
# The only folders that join coordinator and worker.
JOINING = {"coordinator/commands", "coordinator/stage"}
# Sources directly in coordinator/: what has a noun of its own has a folder.
MOST_LOOSE_SOURCES = 12
INCLUDE = re.compile(r'^#include "((?:common|coordinator|worker)/[^"]+)"', re.M)


def folders_in_order():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"foreach\(folder(.*?)\)", text, re.S)[1].split()


def libraries():
    """folder -> (target, the targets that its headers may use, those that its sources may use)."""
    found = {}
    for folder in folders_in_order():
        text = (ROOT / folder / "CMakeLists.txt").read_text()
        for name, body in re.findall(r"iobench_library\((\w+)(.*?)\)\n", text, re.S):
            if name in SHARED_FOLDERS:
                continue
            public = re.search(r"PUBLIC(.*?)(?=PRIVATE|$)", body, re.S)
            private = re.search(r"PRIVATE(.*)", body, re.S)
            public = set(public[1].split()) if public else set()
            found[folder] = (name, public, public | (set(private[1].split()) if private else set()))
    return found


LIBRARIES = libraries()
FOLDER_OF = {name: folder for folder, (name, _, _) in LIBRARIES.items()} | SHARED_FOLDERS


def test_every_folder_with_sources_is_looked_at():
    assert set(LIBRARIES) == set(folders_in_order()) - {"proto", "coordinator"}, "these two have targets of other kinds"
    assert all(any(INCLUDE.search(file.read_text()) for file in (ROOT / folder).glob("*.cc")) for folder in LIBRARIES)


@pytest.mark.parametrize("folder", sorted(LIBRARIES))
def test_a_folder_includes_only_what_its_target_links(folder):
    _, public, all_of_them = LIBRARIES[folder]
    for file in sorted((ROOT / folder).glob("*.*")):
        if file.suffix not in (".h", ".cc"):
            continue
        allowed = public if file.suffix == ".h" else all_of_them
        folders = {FOLDER_OF[target] for target in allowed if target in FOLDER_OF} | {folder}
        wrong = {each for each in INCLUDE.findall(file.read_text()) if str(pathlib.Path(each).parent) not in folders
                 and each != "common/version.h"}  # written by the build (iobench_version)
        assert not wrong, f"{file.relative_to(ROOT)} includes {sorted(wrong)}, which {LIBRARIES[folder][0]} does not link"


def test_the_second_target_of_a_folder_links_what_its_files_include():
    for name, folder in SHARED_FOLDERS.items():
        body = re.search(rf"iobench_library\({name}(.*?)\)\n", (ROOT / folder / "CMakeLists.txt").read_text(), re.S)[1]
        folders = {FOLDER_OF[target] for target in body.split() if target in FOLDER_OF} | {folder}
        for source in re.findall(r"\w+\.cc", body):
            for file in (ROOT / folder / source, (ROOT / folder / source).with_suffix(".h")):
                wrong = {each for each in INCLUDE.findall(file.read_text()) if str(pathlib.Path(each).parent) not in folders}
                assert not wrong, f"{file.name} includes {sorted(wrong)}, which {name} does not link"


def test_no_arrow_runs_upward():
    order = {folder: number for number, folder in enumerate(folders_in_order())}
    for folder, (name, _, targets) in LIBRARIES.items():
        for target in targets & FOLDER_OF.keys():
            assert order[FOLDER_OF[target]] <= order[folder], f"{name} uses {target}, which comes after it"


def test_coordinator_and_worker_do_not_know_each_other():
    joining = set()
    for folder, (_, _, targets) in LIBRARIES.items():
        tops = {FOLDER_OF[target].split("/")[0] for target in targets & FOLDER_OF.keys()}
        if not tops <= {"common", folder.split("/")[0]}:
            joining.add(folder)
    assert joining == JOINING


def test_nothing_on_the_stage_uses_the_table_of_transports():
    """It names what sets each transport up; what is set up needs only the job (job.h)."""
    users = [file.name for file in sorted((ROOT / "coordinator/stage").glob("*.*"))
             if '"coordinator/stage/transports.h"' in file.read_text()]
    assert users == ["transports.cc"]


def test_few_sources_are_loose_in_coordinator():
    loose = sorted(each.name for each in (ROOT / "coordinator").glob("*.*") if each.suffix in (".h", ".cc"))
    assert len(loose) <= MOST_LOOSE_SOURCES, loose


@pytest.mark.parametrize("folder", sorted(LIBRARIES))
def test_a_folder_can_be_looked_over(folder):
    headers = sorted(each.name for each in (ROOT / folder).glob("*.h"))
    assert len(headers) <= MOST_HEADERS, f"{folder} holds {len(headers)} headers: does it hold two things?"


@pytest.mark.parametrize("folder", sorted(LIBRARIES))
def test_headers_say_what_they_promise(folder):
    """Every header begins with its contract."""
    for header in (ROOT / folder).glob("*.h"):
        assert header.read_text().startswith(("// ", "/* ")), header


def test_no_two_types_have_the_same_name():
    """Two classes of one name are undefined behaviour as soon as a member of both is not inlined, and nothing reports it."""
    found = {}
    for file in sorted(ROOT.glob("*/**/*.h")):
        if file.relative_to(ROOT).parts[0] in ("common", "coordinator", "worker", "tests"):
            for name in re.findall(r"^(?:struct|class|enum class) (\w+)\b[^;]*?(?:\{|:)", file.read_text(), re.M):
                found.setdefault(name, []).append(str(file.relative_to(ROOT)))
    assert len(found) > 300
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
