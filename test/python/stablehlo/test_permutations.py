# SPDX-License-Identifier: Apache-2.0
"""All ways to split a module's arguments, and those that communicate least."""

from __future__ import annotations

import pytest
from builder.base.builder_apis import generate_all_module_permutations, get_optimal_module_least_num_collectives
from builder.base.errors import TTBuilderCompileException

SUM = """module { func.func @main(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.add %a, %b : tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
} }"""
PRODUCT = """module { func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
} }"""


# Of each argument r * (r + 1) ways, on each mesh.
@pytest.mark.parametrize(("devices", "meshes"), [(1, 1), (2, 2), (4, 3), (8, 4), (6, 4)])
def test_number_of_permutations(devices: int, meshes: int) -> None:
    modules = generate_all_module_permutations(SUM, num_devices=devices)
    assert len(modules) == meshes * 6 * 6
    assert len({str(module) for module in modules}) == len(modules)


def test_order() -> None:
    modules = generate_all_module_permutations(SUM, num_devices=2)
    assert '"x"=1, "y"=2' in str(modules[0]) and '"x"=2, "y"=1' in str(modules[36])
    ways = ['[{"x", ?}, {?}]', '[{"y", ?}, {?}]', '[{?}, {"x", ?}]', '[{?}, {"y", ?}]', '[{"x", ?}, {"y", ?}]',
            '[{"y", ?}, {"x", ?}]']  # fmt: skip
    for index, way in enumerate(ways):
        first, second = str(modules[index]).split("sdy.sharding = ")[1:]
        assert ways[0] in first and way in second


def test_a_scalar_leaves_none() -> None:
    text = "module { func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> } }"
    assert generate_all_module_permutations(text, num_devices=2) == []


def test_least_collectives() -> None:
    modules = generate_all_module_permutations(PRODUCT, num_devices=2)
    before = [str(module) for module in modules]
    best = get_optimal_module_least_num_collectives(modules)
    assert [str(module) for module in modules] == before
    # Rows of one and columns of the other need no exchange; a split contraction does.
    assert 0 < len(best) < len(modules)
    assert all("manual_computation" in str(module) and "stablehlo.all_" not in str(module) for module in best)


def test_refused() -> None:
    with pytest.raises(TTBuilderCompileException):
        generate_all_module_permutations("no module", num_devices=2)
    with pytest.raises(ValueError, match="num_devices is 0; expected 1 or more"):
        generate_all_module_permutations(SUM, num_devices=0)
