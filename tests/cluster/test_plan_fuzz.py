"""A random plan runs or is refused with a reason: none kills a worker, and every saved run can be printed again."""
import os
import random

import program
import pytest
import yaml

OPERATIONS = ("write", "rewrite", "read", "random-read", "random-write", "backward-read", "record-rewrite", "stride-read",
              "random-mix", "sequential-mix", "pwrite", "pwritev", "preadv", "fwrite", "fread", "putc", "getc", "update",
              "seeks", "mkdir", "create", "stat", "find", "readdir", "rename", "set-xattr", "get-xattr", "unlink", "file-mix")
ENGINES = ("posix", "posix", "stdio", "mmap", "null", "uring", "posix-aio")
EXTRAS = {
    "mix_by_lane": True, "read_percent": 70, "reader_lanes": 1, "direct": True, "sync": True, "dsync": True,
    "rotate_clients": True, "depth": 4, "copy": True, "rsync": True, "file_lock": True, "record_locks": True,
    "jitter_every": 3, "fadvise": "random", "preallocate": True, "truncate": True, "keep_existing": True,
    "first_lane_files": True, "buffer_bytes": "64k", "between": {"think_ms": 0.01}, "stride_records": 3,
    "tree": {"items_per_lane": 20, "file_bytes": 300}, "mmap": {"sync": "ASYNC"},
}


def any_plan(seed, path):
    draw = random.Random(seed)
    phases = []
    for _ in range(draw.randint(1, 3)):
        operation = {"name": draw.choice(OPERATIONS), "engine": draw.choice(ENGINES), "record_bytes": "4k"}
        for name in draw.sample(sorted(EXTRAS), draw.randint(0, 2)):
            operation[name] = EXTRAS[name]
        phase = {"assignments": [{"operation": operation}], "stop": {"deadline_s": 0.05}}
        if draw.random() < 0.3:
            phase["region"] = {"fsync": draw.random() < 0.5, "close": True}
        if draw.random() < 0.2:
            phase["stop"]["wear_out"] = True
        if draw.random() < 0.1:
            phase["assignments"].append({"operation": {"name": draw.choice(OPERATIONS), "record_bytes": "4k"}})
        if draw.random() < 0.2:
            phase["assignments"][0]["who"] = {"workers": [0]}
        phases.append(phase)
    files = {"bytes_per_lane": "64k", "files_per_lane": draw.choice((1, 1, 3))}
    if draw.random() < 0.2:
        files = {"bytes_per_lane": "64k", "shared_file": True, "interleaved": draw.random() < 0.5}
    plan = {"targets": [{"path": str(path)}], "files": files, "lanes_per_worker": 2, "phases": phases}
    if draw.random() < 0.3:
        plan["data"] = draw.choice(({"verify": True}, {"compress_percent": 50}, {"dedupe_percent": 50}))
    return plan


@pytest.mark.parametrize("seed", range(int(os.environ.get("FUZZ_FIRST", 0)), int(os.environ.get("FUZZ_COUNT", 12))))
def test_a_plan_is_refused_or_runs(seed, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(any_plan(seed, path)))
    done = program.plain("--plan", str(plan), "--out", str(out))
    assert done.code in (0, 1, 2, 3), f"{plan.read_text()}\n{done}"
    if done.code == 1:
        assert done.stderr.strip(), "a refusal says why"
        return
    assert "lost" not in done.stdout, f"{plan.read_text()}\n{done}"
    again = program.plain("report", str(out))
    assert again.code == 0 and "nan" not in again.stdout, again


@pytest.mark.parametrize("operation", ["stat", "read"])
def test_a_mix_by_lane_of_what_does_not_mix_is_refused(operation, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"targets: [{{path: {path}}}]\nfiles: {{bytes_per_lane: 64k}}\nphases: [{{assignments: [{{operation: "
                    f"{{name: {operation}, record_bytes: 4k, mix_by_lane: true}}}}]}}]\n")
    done = program.plain("--plan", str(plan), "--out", str(out))
    assert done.code == 1 and "mix_by_lane" in done.stderr, done
