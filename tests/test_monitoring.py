"""The alarms for Prometheus and the dashboard for Grafana, beside what a server really exports."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from tests.conftest import running
from tests.debian import run
from tests.ports import free_ports

ROOT = Path(__file__).parents[1]
RULES = ROOT / "deploy" / "prometheus-rules.yml"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")

AFTER_A_BACKUP = {"thudmud_backup_timestamp_seconds"}
"""Metrics that a new server lacks."""

OF_PROMETHEUS = {"up"}
"""Metrics that Prometheus makes."""

SUFFIXES = ("_bucket", "_sum", "_count", "_created")

CONFIG = """
[server]
port = 0
tls_port = {tls}
tls_certificate = "tls.pem"
[web]
port = {web}
public_url = "https://thud.example.org"
tls_certificate = "tls.pem"
[mail]
relay = "127.0.0.1"
port = {relay}
tls = "none"
sender = "thud@thud.example.org"
[push]
enabled = true
[metrics]
enabled = true
port = {metrics}
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the metrics of a running server with every option: the types by name."""
    folder = tmp_path_factory.mktemp("exported")
    issued = trustme.CA().issue_cert("thud.example.org")
    issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "tls.pem"))
    with free_ports() as find:
        ports = {name: find() for name in ("tls", "web", "relay", "metrics")}
        (folder / "config.toml").write_text(CONFIG.format(**ports), "utf-8")
        words = ("-m", "thudmud.cli.main", "serve", "--config", "config.toml")
        with running([sys.executable, *words], folder):
            text = ""
            while "thudmud_notifications_waiting" not in text:  # read just after the start
                place = f"http://127.0.0.1:{ports['metrics']}/metrics"
                text = httpx.get(place, trust_env=False).text
    samples = {re.split(r"[{ ]", line)[0] for line in text.splitlines() if line[:1] != "#"}
    kinds = dict(re.findall(r"(?m)^# TYPE (\S+) (\S+)$", text))
    return {name: kinds.get(name, "") for name in {*samples, *kinds}}


def metrics_in(text: str) -> set[str]:
    """Return the names of metrics in PromQL, or in a page."""
    return set(re.findall(r"\b(?:thudmud_|process_)\w+", text))


def expressions() -> Iterator[str]:
    """Yield the expressions of all panels and variables of the dashboard, as PromQL."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"].replace("$__rate_interval", "5m").replace("$__interval", "1m")
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            (series,) = re.findall(r"label_values\((.*), \w+\)", variable["definition"])
            yield series


# The alarms.


@pytest.mark.slow
def test_promtool_accepts_the_rules() -> None:
    done = run("promtool", "check", "rules", RULES)
    assert done.returncode == 0, done.stdout
    assert "SUCCESS" in done.stdout


@pytest.mark.slow
def test_alarms_are_raised_for_faults_alone() -> None:
    done = run("promtool", "test", "rules", ROOT / "tests" / "prometheus_rules.test.yml")
    assert done.returncode == 0, done.stdout


def test_alarms_are_all_tested_and_say_what_to_do() -> None:
    rules = RULES.read_text("utf-8")
    tests = (ROOT / "tests" / "prometheus_rules.test.yml").read_text("utf-8")
    alarms = re.findall(r"(?m)^      - alert: (\w+)$", rules)
    assert len(alarms) == len(set(alarms)) >= 10
    for alarm in alarms:
        assert f'alertname="{alarm}"' in tests or f"alertname: {alarm}\n" in tests
    for key in ("summary:", "description:", "severity:"):
        assert rules.count(key) == len(alarms)


def test_alarms_use_metrics_that_a_server_exports(exported: dict[str, str]) -> None:
    used = metrics_in("\n".join(re.findall(r"expr:(.*(?:\n {10}.*)?)", RULES.read_text("utf-8"))))
    assert "thudmud_healthy" in used
    assert used - AFTER_A_BACKUP <= set(exported)


# The dashboard.


def test_dashboard_panels_are_distinct_and_described() -> None:
    panels: list[dict[str, Any]] = DASHBOARD["panels"]
    numbers = [panel["id"] for panel in panels]
    assert len(set(numbers)) == len(numbers)
    assert DASHBOARD["schemaVersion"] >= 39
    cells = set[tuple[int, int]]()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {
            (place["x"] + right, place["y"] + down)
            for right in range(place["w"])
            for down in range(place["h"])
        }
        assert not own & cells, panel["title"]
        cells |= own
        if panel["type"] != "row":
            assert panel["description"]
            assert panel["targets"]
            letters = [target["refId"] for target in panel["targets"]]
            assert len(set(letters)) == len(letters)


@pytest.mark.slow
def test_dashboard_expressions_are_valid_promql(tmp_path: Path) -> None:
    """promtool checks rules only, so each expression becomes one."""
    rules = [{"record": f"panel:{n}", "expr": each} for n, each in enumerate(expressions())]
    path = tmp_path / "rules.yml"  # JSON is YAML
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), "utf-8")
    done = run("promtool", "check", "rules", path)
    assert done.returncode == 0, done.stdout
    assert f"SUCCESS: {len(rules)} rules found" in done.stdout


def test_dashboard_uses_metrics_that_a_server_exports(exported: dict[str, str]) -> None:
    used = metrics_in("\n".join(expressions()))
    assert {"thudmud_players", "thudmud_battles", "process_resident_memory_bytes"} <= used
    assert used - AFTER_A_BACKUP <= set(exported)


def test_dashboard_shows_every_metric(exported: dict[str, str]) -> None:
    """Counters have to be shown as rates, and histograms as quantiles."""
    text = "\n".join(expressions())
    for name, kind in exported.items():
        if not name.startswith("thudmud_") or not kind or "timestamp" in name:
            continue
        if kind == "counter" and name.endswith("_total"):
            assert f"rate({name}{{" in text
        elif kind == "histogram":
            assert f"rate({name}_bucket{{" in text
        elif kind == "gauge" and not name.endswith(SUFFIXES):
            assert f"{name}{{" in text


# What is exported.


def test_names_follow_the_conventions_of_prometheus(exported: dict[str, str]) -> None:
    """See https://prometheus.io/docs/practices/naming/: base units, and counters in _total."""
    for name, kind in exported.items():
        if name.startswith("thudmud_") and kind:
            assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
            is_total = name.endswith(("_total", "_created"))
            assert is_total == (kind == "counter" or name.endswith("_created")), name
            assert not re.search(r"_(ms|millis\w*|minutes|hours|days|kb|mb|percent)(_|$)", name)
            assert "timestamp" not in name or name.endswith("_timestamp_seconds")


def test_page_lists_exactly_the_metrics(exported: dict[str, str]) -> None:
    table = "".join(re.findall(r"(?m)^\| `thudmud_.*", PAGE))
    listed = set(re.findall(r"`(thudmud_[a-z_]+)", table))
    made = {name for name, kind in exported.items() if kind and name.startswith("thudmud_")}
    made = {name for name in made if not name.endswith(SUFFIXES)}
    assert listed - AFTER_A_BACKUP == made


def test_page_lists_every_alarm() -> None:
    alarms = re.findall(r"(?m)^      - alert: (\w+)$", RULES.read_text("utf-8"))
    assert re.findall(r"(?m)^\| `(Thudmud\w+)` \|", PAGE) == alarms


@pytest.mark.slow
def test_page_configuration_of_prometheus_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    installed = "/etc/prometheus/thudmud.yml"
    assert f"# cp deploy/{RULES.name} {installed}" in PAGE
    path = tmp_path / "prometheus.yml"
    path.write_text(text.replace(installed, str(RULES)), "utf-8")
    done = run("promtool", "check", "config", path)
    assert done.returncode == 0, done.stdout
    (job,) = re.findall(r"job_name: (\w+)", text)
    assert set(re.findall(r'job="(\w+)"', RULES.read_text("utf-8"))) == {job}
