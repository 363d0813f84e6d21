# SPDX-License-Identifier: Apache-2.0
"""Common parts of all tests: --slow, --seed, samples, and a temporary working folder."""

from __future__ import annotations

import gc
import itertools
import logging
import os
import re
import signal
import sys
import types
import weakref
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.logging import catching_logs

ROOT = Path(__file__).resolve().parents[2]
# Tables and generators that tests of several folders use.
FOLDERS = (
    *(
        f"test/python/{folder}"
        for folder in ("installing", "ops", "ops/special", "profiler", "random_programs", "stablehlo")
    ),
    "examples/meshes",
    "tools",
)
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
if (ROOT / "build" / "python_packages").is_dir():
    sys.path.insert(0, str(ROOT / "build" / "python_packages"))

# OpenMP reads this when it is loaded: threads that wait for others give up the processor, which another process of
# pytest needs.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Most objects of a process are those of libraries. Python's own limits let its collector go over all of them so often
# that a fifth of the time of compiling a model goes there.
gc.set_threshold(10_000, 20, 20)


def no_handler(_: logging.Handler) -> None:
    return None


# PyTorch writes each graph, guard and symbol as text, with the stack, for the handlers of this logger: an eighth of the
# time of an export. pytest adds one to each logger that does not propagate, and PyTorch one for TORCH_TRACE, which has
# no effect in tests.
logging.getLogger("torch.__trace").addHandler = no_handler  # type: ignore[method-assign]


enter_catching_logs = catching_logs.__enter__


def catch_logs_of_root(self: catching_logs[Any]) -> Any:
    """Attaches pytest's handlers to the root logger only, six times per test.

    Libraries have hundreds of loggers, and a hundred that do not propagate to it. PyTorch's write to stderr.
    """
    manager = logging.root.manager
    with logging._lock:  # type: ignore[attr-defined]
        loggers, manager.loggerDict = manager.loggerDict, {}
        try:
            return enter_catching_logs(self)
        finally:
            manager.loggerDict = loggers


catching_logs.__enter__ = catch_logs_of_root  # type: ignore[method-assign]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run tests marked slow, and all parameters of sampled ones")
    parser.addoption(
        "--seed", type=int, default=0, help="of random tests and of samples; a failing random one prints it"
    )


def function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def by_function(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """In the order of a hash, so that no pattern of the parameters decides what a sample has."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        functions.setdefault(function_of(item), []).append(item)
    return functions


def not_sampled(items: Iterable[pytest.Item], seed: int) -> set[pytest.Item]:
    left_out: set[pytest.Item] = set()
    for several in by_function(item for item in items if item.get_closest_marker("sampled")).values():
        (one_of,) = several[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        if len(several) > one_of:  # who names a few gets them all
            left_out.update(several)
            left_out.difference_update(several[seed % one_of :: one_of])
    return left_out


@pytest.hookimpl(trylast=True)  # after -k and -m have chosen
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow; --slow runs it")
    quick = []
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
        else:
            quick.append(item)
    gone = not_sampled(quick, config.getoption("--seed"))
    if gone:
        config.hook.pytest_deselected(items=[item for item in items if item in gone])
        items[:] = [item for item in items if item not in gone]


# Modules that were imported when objects were frozen last.
frozen = 0


def freeze() -> None:
    """Leaves what is there out of later collections of garbage: a fifth of the time of tests goes there else."""
    global frozen
    frozen = len(sys.modules)
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    freeze()
    if torch := sys.modules.get("torch"):
        # Seeds of devices that are not there: PyTorch keeps the stack of each call, and a stack of pytest takes 1 ms.
        for device in (torch.cuda, torch.xpu, torch.mtia):
            device.traceback = types.SimpleNamespace(format_stack=list)


def measure_no_guards() -> None:
    """Keeps Dynamo from timing its guards, and from recording settings and mutations, at each function it compiles.

    It empties the caches of the CPU before it times, and writes each setting of four packages as JSON: together a third
    of the time of a small function. Stacks of mutations take 2 % of the time of a model. All end in logs that no test
    reads.
    """
    guards, utils = sys.modules.get("torch._dynamo.guards"), sys.modules.get("torch._dynamo.utils")
    if guards is None or utils is None or guards.profile_guard_manager is no_latency:
        return
    guards.profile_guard_manager = no_latency  # type: ignore[attr-defined]
    for package in ("get_dynamo", "compiler", "scrubbed_inductor", "functorch"):
        name = f"_{package}_config_for_logging"
        assert callable(getattr(utils, name)), f"torch._dynamo.utils has no {name}"
        setattr(utils, name, no_settings)
    settings = sys.modules["torch._dynamo.config"]
    assert settings.side_effect_replay_policy == "info", "torch._dynamo.config.side_effect_replay_policy"
    settings.side_effect_replay_policy = "silent"  # type: ignore[attr-defined]


def no_latency(*_: object) -> float:
    return 0.0


def no_settings() -> None:
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    measure_no_guards()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    if len(sys.modules) > frozen + 300:  # such as models of transformers, and Dynamo
        freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what scripts/test.sh could not run, on the last lines."""
    if left_out := os.environ.get("TTMLIR_TESTS_LEFT_OUT"):
        terminalreporter.write_line(f"NOT RUN: {left_out}", red=True, bold=True)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    value = request.config.getoption("--seed")
    print(f"--seed {value}")
    return value


@pytest.fixture
def live_goldens(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Counts the GoldenMapTensors made since that are still there. Python's list of all objects takes long to walk."""
    from golden import GoldenMapTensor

    alive: dict[int, weakref.ref[Any]] = {}
    init = GoldenMapTensor.__init__

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        key = id(self)
        alive[key] = weakref.ref(self, lambda _: alive.pop(key))

    monkeypatch.setattr(GoldenMapTensor, "__init__", counted)
    return lambda: len(alive)


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C reaches what tests start, also where a shell runs them in the background, which ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


folder_numbers = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a folder, numbered by a counter: pytest's own reads the names of all earlier ones to find a number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}-{next(folder_numbers)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Artefacts go where the test ends, not into the source tree."""
    monkeypatch.chdir(tmp_path)
