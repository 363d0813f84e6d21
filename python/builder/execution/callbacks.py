# SPDX-License-Identifier: Apache-2.0
"""Hooks that programs of the ecosystem set by themselves: `DebugHooks.get(post_op=post_op_get_callback_fn(config))`.

What they do is what `execute_fb` does between ops; see `op_watcher`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from golden import GoldenMapTensor

from builder.base.builder_utils import get_sanitized_filename
from builder.base.locations import plain_location
from builder.goldens.module_goldens import IntermediateGoldens
from builder.goldens.records import OpGoldens

from .argument_checks import checked_arguments
from .device_tensors import fetched, runtime
from .growing_json import GrowingJson
from .memory_log import MemoryLog, buffers_of
from .op_watcher import OpWatcher
from .program_outputs import save_torch_tensor
from .verdicts import Verdict, compare_shards


class GivenGoldens(Mapping[str, OpGoldens]):
    """Goldens of first results, by the number of an op or by its location: tensors, by device or GoldenMapTensors."""

    to_check = None

    def __init__(self, goldens: Mapping[str, Any]):
        self._goldens = goldens

    def __getitem__(self, name: str) -> OpGoldens:
        return OpGoldens(name, "", name, (GoldenMapTensor.of(self._goldens[name]),))

    def __iter__(self) -> Iterator[str]:
        return iter(self._goldens)

    def __len__(self) -> int:
        return len(self._goldens)


class CallbackRuntimeConfig:
    """The settings of the hooks, and their results in the program that runs.

    goldens: what compiling returned, or values by the number or the location of an op; bypass_ops: ops whose values are
    replaced by them; verify_intermediates: compare; save_memory: note what is allocated; save_artifacts: write both to
    artifact_dir. `golden_report` has the figures by location and device, `memory_report` those of memory by place.
    """

    @checked_arguments
    def __init__(
        self,
        device: runtime.Device | None = None,
        pcc: float = 0.99,
        atol: float | None = 1e-08,
        rtol: float | None = 1e-05,
        check_pcc: bool = True,
        check_atol: bool = True,
        check_rtol: bool = True,
        goldens: Mapping[str, Any] | None = None,
        bypass_ops: Sequence[str | int] | Set[str | int] | None = None,
        save_artifacts: bool = False,
        artifact_dir: str | os.PathLike[str] = ".",
        verify_intermediates: bool = False,
        save_memory: bool = False,
    ):
        self.device, self.save_artifacts = device, bool(save_artifacts)
        self.verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
        given = {} if goldens is None else goldens
        self.goldens: Any = given if isinstance(given, IntermediateGoldens) else GivenGoldens(given)
        self.bypass_ops = frozenset(map(str, bypass_ops or ()))
        self.verify_intermediates, self.save_memory = bool(verify_intermediates), bool(save_memory)
        if self.save_memory and device is None:
            raise ValueError(
                "CallbackRuntimeConfig: save_memory needs a device; expected an open mesh device, found None"
            )
        self.start_new_program(artifact_dir)

    def start_new_program(self, artifact_dir: str | os.PathLike[str]) -> None:
        """Forgets previous results; later ones go to another folder."""
        self.artifact_dir = Path(artifact_dir)
        self.golden_report: dict[str, dict[int, dict[str, Any]]] = {}
        self.memory_report: dict[int, dict[str, Any]] = {}
        self._files = {
            name: GrowingJson(self.artifact_dir / f"{name}.json") for name in ("golden_report", "memory_report")
        }
        memory = MemoryLog(self.device) if self.save_memory else None
        self.watcher = OpWatcher(self.goldens, False, self.bypass_ops, memory)

    def golden_of(self, op_context: Any) -> tuple[str, OpGoldens | None]:
        """Returns by which name an op has a golden, and the golden; its number where it has none."""
        source = runtime.get_op_source(op_context)
        for name in (source, plain_location(runtime.get_op_loc_info(op_context))):
            if name in self.goldens:
                return name, self.goldens[name]
        return source, None

    def save(self, name: str, changed: Sequence[Any]) -> None:
        """Writes entries of a report that are new or have changed."""
        if self.save_artifacts:
            self._files[name].save(getattr(self, name), changed)


@checked_arguments
def get_original_op_loc(text: str) -> str:
    """Returns where an op of the program was written, from the text of its location."""
    return plain_location(text)


@checked_arguments
def update_device_tensor(
    program_context: runtime.CallbackContext,
    tensor_ref: runtime.TensorRef,
    dst_tensor: runtime.Tensor,
    src_tensor: runtime.Tensor,
) -> None:
    """Gives a tensor of the running program, `dst_tensor`, the values of another one of its size."""
    if list(dst_tensor.get_shape()) != list(src_tensor.get_shape()):
        raise ValueError(
            f"update_device_tensor: src_tensor has shape {list(src_tensor.get_shape())}; "
            f"expected that of dst_tensor, {list(dst_tensor.get_shape())}"
        )
    runtime.update_tensor_in_pool(program_context, tensor_ref, src_tensor)


def golden(callback_runtime_config: CallbackRuntimeConfig, binary: Any, program_context: Any, op_context: Any) -> None:
    """Compares the result of an op of the source with its golden, and replaces it if the op is bypassed."""
    config = callback_runtime_config
    if not config.watcher.is_last(binary, program_context, op_context):
        return
    name, requested = config.golden_of(op_context)
    if requested is None:
        return
    refs = runtime.get_op_output_refs(op_context) if config.verify_intermediates else []
    places = []
    for result, (expected, ref) in enumerate(zip(requested.results, refs, strict=False)):
        tensor = runtime.retrieve_tensor_from_pool(program_context, ref, True)
        if tensor is None:
            continue
        place = name if result == 0 else f"{name}#{result}"
        places.append(place)
        for device, value, comparison in compare_shards(expected, fetched(tensor), config.verdict, False):
            found = comparison.to_dict() | {"passed": config.verdict.accepts(comparison)}
            config.golden_report.setdefault(place, {})[device] = found
            if config.save_artifacts:
                save_torch_tensor(value, config.artifact_dir, get_sanitized_filename(f"{place}_{device}"))
    if name in config.bypass_ops:
        config.watcher.replace(program_context, op_context, name)
    config.save("golden_report", [place for place in places if place in config.golden_report])


@checked_arguments
def create_memory_dictionary(memory_view: runtime.MemoryView) -> dict[str, Any]:
    """Returns the figures of one memory of a device."""
    return {
        "num_banks": memory_view.num_banks,
        "total_bytes_per_bank": memory_view.total_bytes_per_bank,
        "total_bytes_allocated_per_bank": memory_view.total_bytes_allocated_per_bank,
        "total_bytes_free_per_bank": memory_view.total_bytes_free_per_bank,
        "largest_contiguous_bytes_free_per_bank": memory_view.largest_contiguous_bytes_free_per_bank,
        "block_table": list(buffers_of(memory_view).values()),
    }


def memory(callback_runtime_config: CallbackRuntimeConfig, binary: Any, program_context: Any, op_context: Any) -> None:
    """Records the allocated memory after an op."""
    config = callback_runtime_config
    if config.device is None:
        raise ValueError("memory: callback_runtime_config has no device; expected one with an open mesh device")
    views = config.device.get_memory_view()
    number = len(config.memory_report)
    config.memory_report[number] = {
        "op": op_context.name,
        "loc": plain_location(runtime.get_op_loc_info(op_context)),
        **{str(kind).rpartition(".")[2].lower(): create_memory_dictionary(view) for kind, view in views.items()},
    }
    config.save("memory_report", [number])


def post_op_callback(
    callback_runtime_config: CallbackRuntimeConfig, binary: Any, program_context: Any, op_context: Any
) -> None:
    """Does the actions of the config after an op."""
    if callback_runtime_config.verify_intermediates or callback_runtime_config.bypass_ops:
        golden(callback_runtime_config, binary, program_context, op_context)
    if callback_runtime_config.save_memory:
        memory(callback_runtime_config, binary, program_context, op_context)


@checked_arguments
def post_op_get_callback_fn(callback_runtime_config: CallbackRuntimeConfig) -> Callable[[Any, Any, Any], None]:
    """Returns the hook to be called after each op."""

    def after(binary: Any, program_context: Any, op_context: Any) -> None:
        post_op_callback(callback_runtime_config, binary, program_context, op_context)

    return after


__all__ = [
    "CallbackRuntimeConfig",
    "create_memory_dictionary",
    "get_original_op_loc",
    "post_op_get_callback_fn",
]
