# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn that compute no tensor: sizes, names of functions, golden functions, semaphores."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from enum import Enum
from os import PathLike
from types import ModuleType
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import BufferType, CoreRangeSet, DataType, Layout, MemoryConfig, StorageType

from .composites import COMPOSITES, GOLDENS, PLAIN
from .functions import FUNCTIONS, submodule
from .in_place import IN_PLACE
from .library.geometry import Tile
from .library.memory import get_arch_name

_BLOCKS = ("BFLOAT8_B", "BFLOAT4_B", "BFLOAT2_B")


def element_size(dtype: DataType) -> int:
    """Returns the bytes of an element.

    Raises:
        ValueError: the data type is a block format, whose elements share exponents.
    """
    tile = tile_size(dtype)
    if tile % 1024 or dtype.name in _BLOCKS:
        raise ValueError(f"ttnn.element_size: dtype is {dtype!r}, whose elements have no bytes of their own")
    return tile // 1024


def tile_size(dtype: DataType) -> int:
    """Returns the bytes of a tile of 32x32 elements, with the shared exponents of a block format."""
    return Tile().get_tile_size(dtype)


def has_tile_padding(tensor: Tensor, *, dim: int | None = None) -> bool:
    """Returns whether a tensor, or one of its dimensions, is padded to tiles."""
    logical, padded = list(tensor.shape), list(tensor.padded_shape)
    if dim is None:
        return logical != padded
    if not -len(logical) <= dim < len(logical):
        raise ValueError(f"ttnn.has_tile_padding: dim is {dim}; expected {-len(logical)} to {len(logical) - 1}")
    return logical[dim] != padded[dim]


def has_storage_type_of(tensor: Tensor, storage_type: StorageType) -> bool:
    """Returns whether a tensor lies on the host or on a device, as `storage_type` says."""
    return bool(tensor.storage_type() == storage_type)


def get_conv_output_dim(input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1) -> int:
    """Returns how many places a window has in a dimension of `input` elements, padded at both ends."""
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def ttnn_dtype_to_torch_dtype(dtype: DataType) -> Any:
    """Returns PyTorch's data type for a data type; float32 for block formats."""
    import torch

    names = {"FLOAT32": "float32", "BFLOAT16": "bfloat16", "FLOAT16": "float16", "BOOL": "bool", "UINT8": "uint8"}
    names |= {"UINT16": "uint16", "UINT32": "uint32", "INT32": "int32"} | dict.fromkeys(_BLOCKS, "float32")
    if not isinstance(dtype, DataType) or dtype.name not in names:
        raise ValueError(f"ttnn.ttnn_dtype_to_torch_dtype: dtype is {dtype!r}; PyTorch has no such type")
    return getattr(torch, names[dtype.name])


def query_registered_operations(include_experimental: bool = False) -> list[str]:
    """Returns the names of all functions that compute, with their namespace, in order."""
    names = {f"ttnn.{name}" for name in (*FUNCTIONS, *COMPOSITES, *PLAIN, *IN_PLACE)}
    return sorted(name for name in names if include_experimental or not name.startswith("ttnn.experimental."))


def dump_operations(csv_file: str | PathLike[str], include_experimental: bool = False) -> None:
    """Writes the names of all functions that compute, and whether they have a golden function, as CSV.

    Raises:
        TypeError: csv_file is no path.
    """
    if not isinstance(csv_file, str | PathLike):
        raise TypeError(f"ttnn.dump_operations: csv_file is {csv_file!r}; expected a path")
    with open(csv_file, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["python_fully_qualified_name", "has_golden"])
        for name in query_registered_operations(include_experimental):
            writer.writerow([name, bool(GOLDENS.get(name.removeprefix("ttnn.")))])


# Parameters for tensors that results are written to; golden functions do not get them.
_OUTPUTS = (
    "output_tensor", "optional_tensor", "optional_output_tensor", "out", "output", "output_tensors",
    "optional_output_tensors",
)  # fmt: skip


def attach_golden_function(
    operation: Callable[..., Any],
    golden_function: Callable[..., Any],
    *,
    preprocess_golden_function_inputs: Callable[..., Any] | None = None,
    postprocess_golden_function_outputs: Callable[..., Any] | None = None,
    output_tensor_kwarg_names: Sequence[str] = _OUTPUTS,
) -> None:
    """Gives a function a golden function, which get_golden_function returns from then on.

    Args:
        preprocess_golden_function_inputs: takes the arguments of a call, as a tuple and a dict, and returns those of
            the golden function; without it, tensors become those of PyTorch.
        postprocess_golden_function_outputs: takes the result of the golden function and the arguments of the call,
            and returns what the fallback function returns.
        output_tensor_kwarg_names: arguments by name that the golden function does not get.
    Raises:
        TypeError: what must be a function is none, or a name is no text.
    """
    hooks = {
        "preprocess_golden_function_inputs": preprocess_golden_function_inputs,
        "postprocess_golden_function_outputs": postprocess_golden_function_outputs,
    }
    required = {"operation": operation, "golden_function": golden_function}
    for name, value in {**required, **{name: each for name, each in hooks.items() if each is not None}}.items():
        if not callable(value):
            raise TypeError(f"ttnn.attach_golden_function: {name} is {value!r}; expected a function")
    names = output_tensor_kwarg_names
    if isinstance(names, str) or not all(isinstance(each, str) for each in names):
        raise TypeError(f"ttnn.attach_golden_function: output_tensor_kwarg_names is {names!r}; expected names")
    own: Any = getattr(operation, "__wrapped__", operation)  # of a function whose calls are watched
    own.golden_function = golden_function
    own.golden_hooks = {**hooks, "output_tensor_kwarg_names": tuple(names)}


def register_python_operation(
    *,
    name: str,
    is_experimental: bool = False,
    is_method: bool = False,
    golden_function: Callable[..., Any] | None = None,
    preprocess_golden_function_inputs: Callable[..., Any] | None = None,
    postprocess_golden_function_outputs: Callable[..., Any] | None = None,
    output_tensor_kwarg_names: Sequence[str] = _OUTPUTS,
    doc: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that gives a function its public name, a golden function and documentation.

    Args:
        is_experimental: kept with the function.
        is_method: the first argument is the object that the function is a method of; its golden function gets it, too.
        preprocess_golden_function_inputs, postprocess_golden_function_outputs, output_tensor_kwarg_names: those of
            attach_golden_function.
    Raises:
        ValueError: name does not begin with "ttnn.", although the function is no method.
    """
    if not is_method and not name.startswith("ttnn."):
        raise ValueError(f'ttnn.register_python_operation: name is {name!r}; expected "ttnn." and a name')

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function.python_fully_qualified_name = name  # type: ignore[attr-defined]
        function.is_experimental = is_experimental  # type: ignore[attr-defined]
        function.is_method = is_method  # type: ignore[attr-defined]
        if doc is not None:
            function.__doc__ = doc
        if golden_function is not None:
            attach_golden_function(
                function,
                golden_function,
                preprocess_golden_function_inputs=preprocess_golden_function_inputs,
                postprocess_golden_function_outputs=postprocess_golden_function_outputs,
                output_tensor_kwarg_names=output_tensor_kwarg_names,
            )
        return function

    return decorate


def empty_like(
    tensor: Tensor,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Returns a tensor without values, in what is not given like another."""
    options = {"dtype": dtype or tensor.dtype, "layout": tensor.layout if layout is None else layout}
    place = device or tensor.device()
    if memory_config is None and place is not None:
        memory_config = MemoryConfig(buffer_type=tensor.memory_config().buffer_type)
    result: Tensor = FUNCTIONS["empty"](tensor.shape, **options, device=place, memory_config=memory_config)
    return result


class GlobalSemaphore:
    """Holds a counter in L1 that the cores of a device share; made by create_global_semaphore."""

    def __init__(self, device: Device, cores: CoreRangeSet, value: int, buffer_type: BufferType) -> None:
        self.cores = cores
        options = {"dtype": DataType.UINT32, "layout": Layout.ROW_MAJOR, "device": device}
        memory = MemoryConfig(buffer_type=buffer_type)
        self.tensor: Tensor = FUNCTIONS["full"]([1], value, memory_config=memory, **options)


def create_global_semaphore(
    mesh_device: Device, cores: CoreRangeSet, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """Allocates a counter that the cores of a device share, with a first value."""
    if type(initial_value) is not int or not 0 <= initial_value < 2**32:
        raise ValueError(f"ttnn.create_global_semaphore: initial_value is {initial_value!r}; expected 0 to {2**32 - 1}")
    return GlobalSemaphore(mesh_device, cores, initial_value, buffer_type)


def get_global_semaphore_address(global_semaphore: GlobalSemaphore) -> int:
    """Returns where a counter lies, in bytes."""
    return int(_semaphore("get_global_semaphore_address", global_semaphore).tensor.buffer_address())


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int) -> None:
    """Writes a value to a counter."""
    tensor = _semaphore("reset_global_semaphore_value", global_semaphore).tensor
    value = FUNCTIONS["full"](
        [1], reset_value, dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, device=tensor.device()
    )  # fmt: skip
    FUNCTIONS["assign"](value, output_tensor=tensor)


def _semaphore(function: str, value: Any) -> GlobalSemaphore:
    if not isinstance(value, GlobalSemaphore):
        raise TypeError(f"ttnn.{function}: global_semaphore is {value!r}; expected one of create_global_semaphore")
    return value


UTILITIES = {
    each.__name__: each
    for each in (
        attach_golden_function, create_global_semaphore, dump_operations, element_size, empty_like,
        get_conv_output_dim, get_global_semaphore_address, has_storage_type_of, has_tile_padding,
        query_registered_operations, register_python_operation, reset_global_semaphore_value, tile_size,
        ttnn_dtype_to_torch_dtype,
    )
}  # fmt: skip


class ClusterType(Enum):
    """Says which board, or which boards, chips are on."""

    INVALID = 0
    N150 = 1
    N300 = 2
    T3K = 3
    GALAXY = 4
    TG = 5
    P100 = 6
    P150 = 7
    P150_X2 = 8
    P150_X4 = 9
    SIMULATOR_WORMHOLE_B0 = 10
    SIMULATOR_BLACKHOLE = 11
    N300_2x2 = 12
    P150_X8 = 13
    P300 = 14
    SIMULATOR_QUASAR = 15
    BLACKHOLE_GALAXY = 16
    P300_X2 = 17
    CUSTOM = 18


def get_cluster_type() -> ClusterType:
    """Returns what the simulated chips are on: boards of one chip."""
    return ClusterType.P150 if get_arch_name() == "blackhole" else ClusterType.N150


def is_wormhole_b0(device: Device | None = None) -> bool:
    """Returns whether a device, or one that is opened without saying which, has this architecture."""
    return (get_arch_name() if device is None else str(device.arch)) == "wormhole_b0"


def is_blackhole(device: Device | None = None) -> bool:
    """Returns whether a device, or one that is opened without saying which, has this architecture."""
    return (get_arch_name() if device is None else str(device.arch)) == "blackhole"


def divup(a: int, b: int) -> int:
    """Returns a / b, rounded up to a whole number."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """Returns the least multiple of b that is not below a."""
    return divup(a, b) * b


# Modules of the library whose names the package has, too; programs import them from either.
_MODULES = {
    "types": """
        BcastOpDim BcastOpMath BinaryOpType BlackholeComputeKernelConfig BufferType CBDescriptor
        CBFormatDescriptor ComputeConfigDescriptor CoreCoord CoreGrid CoreRange CoreRangeSet CoreType
        DRAM_MEMORY_CONFIG DataMovementConfigDescriptor DataMovementProcessor DataType
        DeviceComputeKernelConfig DumpTensorMode FaceGeometry KernelDescriptor
        L1_BLOCK_SHARDED_MEMORY_CONFIG L1_HEIGHT_SHARDED_MEMORY_CONFIG L1_MEMORY_CONFIG
        L1_WIDTH_SHARDED_MEMORY_CONFIG Layout MathFidelity McastConfig McastCoreOrder McastDataReady
        McastExplicitFixedSenderConfig McastFixedSenderConfig McastRotatingSenderConfig McastSenderPlacement
        MemoryConfig MeshCoordinate MeshCoordinateRange MeshCoordinateRangeSet MeshProgramDescriptor
        MeshShape NOC NOC_MODE NdShardSpec OverlappedTensor ProgramDescriptor QueueId ROW_MAJOR_LAYOUT
        ReaderConfigDescriptor RuntimeArgs RuntimeArgsColProxy SemaphoreDescriptor Shape
        ShardDistributionStrategy ShardOrientation ShardShapeAlignment ShardSpec ShardStrategy StorageType
        TILE_LAYOUT TILE_SIZE Tensor TensorAccessorArgs TensorMemoryLayout TensorSpec ThrottleLevel Tile
        TileDescriptor TransferMode UnaryOpType UnaryWithParam UnpackToDestMode WormholeComputeKernelConfig
        WriterConfigDescriptor bfloat16 bfloat4_b bfloat8_b cb_descriptor_from_sharded_tensor
        compute_program_descriptor_hash corerange_to_cores float32 get_cb_address
        get_optimal_worker_cores_for_sharded_tensor int32 merge_program_descriptors uint16 uint32 uint8
    """,
    "core": """
        BufferType MemoryConfig ShardOrientation ShardStrategy TensorMemoryLayout
        create_sharded_memory_config create_sharded_memory_config_ dump_stack_trace_on_segfault
        get_current_command_queue_id_for_thread get_memory_config grid_to_cores has_storage_type_of
        has_tile_padding is_sharded is_tensor_storage_on_device num_cores_to_corerangeset
        num_cores_to_corerangeset_in_subcoregrids set_printoptions split_work_to_cores
        ttnn_dtype_to_torch_dtype
    """,
    "decorators": """
        attach_golden_function command_queue dump_operations get_current_command_queue_id_for_thread
        get_fallback_function get_golden_function query_registered_operations register_post_operation_hook
        register_pre_operation_hook register_python_operation
    """,
    "device": """
        Arch CloseDevice CloseDevices CreateDevice CreateDevices DispatchCoreAxis DispatchCoreConfig
        DispatchCoreType GetDefaultDevice GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID
        SetDefaultDevice SetRootDir SubDevice SubDeviceManagerId disable_asynchronous_slow_dispatch
        dump_device_memory_state enable_asynchronous_slow_dispatch get_allocator_base_address
        get_dram_alignment get_l1_alignment get_max_worker_l1_unreserved_size get_memory_view
        get_optimal_dram_bank_to_logical_worker_assignment init_device_compute_kernel_config
        is_trace_capture_active
    """,
    "transformer": "SparseKVFormat",
    "operations.activations": """
        get_golden_function
    """,
    "operations.ccl": """
        DispatchAlgorithm MMSignalAggregatorMode MoEActivationFunction Topology WorkerMode get_num_links
        get_usable_topology
    """,
    "operations.conv2d": """
        Conv2dConfig Conv2dSliceConfig Op2DSliceConfig PaddingMode SlidingWindowParallelConfig
        get_conv_output_dim prepare_conv_bias prepare_conv_transpose2d_bias prepare_conv_transpose2d_weights
        prepare_conv_weights
    """,
    "operations.embedding": """
        EmbeddingsType
    """,
    "operations.losses": """
        LossReductionMode
    """,
    "operations.matmul": """
        MatmulDeviceOperation MatmulInputs MatmulMultiCoreReuseMultiCast1DProgramConfig
        MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig
        MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig
        MatmulMultiCoreReuseProgramConfig MatmulParams get_golden_function
    """,
    "operations.normalization": """
        DistributedLayerNormStage LayerNormDefaultProgramConfig LayerNormDeviceOperation LayerNormInputs
        LayerNormMultiCoreProgramFactory LayerNormParams LayerNormShardedMultiCoreProgramConfig
        LayerNormShardedProgramFactory LayerNormType SoftmaxDefaultProgramConfig SoftmaxProgramConfig
        SoftmaxShardedMultiCoreProgramConfig create_group_norm_input_mask
        create_group_norm_input_negative_mask create_group_norm_weight_bias_rm create_layer_norm_reciprocals
        create_layernorm_program_config determine_expected_group_norm_dram_grid_size
        determine_expected_group_norm_sharded_config_and_grid_size dram_group_norm_params_from_torch
        get_group_norm_cores_across_channel layernorm_default_compute_config rmsnorm_default_compute_config
    """,
    "operations.pool": """
        global_avg_pool2d prepare_grid_sample_grid
    """,
    "operations.reduction": """
        ReduceType
    """,
    "operations.transformer": """
        ChunkGdnFusedProgramConfig ChunkGdnMonoProgramConfig ChunkGdnPhasedProgramConfig ChunkGdnWyInverse
        PagedCacheGeometryOverride SDPAProgramConfig SparseKVFormat
    """,
}
_OWN: dict[str, tuple[Any, ...]] = {
    "cluster": (ClusterType, get_cluster_type),
    "core": (divup, roundup),
    "device": (is_blackhole, is_wormhole_b0),
}


def place_modules(package: ModuleType) -> None:
    """Puts names of the package into the library's modules, and what these have of their own."""
    found = {f"{module}.{name}": getattr(package, name) for module, text in _MODULES.items() for name in text.split()}
    found |= {f"{module}.{each.__name__}": each for module, own in _OWN.items() for each in own}
    for path, value in found.items():
        name, _, last = path.rpartition(".")
        module = submodule(package, name)
        setattr(module, last, value)
        if "__all__" in module.__dict__:
            module.__all__.append(last)
