# SPDX-License-Identifier: Apache-2.0
"""Loops and branches of StableHLO on the chip, compared with the same in Python."""

from __future__ import annotations

from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import python_process
import torch
from builder.base.builder_apis import execute_fb, load_mlir_file
from builder.base.errors import TTBuilderRuntimeException
from emit_cases import Subject, compare_all
from golden.tensor import GoldenMapTensor
from op_cases import device, execute, lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin

COUNTED = """func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %r:4 = stablehlo.while(%i = %zero, %v = %x, %m = %n, %k = %two)
      : tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.multiply %v, %k : tensor<4xf32>
    %bit = stablehlo.and %i, %one : tensor<i32>
    %odd = stablehlo.compare EQ, %bit, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %u = "stablehlo.if"(%odd) ({
      %a = stablehlo.add %w, %x : tensor<4xf32>
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %w : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %j, %u, %m, %k : tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>
  }
  return %r#1, %r#0 : tensor<4xf32>, tensor<i32>
}"""


CASE = """func.func @main(%i: tensor<i32>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %r = "stablehlo.case"(%i) ({
        %0 = stablehlo.add %x, %y : tensor<3xf32>
        stablehlo.return %0 : tensor<3xf32>
      }, {
        stablehlo.return %x : tensor<3xf32>
      }, {
        %0 = stablehlo.constant dense<7.0> : tensor<3xf32>
        stablehlo.return %0 : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""

PLACES = """func.func @main(%n: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %a = stablehlo.constant dense<1.0> : tensor<2xf32>
      %b = stablehlo.constant dense<2.0> : tensor<2xf32>
      %c = stablehlo.constant dense<3.0> : tensor<2xf32>
      %r:4 = stablehlo.while(%i = %zero, %x = %a, %y = %b, %z = %c)
          : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %y, %z, %x : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
      }
      return %r#1, %r#2, %r#3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    }"""

WEIGHT = torch.randn(8, 8, generator=torch.Generator().manual_seed(1)) / 4
_ROWS = ", ".join("[" + ", ".join(f"{v:.9e}" for v in row) + "]" for row in WEIGHT.tolist())
NESTED = f"""func.func @main(%x: tensor<8x8xf32>, %limit: tensor<f32>)
        -> (tensor<8x8xf32>, tensor<i32>) {{
      %w = stablehlo.constant dense<[{_ROWS}]> : tensor<8x8xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %start = stablehlo.constant dense<0.0> : tensor<f32>
      %r:2 = stablehlo.while(%v = %x, %n = %zero) : tensor<8x8xf32>, tensor<i32>
      cond {{
        %m = stablehlo.abs %v : tensor<8x8xf32>
        %s = stablehlo.reduce(%m init: %start) applies stablehlo.maximum across dimensions = [0, 1]
            : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
        %p = stablehlo.compare GT, %s, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %inner:2 = stablehlo.while(%i = %zero, %u = %v) : tensor<i32>, tensor<8x8xf32>
        cond {{
          %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %one : tensor<i32>
          %d = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0]
              : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          stablehlo.return %j, %d : tensor<i32>, tensor<8x8xf32>
        }}
        %k = stablehlo.add %n, %one : tensor<i32>
        stablehlo.return %inner#1, %k : tensor<8x8xf32>, tensor<i32>
      }}
      return %r#0, %r#1 : tensor<8x8xf32>, tensor<i32>
    }}"""


def binary_of(text: str) -> object:
    module, _ = load_mlir_file(text, target="stablehlo")
    return rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))


def run(binary: object, *inputs: torch.Tensor) -> list[torch.Tensor]:
    return [shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: x}) for x in inputs], (1, 1))]


def counted(x: torch.Tensor, n: int) -> tuple[torch.Tensor, int]:
    value, i = x, 0
    while i < n:
        value = value * 2 + (x if i % 2 else 0)
        i += 1
    return value, i


def test_loop_with_branch() -> None:
    """Runs zero, one, an even and an odd number of iterations: the result alternates between two buffers."""
    binary = binary_of(COUNTED)
    x = torch.tensor([1.0, -2.0, 0.5, 3.0])
    for n in (0, 1, 2, 7, -3, 10):
        value, count = run(binary, x, torch.tensor(n, dtype=torch.int32))
        expected, iterations = counted(x, n)
        assert torch.equal(value, expected)
        assert int(count) == iterations


def test_hooks_see_each_turn() -> None:
    binary = binary_of(COUNTED)
    seen = []
    hooks = rt.runtime.DebugHooks.get(post_op=lambda _binary, _program, op: seen.append(rt.runtime.get_op_name(op)))
    try:
        value, _ = run(binary, torch.ones(4), torch.tensor(3, dtype=torch.int32))
    finally:
        rt.runtime.unregister_hooks()
        del hooks
    assert torch.equal(value, counted(torch.ones(4), 3)[0])
    assert seen.count("ttnn.multiply") == 3
    assert seen.count("ttcore.case") == 3
    assert seen.count("ttcore.while") == 1


WITHOUT_END = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.while(%v = %x) : tensor<4xf32> cond {
    stablehlo.return %yes : tensor<i1>
  } do {
    %d = stablehlo.add %v, %x : tensor<4xf32>
    stablehlo.return %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}"""


def test_limit_of_iterations(tmp_path: Path) -> None:
    """Ends an infinite loop by a limit; a finite loop needs no more than its own iterations."""
    inputs = [rt.runtime.create_host_tensor(torch.ones(4))]
    binary = binary_of(WITHOUT_END)
    message = r"main.*\(ttcore\.while\): the loop continues after 1000 iterations"
    for _ in range(2):
        with pytest.raises(rt.OpError, match=message):
            rt.runtime.submit(device((1, 1)), binary, 0, inputs, max_loop_iterations=1000)
    with pytest.raises(TTBuilderRuntimeException, match=message):
        execute_fb(binary, max_loop_iterations=1000)
    path = tmp_path / "loop.ttnn"
    binary.store(path)
    for command in ("run", "perf"):
        done = python_process.run(["-m", "ttrt", command, path, "--max-loop-iterations", "1000"])
        assert done.returncode == 1 and "continues after 1000 iterations" in done.stderr, done.stderr
    counting = binary_of(COUNTED)
    seven = [*inputs, rt.runtime.create_host_tensor(torch.tensor(7, dtype=torch.int32))]
    assert len(rt.runtime.submit(device((1, 1)), counting, 0, seven, 7)) == 2
    with pytest.raises(rt.OpError, match="continues after 6 iterations"):
        rt.runtime.submit(device((1, 1)), counting, 0, seven, 6)


def test_time_grows_with_iterations() -> None:
    """Counts the time of a loop on the chip after its run."""
    binary = binary_of(COUNTED)
    cycles = []
    for n in (0, 1, 5, 9):
        run(binary, torch.ones(4), torch.tensor(n, dtype=torch.int32))
        cycles.append(rt.runtime.last_run(device((1, 1))).cycles)
    assert cycles[0] < cycles[1] < cycles[2] < cycles[3]
    assert cycles[3] - cycles[2] == cycles[2] - cycles[1]


@pytest.mark.parametrize("index", [0, 1, 2, 3, -1, 100])
def test_case(index: int) -> None:
    """A number that no branch has stands for the last one."""
    binary = binary_of(CASE)
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0])
    branches = [x + y, x, torch.full((3,), 7.0)]
    (found,) = run(binary, torch.tensor(index, dtype=torch.int32), x, y)
    assert torch.equal(found, branches[index if 0 <= index < 3 else 2])


def test_values_that_change_places() -> None:
    """Passes loop-carried values on in another order: none is overwritten before it is read."""
    binary = binary_of(PLACES)
    for n in range(5):
        found = [float(x[0]) for x in run(binary, torch.tensor(n, dtype=torch.int32))]
        assert found == [1.0 + (k + n) % 3 for k in range(3)]


def test_nested_loops_and_weights() -> None:
    """A constant matrix, used in the inner of two loops, and a loop that ends by what it computes."""
    binary = binary_of(NESTED)
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(2))
    value, iterations = run(binary, x, torch.tensor(1e-3))
    expected, count = x.double(), 0
    while expected.abs().max() > 1e-3:
        for _ in range(3):
            expected = expected @ WEIGHT.double()
        count += 1
    assert int(iterations) == count > 2
    torch.testing.assert_close(value.double(), expected, rtol=1e-3, atol=1e-7)


def test_composite_runs_its_decomposition() -> None:
    binary = binary_of("""module {
      func.func private @impl(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = stablehlo.multiply %x, %x : tensor<3xf32>
        return %0 : tensor<3xf32>
      }
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = stablehlo.composite "my.square" %x {composite_attributes = {n = 1 : i64}, decomposition = @impl}
            : (tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }
    }""")
    (found,) = run(binary, torch.tensor([1.0, -2.0, 3.0]))
    assert torch.equal(found, torch.tensor([1.0, 4.0, 9.0]))


def test_loops_leak_nothing() -> None:
    binary = binary_of(COUNTED)
    reports = set()
    for _ in range(3):
        run(binary, torch.ones(4), torch.tensor(3, dtype=torch.int32))
        reports.add(device((1, 1)).memory_report())
    assert len(reports) == 1


@pytest.mark.long
@pytest.mark.parametrize("stage", ["stablehlo", "flatbuffer"])
def test_goldens_follow_loops(stage: str, tmp_path: Path) -> None:
    """`ttrt run --golden` of a loop with a branch, and `ttrt compare` of its text with what was made of it."""
    source = tmp_path / "loop.mlir"
    source.write_text(COUNTED)
    module, _ = load_mlir_file(COUNTED, target="stablehlo")
    result = lowered(module, (1, 1))
    (tmp_path / "loop.ttnn").write_bytes(ttnn_to_flatbuffer_bin(result))
    other = tmp_path / "made.mlir"
    other.write_text(str(result))
    command = {
        "flatbuffer": ["run", str(tmp_path / "loop.ttnn"), "--golden"],
        "stablehlo": ["compare", str(source), str(other)],
    }[stage]
    done = python_process.run(["-m", "ttrt", *command])
    assert done.returncode == 0, done.stdout + done.stderr


def integer(value: int) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.int32)


@pytest.mark.long
def test_emitted_programs() -> None:
    """Compares the iterations and branches of C++ and Python, also zero, and the ownership of results."""
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0])
    wide = torch.randn(8, 8, generator=torch.Generator().manual_seed(2))
    cases = [(f"counted {n}", COUNTED, [torch.tensor([1.0, -2.0, 0.5, 3.0]), integer(n)]) for n in (0, 1, 6)]
    cases += [(f"case {i}", CASE, [integer(i), x, y]) for i in (0, 1, 2, -1)]
    cases += [(f"places {n}", PLACES, [integer(n)]) for n in (0, 1, 2)]
    cases += [("nested", NESTED, [wide, torch.tensor(1e-3)])]
    subjects = []
    for name, text, inputs in cases:
        module, _ = load_mlir_file(text, target="stablehlo")
        subjects.append(Subject(name, lowered(module, (1, 1)), [[GoldenMapTensor({0: value}) for value in inputs]]))
    assert not compare_all(subjects)
