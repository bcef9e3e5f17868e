"""How the programs are built (cmake/Hardening.cmake), read from what was built."""
import pathlib
import platform
import re
import subprocess

import pytest

import program

BUILT = pathlib.Path(program.BINARY).parent
DYNAMIC = ["cluster-iobench", "cluster-iobench-mpi.so"]
STATIC = ["cluster-iobench-worker", "cluster-iobench-static"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def built(name):
    file = BUILT / name
    if not file.exists():
        assert "VERSION_ID=\"12\"" not in pathlib.Path("/etc/os-release").read_text(), f"the reference distribution builds {name}"
        pytest.skip(f"NOT TESTED: this build has no {name}")
    if "__asan_init" in output("nm", "-D", BUILT / "cluster-iobench") or "__tsan_init" in output("nm", "-D", BUILT / "cluster-iobench"):
        pytest.skip("sanitizers replace these checks")
    return file


@pytest.mark.parametrize("name", DYNAMIC + STATIC)
def test_memory_is_laid_out_for_defence(name):
    """Position-independent, no memory that is written and executed, tables of the linker read-only from the start."""
    file = built(name)
    assert re.search(r"Type:\s+DYN", output("readelf", "-hW", file))
    segments = output("readelf", "-lW", file)
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.*\bRW\b", segments) and not re.search(r"\bRWE\b", segments)
    dynamic = output("readelf", "-dW", file)
    assert re.search(r"FLAGS_1\).*\bNOW\b", dynamic) and "TEXTREL" not in dynamic


@pytest.mark.parametrize("name", DYNAMIC)
def test_code_checks_its_stack(name):
    needed = output("nm", "-D", "--undefined-only", built(name))
    assert "__stack_chk_fail" in needed
    if name == "cluster-iobench":
        checked = re.findall(r"__\w+_chk\b", needed)
        assert len(set(checked)) >= 3, checked


@pytest.mark.parametrize("name", STATIC)
def test_the_worker_without_libraries_checks_too(name):
    text = built(name).read_bytes()
    assert b"stack smashing detected" in text and b"buffer overflow detected" in text


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other instructions")
def test_indirect_jumps_have_marked_targets():
    """Not the note in the program: Debian's start files (crt1.o) have none, so the linker leaves it out."""
    code = output("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", built("cluster-iobench"))
    assert re.search(r"<main>:\n\s*[0-9a-f]+:\s+endbr64", code), code[:400]
