# SPDX-License-Identifier: Apache-2.0
"""Hooks see what the kernels of an op have in L1 as circular buffers."""

from __future__ import annotations

from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch

runtime = rt.runtime


def chain(builder: Any, ops: int) -> None:
    @builder.func([(64, 96)], [torch.bfloat16])
    def main(x: Any, builder: Any) -> Any:
        for _ in range(ops):
            x = builder.exp(builder.transpose(x, dim0=0, dim1=1))
        return x


def run(device: Any, binary: Any, hook: Any) -> None:
    runtime.DebugHooks.get(post_op=hook)
    try:
        runtime.submit(device, binary, 0, [runtime.create_host_tensor(torch.rand(64, 96, dtype=torch.bfloat16))])
    finally:
        runtime.unregister_hooks()


def test_hooks_see_circular_buffers(device, compiled_program):
    found: dict[str, int] = {}
    run(device, compiled_program(lambda b: chain(b, 1)),
        lambda binary, context, op: found.update({op.name: context.circular_buffer_bytes(op)}))  # fmt: skip
    assert found["ttnn.exp"] == 4 * 2048, "two tiles of the operand and of the result"
    assert {name for name, bytes_ in found.items() if bytes_} == {"ttnn.exp"}


def test_an_op_of_another_program_is_refused(device, compiled_program):
    ops: list[Any] = []
    run(device, compiled_program(lambda b: chain(b, 4)), lambda binary, context, op: ops.append(op))
    with pytest.raises(Exception, match=rf"has no op {ops[-1].index}; it has \d"):
        run(device, compiled_program(lambda b: chain(b, 1)),
            lambda binary, context, op: context.circular_buffer_bytes(ops[-1]))  # fmt: skip


def test_a_bank_gives_the_lowest_free_piece():
    bank = rt.runtime.BankAllocator(64, 256, 32)
    assert [bank.allocate(size, "a block") for size in (33, 1, 65)] == [64, 128, 160]
    assert (bank.allocated, bank.free) == (192, 0)
    assert bank.allocate(1, "another") is None and bank.allocate(2**62, "more") is None
    with pytest.raises(rt.Error, match="base is 64, end 32, alignment 32; expected 0 <= base <= end, 1 <= alignment"):
        rt.runtime.BankAllocator(64, 32, 32)
    with pytest.raises(rt.Error, match=r"BankAllocator\.allocate: bytes is -1; expected 0 or more"):
        bank.allocate(-1, "less")
