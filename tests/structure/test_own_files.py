"""Files of ours are created in one place (common/own_files), which follows no link and checks whose the directory is."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CREATES = re.compile(r"\bO_CREAT\b|\bO_TRUNC\b|\bO_TMPFILE\b|\bmk(?:o?s?temps?|dtemp|dirat|dir|fifo|nod)\(|\bcreate_director(?:y|ies)\(|"
                     r"\bcopy_file\(|\bofstream\b|\bfopen\(|\bfreopen\(|\bcreat\(|\brename(?:at2?)?\(|\bcreate_(?:hard_|sym)link\(|"
                     r"\b(?:sym)?link(?:at)?\(")
# What creates, truncates or renames a file or directory, and why it may.
ALLOWED = {
    "common/own_files/own_directory.cc": "the one place",
    "common/own_files/own_file.cc": "the one place",
    "coordinator/files/file_request.cc": "renames in directories that own_files has opened",
    # A new name of the system's choice, mode 0600 or 0700, in $TMPDIR.
    "common/process/temporary_directory.cc": "a scratch directory, or that of a socket",
    "coordinator/validate/checks/hook_run.cc": "a hook's facts",
    # Data, in directories of the storage that is measured: by descriptor, O_NOFOLLOW, below the worker's roots.
    "worker/storage/local_directory.cc": "data, manifest and owner: names in the data directory, which is held open",
    "worker/engine/open_files.cc": "the files of lanes",
    "common/mpi_io/mpi_files.h": "names the flag",
    "common/transport/mpi/mpi_files_module.cc": "passes flags on to MPI, which has paths only",
    "worker/engine/mpiio_engine.cc": "the files of lanes: MPI has paths only, so the directory is compared with the one held open",
    "worker/metadata/item_calls.h": "what metadata operations measure",
    "worker/metadata/tree_keeper.cc": "the trees of metadata operations",
    "worker/check/block_writes.cc": "check files",
    "worker/check/group_trial.cc": "check files",
    "worker/check/overfill.cc": "check files",
    "worker/check/tree_actions.cc": "check files",
    "worker/check/trial/feature_trials.cc": "check files",
    "worker/check/trial/name_trials.cc": "check files",
    "worker/check/trial/trial_file.cc": "check files",
    "worker/check/trial/network_trials.cc": "check files",
    "worker/check/trial/owner_trials.cc": "check files",
    "worker/check/trial/rule_trials.cc": "check files, in a directory of their own",
    "worker/check/trial/scratch.cc": "check files, in a directory of their own",
    "worker/prepare/trace_file.cc": "a trace below a root: O_EXCL, in a directory that is held open",
    "worker/rights/open_beneath.cc": "passes flags on",
    "coordinator/commands/capacity.cc": "a file without a name, gone as it is closed: whether O_DIRECT works",
    # Shared by the processes of a user, who it must belong to.
    "common/simulated/simulated_server.cc": "simulated storage in /dev/shm",
    # Only reads.
    "worker/engine/uring_engine.cc": "a setting of the kernel",
}
FOLDERS = ("common", "coordinator", "worker")


def creators():
    found = {}
    for file in sorted(each for folder in FOLDERS for each in (ROOT / folder).rglob("*") if each.suffix in (".cc", ".h")):
        text = re.sub(r"//.*|\"(?:\\.|[^\"\\])*\"", "", file.read_text(encoding="utf-8"))
        calls = {match[0] for match in CREATES.finditer(text)}
        if calls:
            found[str(file.relative_to(ROOT))] = calls
    return found


def test_only_the_files_of_the_table_create_files():
    unknown = {name: calls for name, calls in creators().items() if name not in ALLOWED}
    assert unknown == {}, "use OwnFile (common/own_files/own_file.h), or say in the table why not"


def test_each_file_of_the_table_still_creates_one():
    assert set(ALLOWED) - set(creators()) == set()
