"""The dashboard of deploy/grafana: each of its queries finds what a run serves, as a real Prometheus sees it."""
import json
import math
import pathlib
import re
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml
from prometheus_client.openmetrics import parser

import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "cluster-iobench.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
# What Grafana puts in place of its own variables: some scrapes, and the time that is shown.
IN_PLACE = {"$__rate_interval": "10s", "$__range": "900s"}
# Labels that a query makes or Prometheus adds.
OTHER_LABELS = {"le"}


def names_in(query):
    return set(re.findall(r"\biobench_\w+", query))


def labels_in(query):
    """The labels that a query selects, groups or matches by."""
    selected = re.findall(r"(\w+)=~?\"", query)
    grouped = [label for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", query) for label in group.split(",")]
    return {label.strip() for label in selected + grouped}


def as_grafana_asks(query):
    for variable, value in (*IN_PLACE.items(), *((f"${name}", ".*") for name in VARIABLES)):
        query = query.replace(variable, value)
    assert "$" not in query, query
    return query


class Prometheus:
    """A server of metrics that scrapes as docs/reports.md says, but every second."""

    def __init__(self, directory, scraped):
        documented = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
        config = re.search(r"```\n(scrape_configs:.*?)```", documented, re.S)[1]
        config, replaced = re.subn(r"coord\.example\.com:\d+", scraped, config)
        config, shorter = re.subn("scrape_interval: 2s", "scrape_interval: 1s", config)
        assert replaced and shorter
        (directory / "prometheus.yml").write_text(config)
        assert yaml.safe_load(config)["scrape_configs"]
        self.address = f"127.0.0.1:{program.free_port()}"
        self.command = ("prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/store",
                        f"--web.listen-address={self.address}", "--log.level=error")

    def ask(self, query, at_s=None):
        """The samples of an instant query, now or at a time: labels and value of each; none while the server starts."""
        instant = {} if at_s is None else {"time": at_s}
        url = f"http://{self.address}/api/v1/query?" + urllib.parse.urlencode({"query": query, **instant})
        try:
            with urllib.request.urlopen(url, timeout=program.PATIENCE_S) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as wrong:
            if wrong.code == 503:     # it listens before it can answer
                return []
            raise AssertionError(f"{query}\n{wrong.read().decode()}") from wrong
        except OSError:
            return []
        assert found["status"] == "success", found
        return [(sample["metric"], float(sample["value"][1])) for sample in found["data"]["result"]]

    def answer(self, query, at_s=None):
        """As `ask`, once there is a sample: a scrape may be late on a busy machine."""
        deadline = time.monotonic() + program.PATIENCE_S
        while not (samples := self.ask(query, at_s)):
            assert time.monotonic() < deadline, f"no answer to {query}"
            time.sleep(0.2)
        return samples


@pytest.fixture(scope="module")
def scraped(tmp_path_factory):
    """A Prometheus that has scraped a run of two workers, which still lasts, and what the run serves."""
    directory = tmp_path_factory.mktemp("prometheus")
    (directory / "target").mkdir()
    words = "-i 0 -+n -r 4k -s 1m -t 2 --rate 100 --time 600 --spawn 2 --label nightly --live-metrics 127.0.0.1:0".split()
    with program.start(words, path=directory / "target", out=directory / "out") as run:
        url = re.search(r"http://(\S+)/metrics", run.process.stderr.readline())
        server = Prometheus(directory, url[1])
        with program.Running(server.command, directory, directory, program.clean_environment()) as prometheus:
            # A rate needs two scrapes, and a phase has no figures right after its start.
            last = as_grafana_asks("rate(iobench_client_op_duration_seconds_count[$__rate_interval]) > 0")
            deadline = time.monotonic() + program.PATIENCE_S
            while not server.ask(last):
                assert prometheus.process.poll() is None, prometheus.wait()
                assert run.process.poll() is None and time.monotonic() < deadline
                time.sleep(0.2)
            with urllib.request.urlopen(url[0], timeout=program.PATIENCE_S) as answer:
                served = list(parser.text_string_to_metric_families(answer.read().decode()))
            yield server, [sample for family in served for sample in family.samples]
            run.interrupt()
            run.wait()


@pytest.mark.parametrize("title, target", TARGETS, ids=[f"{title} {target['refId']}" for title, target in TARGETS])
def test_each_query_has_an_answer(title, target, scraped):
    server, served = scraped
    query = target["expr"]
    labels = {}
    for sample in served:
        labels.setdefault(sample.name, set()).update(sample.labels)
    names = names_in(query)
    assert names and names <= labels.keys(), f"not served: {names - labels.keys()}"
    unknown = labels_in(query) - OTHER_LABELS - set.union(*(labels[name] for name in names))
    assert not unknown, f"{title}: no metric of {sorted(names)} has the labels {sorted(unknown)}"
    samples = server.answer(as_grafana_asks(query))
    assert all(math.isfinite(value) for _, value in samples), f"{title}: {samples}"
    for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
        assert all(found.get(label) for found, _ in samples), f"{title}: the legend has {label}, the answer {samples[0][0]}"


def test_figures_are_those_of_the_run(scraped):
    server, _ = scraped
    at_s = time.time()     # one for all, as figures change

    def value(title, number=0):
        expr = next(panel for panel in PANELS if panel["title"] == title)["targets"][number]["expr"]
        return [value for _, value in server.answer(as_grafana_asks(expr), at_s)]
    assert value("Phases of the run") == [1] and value("Workers lost") == [0] and value("Lanes running") == [4]
    p50, p95, p99, p999 = (value("Latency percentiles", number)[0] for number in range(4))
    assert 0 < p50 <= p95 <= p99 <= p999
    (share,) = value("The 10 slowest clients, of the mean")
    assert share == 1     # the one client


def test_each_variable_is_found_and_used(scraped):
    server, served = scraped
    for name, variable in VARIABLES.items():
        if variable["type"] == "datasource":
            continue
        metric, label = re.fullmatch(r"label_values\(([^{]+)(?:\{.*\})?, (\w+)\)", variable["query"]["query"]).groups()
        assert any(sample.name == metric and sample.labels.get(label) for sample in served), name
        assert any(f'{label}=~"${name}"' in target["expr"] for _, target in TARGETS)
        assert variable["definition"] == variable["query"]["query"]


def test_the_dashboard_fits_itself():
    """No panels overlap or share an id, each has a unit, and what it explains is what the metrics are."""
    assert {"Throughput", "Ops", "Latency percentiles", "p99 of each client"} <= {panel["title"] for panel in PANELS}
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
    for panel in PANELS:
        assert panel["fieldConfig"]["defaults"]["unit"] and panel["datasource"]["uid"] == "${datasource}"
        assert [target["refId"] for target in panel["targets"]] == list("ABCDEFG"[:len(panel["targets"])])
