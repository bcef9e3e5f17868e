"""With -m, records move to and from successive places in memory; strace shows the addresses."""
import collections
import re

import program
import pytest

pytestmark = pytest.mark.strace

RECORDS = 32
SHAPE = ("--transport", "local", "-t", "1", "-r", "4k", "-s", f"{RECORDS * 4}k", "-+n")


def addresses(call, log):
    """Memory addresses of the data in the lane's one-record calls; other threads read files of their own."""
    of_thread = collections.defaultdict(list)
    for thread, address in re.findall(rf"^(\d+) +{call}\(0x[0-9a-f]+, (0x[0-9a-f]+), 0x1000[,) ]", log.read_text(),
                                      re.MULTILINE):
        of_thread[thread].append(int(address, 16))
    lane = max(of_thread.values(), key=len)
    assert len(lane) == RECORDS, f"{len(lane)} calls of {call}"
    return lane


@pytest.fixture
def run(path, tmp_path):
    def under_strace(*options):
        log = tmp_path / "log"
        prefix = ("strace", "-f", "-qq", "-e", "signal=none", "-e", "trace=read,write,pread64,pwrite64", "-e",
                  "raw=read,write,pread64,pwrite64", "-o", str(log))
        program.run([*SHAPE, *options], path=path, out=tmp_path / "out", prefix=prefix).expect(0)
        return log
    return under_strace


@pytest.mark.parametrize("numbers, write, read", [(("-i", "0", "-i", "1"), "write", "read"),
                                                  (("-i", "9", "-i", "10"), "pwrite64", "pread64")])
def test_places_come_in_turn_and_again_when_the_memory_is_used_up(numbers, write, read, run):
    log = run(*numbers, "--buffer-bytes", "40k")
    for call in (write, read):
        places = addresses(call, log)
        assert len(set(places)) == 10 and all(place % 4096 == 0 for place in places)
        assert places == [places[n % 10] for n in range(RECORDS)]
        assert places[:10] == [places[0] + 4096 * n for n in range(10)]


def test_iozones_letter_has_16_mib_so_that_no_place_comes_again(run):
    log = run("-i", "0", "-i", "1", "-m")
    for call in ("write", "read"):
        assert len(set(addresses(call, log))) == RECORDS


def test_without_it_reads_go_to_one_buffer(run):
    assert len(set(addresses("read", run("-i", "0", "-i", "1")))) == 1


@pytest.mark.parametrize("options", [(), ("-B",), ("-B", "-Z"), ("-I",), ("-+l",), ("-K",)])
def test_every_test_has_it_and_data_are_whole(options, path, out):
    numbers = range(13) if not options else (1, 2) if options == ("-K",) else (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12)
    words = [word for number in numbers for word in ("-i", str(number))]
    outcome = program.run(["-m", "-w", "-t", "2", "-r", "4k", "-s", "256k", *words, *options], path=path, out=out).expect(0)
    for file in outcome.data.glob("lane-*"):
        data = file.read_bytes()
        assert len(data) == 256 * 1024
        assert len({data[at:at + 4096] for at in range(0, len(data), 4096)}) == 64, "no two blocks are equal"


@pytest.mark.parametrize("words, says", [
    (("-m", "--engine", "uring"), ("-m (buffer_bytes)", "uring")),
    (("-m", "-k", "4"), ("-m (buffer_bytes)", "posix-aio")),
    (("-m", "--engine", "null"), ("-m (buffer_bytes)", "null")),
    (("-m", "--verify"), ("-m (buffer_bytes)", "--verify")),
    (("-m", "-V", "3"), ("-m (buffer_bytes)", "--verify")),
    (("-m", "-+w", "50"), ("-m (buffer_bytes)", "--dedupe")),
    (("-m", "--buffer-bytes", "1m"), ("-m (--buffers)", "--buffer-bytes")),
    (("--buffer-bytes", "1k"), ("1 KiB", "less than a record of 4 KiB")),
])
def test_what_cannot_be(words, says, path, out):
    outcome = program.run(["-i", "0", "-r", "4k", "-s", "64k", *words], path=path, out=out).expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert all(word in line for word in says), line
    assert not outcome.data.exists() and not outcome.out.exists()
