"""The man page and shell completion are complete and work in the programs that read them."""
import re
import shutil
import subprocess

import program
import pytest


def generated(what):
    return program.plain("--generate", what).expect(0).stdout


def long_options(command):
    return set(re.findall(r"^ +(?:-\w,)?(--[a-z][a-z0-9-]+)", program.plain(command, "--help", "all").expect(0).stdout, re.M))


COMMANDS = ("run", "preflight", "validate", "capacity", "worker", "report", "observe", "selftest", "clean")


def test_every_option_is_in_the_man_page():
    page = generated("man").replace("\\-", "-")
    for command in COMMANDS:
        options = long_options(command)
        assert options, command
        chapter = page.split(f'.SH "OPTIONS OF {command}"')[1].split("\n.SH")[0]
        missing = {option for option in options if f"\\fB{option}\\fR" not in chapter}
        assert not missing, (command, missing)
    assert "\\fB-+p\\fR" in page, "IOzone's letters with + too"


@pytest.mark.parametrize("checker", [("mandoc", "-Tlint", "-Wwarning"), ("groff", "-man", "-Tutf8", "-ww", "-z")])
def test_the_man_page_has_no_warnings(tmp_path, checker):
    assert shutil.which(checker[0]), f"{checker[0]} is missing"
    page = tmp_path / "cluster-iobench.1"
    page.write_text(generated("man"))
    done = subprocess.run([*checker, str(page)], capture_output=True, text=True, check=False)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
    assert not complaints, complaints


def test_man_shows_options_as_they_are_typed(tmp_path):
    page = tmp_path / "cluster-iobench.1"
    page.write_text(generated("man"))
    done = subprocess.run(["man", "-l", str(page)], capture_output=True, text=True, check=True,
                          env=program.clean_environment(MANWIDTH="120", LC_ALL="C.UTF-8", MANPAGER="cat", PAGER="cat"))
    shown = re.sub(".\b", "", done.stdout)
    for words in ("--close-in-timing", "-+p, --mix-percent P", "--require CRITERION", "mpirun -np 32 cluster-iobench"):
        assert words in shown, shown


def completed(line, cwd=None):
    """What bash offers at the end of `line`."""
    words = line.split(" ")
    script = f"""
source /dev/stdin <<'END'
{generated("bash")}
END
COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
_cluster_iobench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, cwd=cwd)
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


def test_bash_completes_commands_options_values_and_directories(tmp_path):
    (tmp_path / "some-directory").mkdir()
    (tmp_path / "some-file").touch()
    assert completed("cluster-iobench repo", cwd=tmp_path) == {"report"}
    assert completed("cluster-iobench some", cwd=tmp_path) == {"some-directory"}
    assert completed("cluster-iobench --close") == {"--close-in-timing"}
    assert completed("cluster-iobench /mnt --rec") == {"--record", "--record-locks"}
    assert completed("cluster-iobench report --verif") == {"--verify"}
    assert completed("cluster-iobench report --rec") == set()
    assert completed("cluster-iobench report x --format mark") == {"markdown"}
    assert completed("cluster-iobench --op random-r") >= {"random-read"}
    assert completed("cluster-iobench --engine pos") == {"posix", "posix-aio"}
    assert completed("cluster-iobench --plan some", cwd=tmp_path) == {"some-directory", "some-file"}
    assert completed("cluster-iobench --record ") == set(), "a size cannot be completed"


def test_bash_knows_every_option():
    for command in COMMANDS:
        assert long_options(command) <= completed(f"cluster-iobench {command} --") | {"--help"}, command


def test_fish_completes_options(tmp_path):
    assert shutil.which("fish"), "fish is missing"
    file = tmp_path / "cluster-iobench.fish"
    file.write_text(generated("fish"))

    def offered(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], capture_output=True,
                              text=True, check=True, env=program.clean_environment(HOME=str(tmp_path)))
        assert not done.stderr, done.stderr
        return {row.split("\t")[0] for row in done.stdout.splitlines()}
    assert "--close-in-timing" in offered("cluster-iobench --close")
    assert "--verify" in offered("cluster-iobench report --ver")
    assert "markdown" in offered("cluster-iobench report x --format ")
    assert "--redact" in offered("cluster-iobench report --red") and "--redact" not in offered("cluster-iobench --red")


def test_zsh_reads_its_completion(tmp_path):
    assert shutil.which("zsh"), "zsh is missing"
    file = tmp_path / "_cluster-iobench"
    file.write_text(generated("zsh"))
    script = f"autoload -U compinit && compinit -u -d {tmp_path}/dump && source {file} && print $_comps[cluster-iobench]"
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True,
                          env=program.clean_environment(HOME=str(tmp_path)))
    assert done.stdout.strip() == "_cluster_iobench" and not done.stderr, done


def test_an_unknown_kind_is_refused():
    assert "man, bash, zsh, fish or coming-from" in program.plain("--generate", "csh").expect(1).stderr
    program.plain("--generate").expect(1)
