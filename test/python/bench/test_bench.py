# SPDX-License-Identifier: Apache-2.0
"""The benchmarks' harness: who runs, what is written, what is said. No test looks at how long something took."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import python_process
import torch

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))

from forked import IMPORTS, forked_output_of  # noqa: E402

from bench import comparing, harness, kernels, models, peers, report  # noqa: E402
from bench.frontends import starting, torch_models  # noqa: E402
from bench.harness import Absent, Measure, Profile, Result, Settings  # noqa: E402
from bench.names import EAGER, INDUCTOR, ONEDNN, OPENVINO  # noqa: E402

FAST = Settings(seconds=0.02, peers=(EAGER,))


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )


def forked_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Saves the import of PyTorch; the process is larger than one of its own, which peaks of memory show."""
    return python_process.run(["-m", "bench", *arguments], IMPORTS, cwd=ROOT)


def test_alternates() -> None:
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


@pytest.mark.long
@pytest.mark.parametrize("name", ["resnet-18", "bert-base", "llama-block-decode"])
def test_a_small_network_and_eager(name: str) -> None:
    result, profile = comparing.compare(models.from_zoo(name, reduced=True), "bf16", FAST)
    assert (result.name, result.dtype, result.peer) == (name, "bf16", EAGER)
    assert " ms (" in profile.text


def test_a_time_is_that_of_its_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours gives a tensor of the runtime, the peer one of torch; a peer that takes longer has a ratio above 1."""

    def alternate(sides: Sequence[harness.Work], seconds: float) -> list[float]:
        assert seconds == FAST.seconds
        return [5.0 if isinstance(side(), torch.Tensor) else 2.0 for side in sides]

    monkeypatch.setattr(comparing, "alternate", alternate)
    result, _ = comparing.compare(kernels.softmax("softmax", 4, 33), "f32", FAST)
    assert result == Result("softmax", "f32", ours_ms=2.0, peer=EAGER, peer_ms=5.0)
    assert result.ratio == 2.5


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
    from bench.names import JAX_CPU, PEERS
    from bench.report.plot import STYLES, plot

    assert STYLES.keys() == {*PEERS, JAX_CPU}
    assert plot([], tmp_path / "r.svg") == "no plot: nothing was compared"
    plot(RESULTS, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.long
def test_command_line(tmp_path: Path) -> None:
    done = forked_bench("--only", "digits, batch 1", "--peers", EAGER, "--seconds", "0.02", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "digits, batch 1" in done.stdout and EAGER in done.stdout
    names = {(line["name"], line["dtype"]) for line in json.loads((tmp_path / "results.json").read_text())}
    assert names == {("digits, batch 1", "f32"), ("digits, batch 1", "bf16")}


# Three benchmarks, each of which notes that it ran. The second ends the process that FATAL names, once, between two
# results.
FAKE = """
import os, signal
from pathlib import Path
from bench.harness import Measure, Result

HERE = Path(__file__).parent


def of(name):
    def run(settings):
        with (HERE / "ran").open("a") as file:
            file.write(name + "\\n")
        yield Result(name, "f32", 1.0, "peer", 2.0)
        fatal = HERE / "fatal"
        if name == "second" and fatal.exists():
            whose, number = fatal.read_text().split()
            fatal.unlink()
            held = bytearray(300_000_000)
            held[:: 4096] = b"1" * len(held[:: 4096])
            if whose != "child":
                os.kill(os.getppid(), int(number))
            if whose != "parent":
                os.kill(os.getpid(), int(number))
        yield Measure(name, "f32", 3.0, "x")
    return run


BENCHMARKS = {name: of(name) for name in ("first", "second", "third")}
"""


class Fake:
    """A run of FAKE in a folder."""

    def __init__(self, folder: Path, fatal: str, number: int = signal.SIGKILL) -> None:
        self.folder = folder
        (folder / "fake_benchmarks.py").write_text(FAKE)
        (folder / "fatal").write_text(f"{fatal} {int(number)}")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return bench(
            *("--module", "fake_benchmarks", "--output", str(self.folder), *arguments), PYTHONPATH=str(self.folder)
        )

    def ran(self) -> list[str]:
        return (self.folder / "ran").read_text().split()

    def names(self, file: str) -> list[str]:
        return [line["name"] for line in json.loads((self.folder / file).read_text())]


@pytest.fixture
def earlier(tmp_path: Path) -> None:
    """Writes the results of an earlier run."""
    report.save(tmp_path, [Result("earlier", "f32", 1.0, EAGER, 3.0)], 2, add=False)


@pytest.mark.long
@pytest.mark.usefixtures("earlier")
def test_a_benchmark_that_dies_ends_alone(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "child")
    done = fake.run()
    assert done.returncode == 1
    ended = re.search(r"bench: second was ended by SIGKILL, with at most (\d+\.\d+) GB", done.stderr)
    assert ended and float(ended[1]) >= 0.3, done.stderr
    peak = re.search(r"peak memory: (\d+\.\d+) GB, in second", done.stderr)
    assert peak and float(peak[1]) > float(ended[1]), done.stderr
    assert fake.ran() == ["first", "second", "third"]
    assert fake.names("results.json") == ["first", "second", "third"]
    assert fake.names("results-measures.json") == ["first", "third"]
    done = fake.run("--resume")
    assert done.returncode == 0, done.stderr
    assert fake.ran() == ["first", "second", "third", "second"]
    assert sorted(fake.names("results-measures.json")) == ["first", "second", "third"]
    assert "first" in done.stdout  # the tables are of the whole run


@pytest.mark.long
@pytest.mark.usefixtures("earlier")
def test_a_run_that_is_killed_keeps_what_it_had(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "parent")
    assert fake.run().returncode == -signal.SIGKILL
    assert fake.names("results.json") == ["first", "second"] and fake.names("results-measures.json") == ["first"]
    other = fake.run("--resume", "--seconds", "9")
    assert other.returncode == 1 and "the unfinished run has seconds 3.0, this one has 9.0" in other.stderr
    assert fake.run("--resume").returncode == 0
    assert fake.ran() == ["first", "second", "second", "third"]
    assert fake.names("results.json") == ["first", "second", "third"]
    assert sorted(fake.names("results-measures.json")) == ["first", "second", "third"]
    again = fake.run("--resume")
    assert again.returncode == 1 and f"bench: --resume: no run in {tmp_path} is unfinished" in again.stderr


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "both", signal.SIGINT)
    done = fake.run()
    assert done.returncode == 128 + signal.SIGINT
    assert "bench: interrupted in second; --resume runs what is left" in done.stderr and "Traceback" not in done.stderr
    assert fake.run("--resume").returncode == 0
    assert fake.ran() == ["first", "second", "second", "third"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--only", "nothing*"], 1, "bench: no benchmark is named like nothing*; --list shows all"),
        (["--peers", "tvm"], 2, "no peer 'tvm'; there are torch eager, torch inductor, OpenVINO, oneDNN"),
        (["--module", "bench.nothing"], 2, "no module 'bench.nothing'; expected one with BENCHMARKS"),
        (["--module", "nothing.at.all"], 2, "no module 'nothing.at.all'; expected one with BENCHMARKS"),
        (["--seconds", "0"], 2, "--threads and --seconds take positive numbers"),
        (["--output", "/nowhere/at/all"], 1, "bench: --output /nowhere/at/all: no such folder"),
    ],
)
def test_wrong_arguments(arguments: list[str], code: int, text: str) -> None:
    done = forked_bench(*arguments)
    assert done.returncode == code and text in done.stderr


@pytest.mark.long
def test_every_benchmark_has_one_name() -> None:
    listed = forked_bench("--list").stdout.splitlines()
    assert len(listed) == len(set(listed)) and {"bert-base", "compile bert", "load bert-base"} <= set(listed)


@pytest.mark.long
def test_a_model_by_torch_compile() -> None:
    outcomes = list(torch_models.benchmark("Mnist (Eval)", FAST))
    measures = {(o.name, o.dtype): o.value for o in outcomes if isinstance(o, Measure)}
    name = "torch Mnist (Eval)"
    assert [measures[f"{name}, ops left to PyTorch", dtype] for dtype in comparing.DTYPES] == [0, 0]
    assert measures[f"{name}, error", "f32"] <= torch_models.F32_ERROR
    # Logarithms of nearly equal probabilities: bf16 results of this model are their own rounding errors.
    (note,) = (o.note for o in outcomes if isinstance(o, Measure) and o.name == f"{name}, agreement")
    ours, pytorch = (float(x) for x in re.findall(r"\d\.\d+", note))
    assert ours >= pytorch - 1e-3
    assert [(o.name, o.dtype, o.peer) for o in outcomes if isinstance(o, Result)] == [
        (f"{name}{what}", dtype, peer)
        for dtype in comparing.DTYPES
        for what, peer in ((", compile and first run", None), ("", EAGER))
    ]
    assert set(torch_models.BENCHMARKS) == {f"torch {model}" for model in torch_models.torch_zoo.MODELS}


def test_first_results_of_new_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "output_of", forked_output_of)
    monkeypatch.setattr(starting, "RUNS", 1)
    monkeypatch.setattr(starting, "LAYERS", 2)
    monkeypatch.setattr(starting, "SIZE", 64)
    settings = Settings(seconds=0.1, threads=2)
    names = []
    for work in (starting.tools, starting.first_of_torch, starting.large_file):
        for outcome in work(settings):
            assert isinstance(outcome, Measure) and math.isfinite(outcome.value) and outcome.unit == "ms"
            names.append(outcome.name.removeprefix("start, "))
    assert names == [
        "ttrt run", "ttrt check", "ttrt read", "ttmlir-opt", "first result of torch.compile",
        "load of 1 GB", "first run of 1 GB", "second run of 1 GB",
    ]  # fmt: skip


def test_imports_are_compared_with_another_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The time of the framework is taken off on both sides."""
    times = {("ttmlir.torch", ""): 900.0, ("import torch", ""): 700.0, ("ttnn", ""): 90.0}
    times |= {("ttmlir.torch", "before"): 1000.0, ("import torch", "before"): 710.0, ("ttnn", "before"): 120.0}
    found = [
        (o.name, o.value, o.note) for o in starting.outcomes(times, starting.FRAMEWORK, "") if isinstance(o, Measure)
    ]
    assert found == [
        ("ttmlir.torch", 200.0, "900 ms with import torch, before 290 ms"), ("ttnn", 90.0, "before 120 ms"),
    ]  # fmt: skip
    monkeypatch.setenv("TTMLIR_BENCH_BEFORE", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"TTMLIR_BENCH_BEFORE: .* has no Python packages of a build"):
        starting.sides()
    (tmp_path / "ttmlir").mkdir()
    assert starting.sides()["before"]["PYTHONPATH"].startswith(str(tmp_path))
