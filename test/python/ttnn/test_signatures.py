# SPDX-License-Identifier: Apache-2.0
"""Parameters of functions, compared with those of the library (ttnn 0.81.1), of which library_signatures.jsonl has one
form of a call on each line: the function, its parameters in order, [name, default] for those that may be left out.

What a call of the library may look like, a call here may: the same names, the same places, the same defaults. A
parameter may be optional here that is not there.
"""

from __future__ import annotations

import enum
import inspect
import json
import keyword
import math
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import ttnn

FORMS: dict[str, list[list[Any]]] = {}
for _line in (Path(__file__).parent / "library_signatures.jsonl").read_text().splitlines():
    _name, *_parameters = json.loads(_line)
    FORMS.setdefault(_name, []).append(_parameters)


def found(name: str) -> Any:
    return reduce(lambda at, part: getattr(at, part, None), name.split(".")[1:], ttnn)


NAMES = [name for name in FORMS if callable(found(name))]

# Functions that differ, and why.
_COMPLEX = "complex tensors are not there"
_NUMBER = "a number does not stand in the place of a tensor"
_TYPE = "without dtype, results are of the type and layout of the input"
_MESH = "sizes of the mesh and of experts are given by the caller"
_GIVEN = "results are new tensors"
_OP = "the form is that of the dialect's op"
DIFFERENT = {
    "ttnn.add_bw": _COMPLEX,
    "ttnn.addmm": "cores and tiles of the product are chosen here",
    "ttnn.all_to_all_combine": _MESH,
    "ttnn.all_to_all_dispatch": _MESH,
    "ttnn.assign": "`copy` writes to a tensor that is given by place",
    "ttnn.attach_golden_function": "a golden takes the arguments as they are",
    "ttnn.avg_pool2d": _TYPE,
    "ttnn.bias_gelu_bw": "its operands are two tensors and approximate",
    "ttnn.create_mesh_mapper": "a mapper is for an open mesh",
    "ttnn.fmod_bw": _NUMBER,
    "ttnn.generic_op": "one parameter takes the descriptors of one device and of a mesh",
    "ttnn.geglu": "GELU has one formula there",
    "ttnn.gelu_bw": _GIVEN,
    "ttnn.layer_norm_pre_all_gather": _TYPE,
    "ttnn.mac": "numbers take the names of the tensors that they stand for",
    "ttnn.matmul_batched_weights": "cores and tiles of the product are chosen here",
    "ttnn.max_pool2d": _TYPE,
    "ttnn.moe_expert_token_remap": _GIVEN,
    "ttnn.moreh_arange": "a start is given",
    "ttnn.moreh_fold": "memory_config is given by name",
    "ttnn.moreh_getitem": "a tensor is given",
    "ttnn.prod": "products over several dimensions are not written to a tensor that is given by place",
    "ttnn.register_python_operation": "an operation takes and returns what its function does",
    "ttnn.remainder_bw": _NUMBER,
    "ttnn.rms_norm_pre_all_gather": _TYPE,
    "ttnn.sub_bw": _COMPLEX,
    "ttnn.transformer.chunked_scaled_dot_product_attention": "chunk_start_idx is given",
    "ttnn.transformer.flash_mla_prefill": _OP,
    "ttnn.transformer.paged_flash_multi_latent_attention_decode": _OP,
    "ttnn.experimental.all_reduce_async": _OP,
    "ttnn.experimental.conv3d": _OP,
    "ttnn.experimental.dit_rms_norm_unary_fused": _OP,
    "ttnn.experimental.minimal_matmul_split": "no activation is fused",
    "ttnn.experimental.moe_compute": _OP,
    "ttnn.experimental.nlp_create_qkv_heads_segformer": _GIVEN,
    "ttnn.experimental.nlp_create_qkv_heads_vit": _GIVEN,
    "ttnn.experimental.prepare_conv3d_weights": "c_in_block is the dialect's name",
    "ttnn.experimental.split_query_key_value_and_split_heads": _GIVEN,
    "ttnn.experimental.view": "the shape may be a list of numbers",
}
SOFTMAXES = ("SOFTMAX", "SOFTMIN", "LOGSOFTMAX")
# Defaults of the library that None stands for, by parameter: what the documentation of the functions says.
MEANT = {
    "memory_config": ("MemoryConfig(INTERLEAVED,buffer_type=DRAM)",),
    "layout": ("Layout.ROW_MAJOR", "Layout.TILE"),
    "tile": ("Tile with shape: [32, 32]",),
    "min": (-math.inf,),
    "max": (math.inf,),
    "numeric_stable": (True, False),
    "overlap_qk_coregrid": (True,),
    "topology": ("Topology.Linear", "Topology.Ring"),
    "op": tuple(
        f"MorehSoftmax{kind}Op.{name}" for kind in ("", "Backward") for name in ("SOFTMAX", "SOFTMIN", "LOGSOFTMAX")
    ),
    "strategy": tuple(f"MorehSoftmax{kind}OpParallelizationStrategy.NONE" for kind in ("", "Backward")),
}
# The same of dtype, of functions that have no tensor to take it from.
CREATION = ("ttnn.arange", "ttnn.empty", "ttnn.rand")


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, enum.Enum) or type(type(value)).__name__ == "nb_meta" or hasattr(value, "name"):
        return f"{type(value).__name__}.{value.name}"
    return value


def same(name: str, parameter: str, ours: Any, theirs: Any) -> bool:
    ours = plain(ours)
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and not isinstance(ours, bool):
        return math.isclose(ours, theirs, rel_tol=1e-6)
    if parameter == "dtype" and name in CREATION:
        return ours is None and theirs == "DataType.BFLOAT16"
    if theirs == [] and ours is None:
        return True
    either = MEANT.get(parameter, ())
    return ours == theirs or (ours is None and theirs in either) or (theirs is None and ours in either)


def differences(name: str, form: list[Any]) -> list[str]:
    """Returns what a call of the library's form meets here that it does not there."""
    ours = inspect.signature(found(name)).parameters
    places = [p.name for p in ours.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    listed = any(p.kind is p.VAR_POSITIONAL for p in ours.values())
    result, named, place = [], False, 0
    for each in form:
        if each == "*":
            named = True
            continue
        parameter, *default = each if isinstance(each, list) else [each]
        parameter += "_" * keyword.iskeyword(parameter)
        unnamed = parameter.rstrip("0123456789") == "arg"  # the library takes it by its place alone
        if parameter.startswith("*"):
            pass
        elif not unnamed and parameter not in ours:
            result.append(f"{parameter} is missing")
        elif not named and not listed and (place >= len(places) or places[place] != parameter) and not unnamed:
            result.append(f"{parameter} stands elsewhere")
        elif default and not unnamed:
            own = ours[parameter].default
            if own is inspect.Parameter.empty:
                result.append(f"{parameter} is required")
            elif not same(name, parameter, own, default[0]):
                result.append(f"{parameter} is {plain(own)!r} by default, not {default[0]!r}")
        place += not named
    theirs = {each[0] if isinstance(each, list) else each for each in form}
    free = any(str(each).startswith(("*a", "arg")) for each in theirs)
    required = [p.name for p in ours.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    required += [p.name for p in ours.values() if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    return result + [f"{each} is required" for each in required if each not in theirs and not free]


def all_differences(name: str) -> list[str]:
    """Returns those of the form that is nearest, and names of others that are missing."""
    forms = [differences(name, form) for form in FORMS[name]]
    nearest = min(forms, key=len)
    missing = [text for form in forms for text in form if text.endswith("missing")]
    return list(dict.fromkeys([*nearest, *missing]))


@pytest.mark.parametrize("name", NAMES)
def test_takes_the_calls_of_the_library(name: str) -> None:
    result = all_differences(name)
    if name in DIFFERENT:
        assert result, f"{name} is as in the library now; take it out of DIFFERENT"
    else:
        assert result == []


def test_few_functions_differ() -> None:
    assert DIFFERENT.keys() <= set(NAMES)
    assert len(NAMES) > 450
    assert len(DIFFERENT) <= 0.07 * len(NAMES)
