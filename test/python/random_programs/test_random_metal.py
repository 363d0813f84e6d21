# SPDX-License-Identifier: Apache-2.0
"""Random modules on target ttmetal: the reference's values, or a refusal that names an op or its type."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
from op_cases import clone, execute
from random_modules import drawn
from test_random_modules import check_close
from ttmlir import passes
from ttmlir.ir import MLIRError

COUNT, OPS = 40, 4


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_values_or_a_refusal(part: int, seed: int) -> None:
    """Modules of four ops, one program file per module; more than one in four runs."""
    first = seed + part * COUNT
    ran = 0
    for number in range(first, first + COUNT):
        module = drawn(number, (1, 1), OPS)
        built, builder = module.built()
        metal = clone(built)
        try:
            passes.ttir_to_ttmetal_pipeline(metal)
        except MLIRError as error:
            assert "is not lowered to D2M" in str(error) or "does not fit in L1" in str(error), (
                f"--seed {number}: {error}"
            )
            continue
        ran += 1
        binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
        found = execute(binary, 0, builder.golden_map[0][0].inputs, (1, 1))
        for output, value in enumerate(module.outputs):
            check_close(f"--seed {number}, output {output}", value, found[output])
    assert ran * 4 > COUNT, f"{ran} of {COUNT} modules ran"
