# SPDX-License-Identifier: Apache-2.0
"""Tokens that are sent to experts on the devices of a mesh, what becomes of them there, and the way back."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir, compile_ttir_module_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderRuntimeException
from golden import GoldenMapTensor

MESHES = ((1, 2), (2, 2), (2, 4), (4, 2))
OTHERS = (((2, 4), "emitpy"), ((2, 4), "emitc"), ((1, 2), "ttmetal"), ((2, 2), "ttmetal"), ((2, 4), "ttmetal"))
EXPERTS, CHOSEN, SIZE = 16, 3, 8


def mesh_dict(mesh: tuple[int, int]) -> OrderedDict[str, int]:
    return OrderedDict([("x", mesh[0]), ("y", mesh[1])])


def placed(devices: int, seed: int = 0) -> torch.Tensor:
    """Experts dealt to the devices at random, as many to each."""
    order = torch.randperm(EXPERTS, generator=torch.Generator().manual_seed(seed))
    mapping = torch.zeros(1, 1, EXPERTS, devices, dtype=torch.int32)
    mapping[0, 0, order, torch.arange(EXPERTS) % devices] = 1
    return mapping


def chosen(*shape: int, seed: int = 1) -> torch.Tensor:
    """Different experts for each token."""
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randperm(EXPERTS, generator=generator)[:CHOSEN] for _ in range(torch.Size(shape).numel())]
    return torch.stack(rows).reshape(*shape, CHOSEN).to(torch.int32)


def split(builder: Any, value: Any, mesh: tuple[int, int], axis: int) -> Any:
    """The batch over the devices along the axis, the same on those of the other."""
    counts, dims = [1, 1, 1, 1], [-1, -1]
    counts[0], dims[axis] = mesh[axis], 0
    return builder.mesh_shard(value, "devices", "full_to_shard", counts, dims)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("mesh", "target"), [*((mesh, "ttnn") for mesh in MESHES), *OTHERS], ids=str)
def test_there_and_back(mesh: tuple[int, int], axis: int, target: str) -> None:
    """Each op compared with its golden on every chip, and all of them compared with what one expert after the other
    computes."""
    devices, along = mesh[0] * mesh[1], mesh[axis]
    local, tokens = EXPERTS // devices, (2 * along, 3)
    mapping, indices = placed(devices), chosen(tokens[0], 1, tokens[1])

    def module(builder: Any) -> None:
        @builder.func([(tokens[0], 1, tokens[1], SIZE), (1, tokens[0], tokens[1], EXPERTS)], [torch.float32] * 2)
        def moe(x, scores, builder):
            where = builder.constant(mapping)
            group = {"num_devices": along, "cluster_axis": axis}
            sent, metadata = builder.all_to_all_dispatch(
                split(builder, x, mesh, axis), split(builder, builder.constant(indices), mesh, axis), where, **group
            )
            mapped, reduced = builder.moe_expert_token_remap(scores, where, metadata, reduction_size=4)
            # Expert n of a device scales by n + 1, and by the score of the token.
            weights = builder.permute(mapped, permutation=[3, 1, 2, 0])
            numbers = builder.constant(torch.arange(1.0, local + 1).reshape(local, 1, 1, 1))
            result = builder.multiply(builder.multiply(sent, weights), numbers)
            back = builder.all_to_all_combine(
                result, metadata, where, num_experts_per_tok=CHOSEN, output_shard_dim=1, **group
            )
            return back, reduced

    x, scores = torch.randn(tokens[0], 1, tokens[1], SIZE), torch.rand(1, tokens[0], tokens[1], EXPERTS)
    # Number of each expert on its device, and whether the device is in the group of a chip.
    owner = mapping[0, 0].argmax(-1)
    number = torch.tensor([int((owner[:e] == owner[e]).sum()) for e in range(EXPERTS)])
    expected = {}
    for chip in range(devices):
        row, column = divmod(chip, mesh[1])
        rank, other = (row, column) if axis == 0 else (column, row)
        out = torch.zeros(CHOSEN, 2, tokens[1], SIZE)
        for b in range(2):
            for s in range(tokens[1]):
                for k, expert in enumerate(indices[rank * 2 + b, 0, s].tolist()):
                    home = divmod(int(owner[expert]), mesh[1])
                    if (home[1] if axis == 0 else home[0]) == other:
                        score = scores[0, rank * 2 + b, s, expert]
                        out[k, b, s] = x[rank * 2 + b, 0, s] * score * (number[expert] + 1)
        expected[chip] = out
    result, builder = build_module(module, "ttir", mesh_dict=mesh_dict(mesh))
    report = compile_and_execute_ttir(
        module, mesh_dict=mesh_dict(mesh), target=target, check_atol=True, check_rtol=True
    )
    assert report.passed
    if target == "ttnn":
        binary, goldens, _ = compile_ttir_module_to_flatbuffer(result, builder)
        assert goldens[0]
        assert execute_fb(
            binary, {0: {"input_0": x, "input_1": scores, "output_0": GoldenMapTensor(expected, mesh)}}, check_atol=True
        ).passed


def expert(x: torch.Tensor, weights: list[torch.Tensor], activation: str) -> torch.Tensor:
    """Computes one expert's result for a token, in double precision."""
    w0, w1, w2, b0, b1, b2 = (w.double() for w in weights)
    gate, value = x.double() @ w0 + b0, x.double() @ w1 + b1
    if activation == "swiglu":
        gate, value = gate.clamp(max=7), value.clamp(-7, 7)
        result = gate / (1 + torch.exp(-1.702 * gate)) * (value + 1)
    else:
        result = gate / (1 + torch.exp(-gate)) * value
    return (result @ w2 + b2).float()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("activation", ["silu", "swiglu"])
@pytest.mark.parametrize(("mesh", "target"), [*((mesh, "ttnn") for mesh in MESHES), *OTHERS], ids=str)
def test_computed_in_one_op(mesh: tuple[int, int], target: str, activation: str, axis: int) -> None:
    """Dispatched tokens through moe_compute compared with one expert after the other, each with weights of its own."""
    devices, along, middle = mesh[0] * mesh[1], mesh[axis], 5
    local, tokens, layer = EXPERTS // devices, (2 * along, 3), 1
    where, indices = placed(devices), chosen(tokens[0], 1, tokens[1])
    owner = where[0, 0].argmax(-1)
    # Along the axis devices have different weights; those on the other axis have the same.
    generator = torch.Generator().manual_seed(2)
    shapes = [(SIZE, middle), (SIZE, middle), (middle, SIZE), (middle,), (middle,), (SIZE,)]
    weights = [torch.randn(2, local * along, *shape, generator=generator) for shape in shapes]
    x = torch.randn(tokens[0], 1, tokens[1], SIZE, generator=generator) * 2

    def module(builder: Any) -> None:
        @builder.func([tuple(x.shape)], [torch.float32])
        def moe(x, builder):
            sent, metadata = builder.all_to_all_dispatch(
                split(builder, x, mesh, axis),
                split(builder, builder.constant(indices), mesh, axis),
                builder.constant(where),
                num_devices=along,
                cluster_axis=axis,
            )
            spread = []
            for weight in weights:
                counts, dims = [1] * weight.dim(), [-1, -1]
                counts[1], dims[axis] = along, 1
                spread.append(builder.mesh_shard(builder.constant(weight), "devices", "full_to_shard", counts, dims))
            w0, w1, w2, b0, b1, b2 = spread
            scores = builder.zeros(list(builder.get_shape(metadata)), torch.float32)
            return builder.moe_compute(
                sent, metadata, scores, builder.constant(owner[None].to(torch.int32)), w0, w1, w2,
                layer_id=layer, output_height_shard_dim=4, intermediate_size=middle, cluster_axis=axis,
                output_shape=(CHOSEN, 2 * tokens[1], SIZE), output_type=torch.float32,
                bias_0=b0, bias_1=b1, bias_2=b2, activation_function=activation,
            )  # fmt: skip

    expected = {}
    for chip in range(devices):
        row, column = divmod(chip, mesh[1])
        rank, other = (row, column) if axis == 0 else (column, row)
        out = torch.zeros(CHOSEN, 2 * tokens[1], SIZE)
        for token in range(2 * tokens[1]):
            b, s = divmod(token, tokens[1])
            for k, number in enumerate(indices[rank * 2 + b, 0, s].tolist()):
                home = divmod(int(owner[number]), mesh[1])
                if home[1 - axis] == other:
                    place = home[axis] * local + int((owner[:number] == owner[number]).sum())
                    out[k, token] = expert(x[rank * 2 + b, 0, s], [w[layer, place] for w in weights], activation)
        expected[chip] = out
    report = compile_and_execute_ttir(
        module, mesh_dict=mesh_dict(mesh), target=target, check_atol=True, check_rtol=True
    )
    assert report.passed
    if target == "ttnn":
        binary, _, _ = compile_ttir_module_to_flatbuffer(*build_module(module, "ttir", mesh_dict=mesh_dict(mesh)))
        given = {0: {"input_0": x, "output_0": GoldenMapTensor(expected, mesh)}}
        assert execute_fb(binary, given, check_atol=True, check_rtol=True).passed


def alone(mapping: torch.Tensor, indices: torch.Tensor) -> None:
    def module(builder: Any) -> None:
        @builder.func([(2, 1, 3, SIZE)], [torch.float32])
        def dispatch(x, builder):
            return builder.all_to_all_dispatch(
                x, builder.constant(indices), builder.constant(mapping), num_devices=2, cluster_axis=1
            )

    binary, _, _ = compile_ttir_module_to_flatbuffer(*build_module(module, "ttir", mesh_dict=mesh_dict((1, 2))))
    execute_fb(binary, {0: {"input_0": torch.zeros(2, 1, 3, SIZE)}})


def test_wrong_values_are_named() -> None:
    good, wrong = placed(2), chosen(2, 1, 3)
    wrong[1, 0, 2, 1] = EXPERTS
    message = r"all_to_all_dispatch: operand 1 has 16 as element 16; expected a position from 0 to 15"
    with pytest.raises(TTBuilderRuntimeException, match=message):
        alone(good, wrong)
    message = "'expert_mapping' gives device 0 16 experts; expected at most 8"
    with pytest.raises(TTBuilderRuntimeException, match=message):
        alone(torch.ones_like(good), chosen(2, 1, 3))
