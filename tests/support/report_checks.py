"""Checks what must hold in every report: the parts add up, and the figures agree."""
import itertools
import math

import schema


def check_schema(result):
    problems = schema.problems(result)
    assert not problems, "\n".join(problems[:20])


def lanes_of(phase):
    return [lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]]


def before_a_repeated_start(phases):
    """The phases up to the first one whose start was late and repeated. Lanes that had begun before left items of their tree
    changed. Preparing it again removes what this phase does not need, so the phases after it must make anew what they need."""
    return itertools.takewhile(lambda phase: phase["start"]["attempts"] == 1, phases)


def prepared_tree(phase):
    """What the phase's preparation found in its trees, or did to them."""
    (outcome,) = [step["outcome"] for step in phase["steps"] if step["name"] == "prepare-tree"]
    return outcome


def close(a, b, relative=1e-6):
    return math.isclose(a, b, rel_tol=relative, abs_tol=1e-9)


def check_report(result):
    """Checks the report of a run in which nothing went wrong."""
    check_schema(result)
    plans = {phase["name"]: phase for phase in result["run"]["plan"]["phases"]}
    for phase in result["phases"]:
        check_phase(phase, plans[phase["name"]]["stop"]["warmup_s"])


def check_phase(phase, warmup_s):
    name = phase["name"]
    lanes = lanes_of(phase)
    assert lanes, name
    assert phase["bytes"] == sum(lane["bytes"] for lane in lanes), name
    assert phase["bytes"] == sum(client["bytes"] for client in phase["clients"]), name
    # The values are interpolated between two points of each lane's timeline, and then rounded.
    assert abs(phase["measured_bytes"] - sum(lane["measured_bytes"] for lane in lanes)) <= len(lanes), name
    assert abs(phase["measured_bytes"] - sum(client["measured_bytes"] for client in phase["clients"])) <= len(lanes), name
    assert phase["ops"] == sum(lane["ops"] for lane in lanes), name
    for client in phase["clients"]:
        for worker in client["workers"]:
            assert worker["bytes"] == sum(lane["bytes"] for lane in worker["lanes"]), name
    assert phase["ops"] == sum(client["ops"] for client in phase["clients"]), name
    assert phase["measured_bytes"] <= phase["bytes"], name
    assert phase["measured_ops"] <= phase["ops"], name

    # What counts: bytes, or calls on names.
    unit = "ops" if phase["metadata"] else "bytes"
    measured = phase[f"measured_{unit}"]
    assert measured > 0, name
    headline, throughput = phase["headline"], phase[f"throughput_{unit}_per_s"]
    assert headline["name"] in ("stonewalled", "full"), headline
    assert headline[f"{unit}_per_s"] > 0, name
    assert close(headline[f"{unit}_per_s"], throughput[headline["name"]]), f"{name}: the headline is one of the figures"
    assert close(sum(client[f"{unit}_per_s"] for client in phase["clients"]), headline[f"{unit}_per_s"], 1e-3), name
    assert close(sum(lane[f"{unit}_per_s"] for lane in lanes), throughput["children"], 1e-3), name

    # Windows begin S seconds after the start; T_first (0 of at_s and duration_s) is a little after the start.
    if warmup_s > 0:
        warmup_s -= phase["start"]["late_us"] / 1e6
    stonewall = phase["stonewall"]
    if stonewall["kind"] == "none":
        assert headline["name"] == "full", name
    else:
        assert headline["name"] == "stonewalled", name
        assert stonewall[f"{unit}_low"] <= measured <= stonewall[f"{unit}_high"], name
        assert 0 < stonewall["at_s"] <= phase["duration_s"] + 1e-9, name
    # at_s is on the same axis as the lanes' own ends, so the figure can be recomputed.
    if stonewall["kind"] in ("retroactive", "stop"):
        assert close(throughput["stonewalled"], measured / (stonewall["at_s"] - warmup_s), 1e-3), name
    if stonewall["kind"] == "none":
        assert close(throughput["full"], measured / (phase["duration_s"] - warmup_s), 1e-3), name

    start = phase["start"]
    assert start["skew_low_us"] - 1e-9 <= start["skew_us"] <= start["skew_high_us"] + 1e-9, name
    starts = [lane["start_us"] for lane in lanes if not lane["sat_out"]]
    assert min(starts) >= -1e-6 and close(max(starts) - min(starts), start["skew_us"], 1e-3), name

    mean, most = phase["regions_s"], phase["regions_max_s"]
    assert mean["ops"] > 0, name
    for part, seconds in mean.items():
        assert 0 <= seconds <= most[part] + 1e-12, f"{name}: {part}"

    check_latency(phase["latency_us"], name)
    by_kind = phase["by_kind"]
    ops = {kind: part["ops"] for kind, part in by_kind.items() if kind not in schema.FLUSH_CALLS}
    assert sum(ops.values()) == phase["latency_us"]["count"], name
    assert sum(kind["bytes"] for kind in by_kind.values()) <= phase["bytes"], name
    for kind in by_kind.values():
        check_latency(kind["latency_us"], name)
    for mark in phase["marks"]:
        assert mark["code"] and mark["text"], mark


def check_latency(latency, name):
    order = [latency[key] for key in ("min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max")]
    assert latency["count"] > 0, name
    assert all(low <= high * (1 + 1e-9) for low, high in zip(order, order[1:])), f"{name}: {order}"
    assert latency["min"] <= latency["mean"] <= latency["max"], name


def check_csv(outcome):
    """One row per phase, client and lane, with the numbers of result.json."""
    expected = [(phase, client, worker, lane)
                for phase in outcome.phases for client in phase["clients"]
                for worker in client["workers"] for lane in worker["lanes"]]
    rows = outcome.rows
    assert len(rows) == len(expected)
    for row, (phase, client, worker, lane) in zip(rows, expected):
        assert row["phase"] == phase["name"] and row["client"] == client["host"]
        assert int(row["worker"]) == worker["worker"] and int(row["lane"]) == lane["lane"]
        assert row["metadata"] == str(int(phase["metadata"]))
        for column in ("bytes", "measured_bytes", "ops"):
            assert int(row[column]) == lane[column], column
        for column, value in (("bytes_per_s", lane["bytes_per_s"]),
                              ("ops_per_s", lane["ops_per_s"]),
                              ("client_ops_per_s", client["ops_per_s"]),
                              ("end_s", lane["end_s"]),
                              ("ops_s", lane["regions_s"]["ops"]),
                              ("close_s", lane["regions_s"]["close"]),
                              ("headline_bytes_per_s", phase["headline"]["bytes_per_s"]),
                              ("full_bytes_per_s", phase["throughput_bytes_per_s"]["full"]),
                              ("stonewall_at_s", phase["stonewall"]["at_s"]),
                              ("phase_p99_us", phase["latency_us"]["p99"])):
            names_alone = phase["metadata"] and phase["bytes"] == 0     # without a data rate
            if value is None or (names_alone and column.endswith("bytes_per_s")):
                assert row[column] == "", column
            else:
                assert close(float(row[column]), value), column
