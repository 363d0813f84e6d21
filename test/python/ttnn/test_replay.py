# SPDX-License-Identifier: Apache-2.0
"""Every op that a compiled program has, through ttnn: the same bits as from the executor of flatbuffers."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
from builder.base.builder_runtime import convert_input_layouts, create_tensor
from op_cases import TABLE, built, device, lowered, runs
from op_gaps import GAPS
from replay import ROWS, Replay, bits, recorded
from ttmlir.passes import ttnn_to_flatbuffer_bin

RUNS = [run for run in runs(TABLE) if run[0].startswith("ttir.") and run[0] not in GAPS]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "dtype"), RUNS)
def test_same_bits(name: str, dtype: str) -> None:
    result = TABLE[name]
    module, builder = built(name, dtype)
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, result.mesh)))
    replay = Replay(binary, device(result.mesh))
    for index, goldens in builder.golden_map[0].items():

        def placed(index: int = index, goldens: object = goldens) -> list[object]:
            host = [create_tensor(v.golden_map_tensor_as_torch_tensors(), result.mesh) for v in goldens.inputs]
            return convert_input_layouts(device(result.mesh), host, fbb=binary, program_index=index)

        with recorded(replay.programs[index], index) as expected:
            rt.runtime.submit(device(result.mesh), binary, index, placed())
        outputs = replay.run(index, placed(), expected)
        executed = rt.runtime.submit(device(result.mesh), binary, index, placed())
        assert not replay.differences, f"case {index}: " + "\n".join(replay.differences)
        for place, (output, reference) in enumerate(zip(outputs, executed, strict=True)):
            found, expected_bits = bits(output), bits(reference)
            count = max(len(found), len(expected_bits))
            assert found * (count // len(found)) == expected_bits * (count // len(expected_bits)), f"output {place}"


def test_every_op_is_a_function() -> None:
    """Calls all ops that the runtime computes, except those of a compiled program only."""
    own = {
        "debug.host_call",
        "ttnn.capture_or_execute_trace",
        "ttnn.constant",
        "ttnn.generic",
        "ttcore.case",
        "ttcore.load_cached",
        "ttcore.while",
    }
    assert set(rt.runtime.list_ops()) - own == set(ROWS)
