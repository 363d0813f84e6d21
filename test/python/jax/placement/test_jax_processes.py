# SPDX-License-Identifier: Apache-2.0
"""Several processes of `jax.distributed` on the platform `tt`."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")

SCRIPT = Path(__file__).with_name("run_processes.py")
KNOWN = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TTMLIR_"))}
START = """
import os, sys, jax, numpy as np
index, count, port = (int(text) for text in sys.argv[1:4])
jax.distributed.initialize(f"127.0.0.1:{port}", count, index, heartbeat_timeout_seconds=30)
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(AxisType.Auto,))
x = jax.device_put(np.ones((len(jax.devices()), 4), np.float32), NamedSharding(mesh, P("x")))
def attempt(function):
    try:
        return jax.block_until_ready(function())
    except Exception as error:
        print(error, flush=True)
        os._exit(3)  # JAX's own shutdown waits for processes that have ended
"""


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def run(count: int, program: Sequence[str], more: Sequence[str] = (), **variables: str) -> list[tuple[int, str, str]]:
    """Returns the exit status and what was printed of processes that run a program with their number.

    Raises:
        subprocess.TimeoutExpired: they hang.
    """
    env = KNOWN | {"JAX_PLATFORMS": "tt", "OMP_NUM_THREADS": "1"} | variables
    port = str(free_port())
    started = [
        subprocess.Popen(
            [sys.executable, *program, str(index), str(count), port, *more],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]
    until = time.monotonic() + 240
    try:
        texts = [process.communicate(timeout=max(1, until - time.monotonic())) for process in started]
    finally:
        for process in started:
            process.kill()
    return [(process.returncode, *text) for process, text in zip(started, texts, strict=True)]


def run_text(program: str, count: int = 2, mesh: str = "1x2", **variables: str) -> list[tuple[int, str, str]]:
    return run(count, ["-c", START + textwrap.dedent(program)], TTMLIR_MESH=mesh, **variables)


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "mesh", "pattern", "least"),
    [
        (2, "2x2", "", 25),
        # What depends on the number of processes.
        (
            4,
            "2x4",
            "of the processes|index|all processes|collectives|axes|order|of some|of one|branches|checkpoint",
            12,
        ),
        pytest.param(4, "2x4", "", 25, marks=pytest.mark.slow),
    ],
    ids=["2 processes", "4 processes", "4 processes, all programs"],
)
def test_programs(tmp_path, count, mesh, pattern, least):
    for module in ("flax", "optax", "orbax.checkpoint"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    for status, out, errors in run(count, [str(SCRIPT)], [str(tmp_path), pattern], TTMLIR_MESH=mesh):
        assert status == 0, errors[-3000:]
        found = [json.loads(line) for line in out.splitlines()]
        assert len(found) >= least
        wrong = [f"{name}:\n{error[-2000:]}" for name, error in found if error]
        assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_process_that_ends():
    """The other one waits for it in a program."""
    (status, _, _), (other, out, errors) = run_text("""
        print(float(attempt(lambda: x.sum())), flush=True)
        if index == 0:
            os._exit(9)
        attempt(lambda: (x * 2).sum())
        """)
    assert (status, other) == (9, 3), errors
    assert "8.0" in out
    assert "process 0 has ended or failed, and process 1 needs it" in out


@pytest.mark.long
def test_process_whose_function_raises():
    done = run_text("""
        def f(x):
            if index == 0: raise ValueError("no such value")
            return x
        g = jax.jit(lambda x: jax.pure_callback(f, jax.ShapeDtypeStruct((), np.float32), x.sum()))
        attempt(lambda: g(x))
        """)
    assert [status for status, _, _ in done] == [3, 3]
    assert "ValueError: no such value" in done[0][1]
    assert "process 0 failed in jit__lambda" in done[1][1]
    assert "ValueError: no such value" in done[1][1]


@pytest.mark.long
def test_processes_that_run_different_programs():
    done = run_text("""
        program = (lambda x: x.sum()) if index == 0 else (lambda x: x.max() * 2)
        attempt(lambda: jax.jit(program)(x))
        """)
    assert [status for status, _, _ in done] == [3, 3]
    texts = [out for _, out, _ in done]
    assert any("the processes run different programs: process" in text for text in texts)
    assert all("expected the same programs in the same order on all processes" in text for text in texts)


@pytest.mark.long
def test_process_that_runs_nothing():
    done = run_text(
        """
        if index == 0:
            attempt(lambda: (x * 3).sum())
        import time
        time.sleep(20)
        """,
        TTRT_RANKS_TIMEOUT="5",
    )
    assert done[0][0] == 3
    assert "nothing came from process 1 for 5 seconds (TTRT_RANKS_TIMEOUT)" in done[0][1]


@pytest.mark.long
def test_program_after_a_failure():
    done = run_text("""
        try:
            jax.jit(lambda x: jax.pure_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), np.float32), x.sum()))(x)
        except Exception:
            pass
        print(float(jnp.arange(4.0).sum()), flush=True)  # in this process alone
        attempt(lambda: (x * 2).sum())
        """)
    for status, out, _ in done:
        assert status == 3
        assert "6.0" in out
        assert "programs cannot span processes any more, because one has failed: process 0 failed in" in out


@pytest.mark.long
def test_settings_that_do_not_fit():
    program = """
    import os, sys, jax
    index, count, port = (int(text) for text in sys.argv[1:4])
    if index == 1: os.environ["TTMLIR_MESH"] = "2x2"
    jax.distributed.initialize(f"127.0.0.1:{port}", count, index)
    try: jax.devices()
    except Exception as error: print(error, flush=True)
    os._exit(0)
    """
    texts = [out for _, out, _ in run(2, ["-c", textwrap.dedent(program)], TTMLIR_MESH="1x2")]
    assert "process 1 has mesh 2x2 of wormhole_b0" in texts[0]
    assert "expected the same mesh on all processes" in texts[0]
    texts = [out for _, out, _ in run(2, ["-c", textwrap.dedent(program)], TTMLIR_MESH="1x1")]
    assert "'1x1': 1 chips for the 2 processes of jax.distributed; expected one for each at least" in texts[0]
    texts = [out for _, out, _ in run(2, ["-c", textwrap.dedent(program)], TTMLIR_MESH="1x3")]
    assert (
        "'1x3': 3 chips for the 2 processes of jax.distributed; expected" in texts[0] and "as many for each" in texts[0]
    )


@pytest.mark.long
def test_a_chip_for_each_process():
    done = run_text("print(jax.local_device_count(), jax.device_count(), float(x.sum()))", 3, mesh="")
    assert [(status, out) for status, out, _ in done] == [(0, "1 3 12.0\n")] * 3


MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-c"]


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin is not installed")
@pytest.mark.parametrize("initialized", [True, False])
def test_ranks_of_mpirun(initialized):
    program = f"""
    import jax, numpy as np
    from jax.experimental import multihost_utils
    if {initialized}: jax.distributed.initialize()
    got = multihost_utils.process_allgather(np.int32(jax.process_index() + 5))
    if jax.process_index() == 0: print(got.tolist(), jax.local_device_count())
    """
    done = subprocess.run(
        [*MPIRUN, textwrap.dedent(program)],
        env=os.environ | {"JAX_PLATFORMS": "tt", "TTMLIR_MESH": "2x2"},
        capture_output=True,
        text=True,
        check=False,
    )
    if initialized:
        assert (done.returncode, done.stdout) == (0, "[5, 6] 2\n"), done.stderr
    else:
        assert done.returncode == 1
        assert "mpirun started 2 processes, and JAX knows of one; call jax.distributed.initialize()" in done.stderr
