"""The benchmarks' harness: who runs, what is written, what is said. No test looks at how long something took."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))

from bench import comparing, harness, kernels, models, peers, report  # noqa: E402
from bench.harness import Absent, Measure, Profile, Result, Settings  # noqa: E402
from bench.names import EAGER, INDUCTOR, ONEDNN, OPENVINO  # noqa: E402

FAST = Settings(seconds=0.02, peers=(EAGER,))


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )


def test_takes_turns() -> None:
    calls: list[str] = []
    times = harness.alternate([lambda: calls.append("a"), lambda: calls.append("b")], 0.2, block_ms=0.01)
    assert len(times) == 2 and all(t > 0 for t in times)
    changes = sum(x != y for x, y in itertools.pairwise(calls))
    assert changes >= 3


def test_the_lock_is_kept_for_a_while(tmp_path: Path) -> None:
    first, second = harness.Lock(tmp_path / "lock"), harness.Lock(tmp_path / "lock")
    with first.held():
        pass
    assert first.since is not None  # the next measurement need not wait
    first.since = time.monotonic() - first.HOLD - 1
    with first.held():
        pass
    with second.held():  # would wait forever
        assert second.since is not None


def test_more_than_one_means_that_ours_is_faster() -> None:
    assert Result("r", "f32", ours_ms=2.0, peer="p", peer_ms=3.0).to_dict()["ratio"] == 1.5
    assert Result("r", "f32", ours_ms=2.0).ratio is None


@pytest.mark.parametrize("name", ["resnet-18", "bert-base", "llama-block-decode"])
def test_a_small_network_beside_eager(name: str) -> None:
    outcomes = list(comparing.compare(models.from_zoo(name, reduced=True), "bf16", FAST))
    result, profile = outcomes
    assert (result.name, result.dtype, result.peer) == (name, "bf16", EAGER)
    assert result.ours_ms > 0 and result.peer_ms > 0
    assert " ms (" in profile.text


@pytest.mark.parametrize("dtype", comparing.DTYPES)
def test_a_chain_of_ops(dtype: str) -> None:
    results = list(comparing.compare(kernels.chain("chain", 4, 33), dtype, FAST))
    assert [type(r) for r in results] == [Result, Profile]


def test_a_wrong_result_is_not_timed() -> None:
    case = kernels.softmax("softmax", 4, 33)
    wrong = replace(case, network=kernels.Call(lambda x: x.flip(0)))
    with pytest.raises(ValueError, match=r"softmax f32, ours: the result's correlation .* expected 0.9999 or more"):
        list(comparing.compare(wrong, "f32", FAST))


def test_a_peer_that_cannot_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = peers.Peer(peers.eager, lambda: "is not installed")

    def broken(*_: object) -> peers.Run:
        raise RuntimeError("no such op\nand more")

    monkeypatch.setattr(comparing, "PEERS", {OPENVINO: missing, INDUCTOR: peers.Peer(broken)})
    outcomes = list(
        comparing.compare(kernels.softmax("softmax", 4, 33), "f32", replace(FAST, peers=(OPENVINO, INDUCTOR, ONEDNN)))
    )
    assert [o for o in outcomes if isinstance(o, Absent)] == [
        Absent("softmax", "f32", OPENVINO, "is not installed"),
        Absent("softmax", "f32", INDUCTOR, "RuntimeError: no such op"),
    ]
    assert [o.peer for o in outcomes if isinstance(o, Result)] == [None]


RESULTS = [
    Result("net", "f32", 2.0, EAGER, 3.0),
    Result("net", "bf16", 2.0, EAGER, 1.0),
    Result("other", "f32", 1.0, EAGER, 6.0),
    Result("load net", "f32", 1.0, "torch.load", 4.0),
]


def test_files_are_as_documented(tmp_path: Path) -> None:
    measure = Measure("memory", "f32", 1.25, "x needed", "<= 1.3")
    report.save(tmp_path, [*RESULTS, measure], 2, add=False)
    lines = json.loads((tmp_path / "results.json").read_text())
    assert lines[0] == {"name": "net", "dtype": "f32", "ours_ms": 2.0, "peer": EAGER, "peer_ms": 3.0, "ratio": 1.5}
    assert {"cpu", "threads", "packages"} <= json.loads((tmp_path / "machine.json").read_text()).keys()
    assert report.saved(tmp_path) == (RESULTS, [measure])
    report.save(tmp_path, [Result("net", "f32", 1.0, EAGER, 3.0)], 2, add=True)
    assert [r.ratio for r in report.saved(tmp_path)[0]] == [3.0, 0.5, 6.0, 4.0]


def test_means_and_losses() -> None:
    assert report.means(RESULTS, ["net", "other"]) == [
        f"{EAGER}, f32: 3.00x over 2",
        f"{EAGER}, both: 1.65x over 3",
        f"{EAGER}, bf16: 0.50x over 1",
    ]
    assert report.slower(RESULTS, [Profile("net", "bf16", "matmul x1 2 ms (100%) of 2 ms")]) == [
        f"net, bf16: 0.50x {EAGER}; matmul x1 2 ms (100%) of 2 ms"
    ]


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench.plot import plot

    assert plot([], tmp_path / "r.svg") == "no plot: nothing was compared"
    plot(RESULTS, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").read_text().lstrip().startswith("<?xml")


def test_command_line(tmp_path: Path) -> None:
    done = bench("--only", "digits, batch 1", "--peers", EAGER, "--seconds", "0.02", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "digits, batch 1" in done.stdout and EAGER in done.stdout
    names = {(line["name"], line["dtype"]) for line in json.loads((tmp_path / "results.json").read_text())}
    assert names == {("digits, batch 1", "f32"), ("digits, batch 1", "bf16")}


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--only", "nothing*"], 1, "bench: no benchmark is named like nothing*; --list shows all"),
        (["--peers", "tvm"], 2, "no peer 'tvm'; there are torch eager, torch inductor, OpenVINO, oneDNN"),
        (["--seconds", "0"], 2, "--threads and --seconds take positive numbers"),
        (["--output", "/nowhere/at/all"], 1, "bench: --output /nowhere/at/all: no such folder"),
    ],
)
def test_wrong_arguments(arguments: list[str], code: int, text: str) -> None:
    done = bench(*arguments)
    assert done.returncode == code and text in done.stderr


def test_every_benchmark_has_one_name() -> None:
    listed = bench("--list").stdout.splitlines()
    assert len(listed) == len(set(listed)) and {"bert-base", "compile bert", "load bert-base"} <= set(listed)
