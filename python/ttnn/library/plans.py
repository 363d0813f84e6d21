# SPDX-License-Identifier: Apache-2.0
"""Says how functions run on the cores: program configs that no op of the dialect has, and their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import (
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    DataType,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from ..configs import CONFIGS, Config
from ..enums import ENUMS
from .geometry import Tile
from .modes import Arch, DistributedLayerNormStage, LayerNormType
from .records import Record, field
from .specs import TensorSpec

__all__ = [
    "ChunkGdnFusedProgramConfig",
    "ChunkGdnMonoProgramConfig",
    "ChunkGdnPhasedProgramConfig",
    "IndexerScoreProgramConfig",
    "LayerNormDefaultProgramConfig",
    "LayerNormDeviceOperation",
    "LayerNormInputs",
    "LayerNormMultiCoreProgramFactory",
    "LayerNormParams",
    "LayerNormShardedProgramFactory",
    "MatmulDeviceOperation",
    "MatmulInputs",
    "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
    "MatmulParams",
    "MinimalMatmulConfig",
    "OverlappedTensor",
    "PagedCacheGeometryOverride",
    "QkvCausalConv1dSiluProgramConfig",
    "SliceDeviceOperation",
    "SliceInputs",
    "SliceParams",
    "SliceTileProgramFactory",
    "SlidingWindowParallelConfig",
    "SoftmaxDefaultProgramConfig",
    "SoftmaxProgramConfig",
    "SoftmaxShardedMultiCoreProgramConfig",
    "create_layernorm_program_config",
    "layernorm_default_compute_config",
    "rmsnorm_default_compute_config",
]

_FIDELITY = ENUMS["ttnn.math_fidelity"]
_COMPUTE = CONFIGS["ttnn.device_compute_kernel_config"]
_LAYER_NORM_SHARDED = CONFIGS["ttnn.layernorm_sharded_multicore_program_config"]


class ProgramConfig(Record):
    """Base of the program configs that are not attributes of the dialect."""


class ChunkGdnMonoProgramConfig(ProgramConfig):
    """Says that each head of chunk_gated_delta_rule runs on one core."""


class ChunkGdnPhasedProgramConfig(ProgramConfig):
    """Says that chunk_gated_delta_rule runs in two phases, the second of which scans the chunks."""

    use_mcast = field(bool, True, by_name=True)
    scan_serial = field(bool, False, by_name=True)
    prep_serial = field(bool, False, by_name=True)


class ChunkGdnFusedProgramConfig(ProgramConfig):
    """Says that cores of chunk_gated_delta_rule prepare chunks for others, which scan them."""

    num_producers = field(int, None, by_name=True, least=1)
    num_receivers = field(int, None, by_name=True, least=1)
    row_local = field(bool, None, by_name=True)
    handoff_depth = field(int, None, by_name=True, least=1)
    unicast = field(bool, True, by_name=True)
    posted = field(bool, False, by_name=True)
    producer_pool = field(bool, None, by_name=True)
    pool_extra_share = field(float, None, by_name=True)
    handoff_checks = field(bool, False, by_name=True)
    handoff_fault = field(int, 0, by_name=True, least=0)


class IndexerScoreProgramConfig(ProgramConfig):
    """Holds the rows of a chunk of queries and of keys, and the heads of a group."""

    q_chunk_size = field(int, 32, by_name=True, least=1)
    k_chunk_size = field(int, 32, by_name=True, least=1)
    head_group_size = field(int, 1, by_name=True, least=1)


class LayerNormDefaultProgramConfig(ProgramConfig):
    """Says that a normalization runs on as many cores as it needs."""

    legacy_reduction = field(bool, False, by_name=True)
    legacy_rsqrt = field(bool, False, by_name=True)
    use_welford = field(bool, False, by_name=True)


class SoftmaxProgramConfig(ProgramConfig):
    """Base of the program configs of softmax."""


class SoftmaxDefaultProgramConfig(SoftmaxProgramConfig):
    """Says that softmax runs on as many cores as it needs."""


class SoftmaxShardedMultiCoreProgramConfig(SoftmaxProgramConfig):
    """Holds the blocks of softmax of a sharded tensor, in tiles."""

    compute_with_storage_grid_size = field(CoreCoord, by_name=True)
    subblock_w = field(int, by_name=True, least=1)
    block_h = field(int, by_name=True, least=1)
    block_w = field(int, by_name=True, least=1)


class MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(ProgramConfig):
    """Holds the blocks of batched products whose weights are sharded over the banks of DRAM, in tiles."""

    in0_block_w = field(int, by_name=True, least=1)
    per_core_M = field(int, by_name=True, least=1)
    per_core_N = field(int, by_name=True, least=1)
    fused_activation = field(CONFIGS["ttnn.unary_with_param"], None, by_name=True)


class MinimalMatmulConfig(ProgramConfig):
    """Holds the blocks of experimental.minimal_matmul, in tiles."""

    M_block_size = field(int, 1, by_name=True, least=1)
    K_block_size = field(int, 1, by_name=True, least=1)
    N_block_size = field(int, 1, by_name=True, least=1)
    subblock_h = field(int, 1, by_name=True, least=1)
    subblock_w = field(int, 1, by_name=True, least=1)
    compute_with_storage_grid_size = field(CoreCoord, CoreCoord(1, 1), by_name=True)


class QkvCausalConv1dSiluProgramConfig(ProgramConfig):
    """Holds the channels of a chunk."""

    channel_chunk_size = field(int, by_name=True, read_only=True, least=1)


class SlidingWindowParallelConfig(Record):
    """Says how a convolution is spread over cores."""

    grid = field(CoreRangeSet, by_name=True)
    shard_scheme = field(TensorMemoryLayout, by_name=True)
    shard_orientation = field(ShardOrientation, by_name=True)


class PagedCacheGeometryOverride(Record):
    """Holds the rows of a block and the heads of a paged cache; 0 means those of its tensor."""

    block_size = field(int, 0, by_name=True, least=0)
    num_kv_heads = field(int, 0, by_name=True, least=0)

    def active(self) -> bool:
        """Tells whether a number is set."""
        return bool(self.block_size or self.num_kv_heads)


class OverlappedTensor(Record):
    """Describes a tensor that lies in the shards of another one, from a byte on."""

    fused_tensor = field(Tensor)
    tensor_shape = field([int], least=1)
    shard_shape = field([int], least=1)
    core_range_set = field(CoreRangeSet)
    dtype = field(DataType)
    tile_shape = field([int], least=1)
    byte_offset = field(int, 0, least=0)
    total_size = field(int, 0, least=0)

    def get_tile(self) -> Tile:
        """Returns the tile."""
        return Tile(self.tile_shape)


# Functions as the library's host code sees them: attributes, tensors, and what follows from both.


class LayerNormParams(Record):
    """Holds the attributes of a normalization of rows."""

    norm_type = field(LayerNormType, LayerNormType.LAYERNORM)
    distributed_norm_stage = field(DistributedLayerNormStage, DistributedLayerNormStage.NOT_DISTRIBUTED)
    eps = field(float, 1e-12)
    output_mem_config = field(MemoryConfig, MemoryConfig())
    program_config = field((LayerNormDefaultProgramConfig, _LAYER_NORM_SHARDED), LayerNormDefaultProgramConfig())
    compute_kernel_config = field(_COMPUTE, None)
    dtype = field(DataType, None)


class LayerNormInputs(Record):
    """Holds the tensors of a normalization of rows."""

    input = field(Tensor)
    residual_input_tensor = field(Tensor, None, by_name=True)
    weight = field(Tensor, None, by_name=True)
    bias = field(Tensor, None, by_name=True)
    stats = field(Tensor, None, by_name=True)
    recip_tensor = field(Tensor, None, by_name=True)


class LayerNormMultiCoreProgramFactory(Record):
    """Stands for the program of a normalization of an interleaved tensor."""

    @staticmethod
    def default_core_range(device: Any) -> CoreRangeSet:
        """Returns the cores that the program may use: all of the device."""
        size = device.compute_with_storage_grid_size()
        return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(size.x - 1, size.y - 1))])


class LayerNormShardedProgramFactory(Record):
    """Stands for the program of a normalization of a sharded tensor."""


def _described(tensor: Tensor, shape: Sequence[int], dtype: DataType | None, memory: MemoryConfig) -> TensorSpec:
    result = TensorSpec(shape, tensor.dtype if dtype is None else dtype, tensor.layout)
    result.memory_config = memory
    return result


def _allocated(tensor: Tensor, spec: TensorSpec) -> Tensor:
    from .memory import allocate_tensor_on_device

    return allocate_tensor_on_device(spec, tensor.device())


def _hash(attributes: Record, tensors: Sequence[Tensor]) -> int:
    return hash((repr(attributes), *((tuple(t.shape), t.dtype, t.layout, repr(t.memory_config())) for t in tensors)))


class LayerNormDeviceOperation:
    """Tells what a normalization of rows makes of its attributes and tensors."""

    @staticmethod
    def select_program_factory(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> Any:
        """Returns the program: that of a sharded tensor or the other one."""
        sharded = tensor_args.input.is_sharded()
        return LayerNormShardedProgramFactory() if sharded else LayerNormMultiCoreProgramFactory()

    @staticmethod
    def compute_output_specs(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> TensorSpec:
        """Returns shape, type, layout and memory of the result.

        The first half of a distributed one has the sums of rows: one tile of columns, two for layer_norm.
        """
        shape = list(tensor_args.input.shape)
        if operation_attributes.distributed_norm_stage is DistributedLayerNormStage.PRE_ALL_GATHER:
            shape[-1] = 32 * (2 if operation_attributes.norm_type is LayerNormType.LAYERNORM else 1)
        memory = operation_attributes.output_mem_config
        return _described(tensor_args.input, shape, operation_attributes.dtype, memory)

    @staticmethod
    def create_output_tensors(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> Tensor:
        """Allocates the result, without values."""
        spec = LayerNormDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return _allocated(tensor_args.input, spec)

    @staticmethod
    def compute_program_hash(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> int:
        """Returns a number that calls with the same program share."""
        tensors = [each for each in tensor_args._values().values() if each is not None]
        return _hash(operation_attributes, tensors)


class MatmulParams(Record):
    """Holds the attributes of a matrix product."""

    program_config = field((Config, ProgramConfig), None)
    bcast_batch = field(bool, None)
    output_mem_config = field(MemoryConfig, MemoryConfig())
    output_dtype = field(DataType, None)
    compute_kernel_config = field(_COMPUTE, None)
    untilize_out = field(bool, False)
    transpose_a = field(bool, False)
    transpose_b = field(bool, False)


class MatmulInputs(Record):
    """Holds the tensors of a matrix product."""

    input_tensors = field([Tensor], [])
    optional_input_tensors = field([Tensor, type(None)], [])
    optional_output_tensors = field([Tensor, type(None)], [])


class MatmulDeviceOperation:
    """Tells what a matrix product makes of its attributes and tensors."""

    @staticmethod
    def compute_output_specs(operation_attributes: MatmulParams, tensor_args: MatmulInputs) -> list[TensorSpec]:
        """Returns shape, type, layout and memory of the result.

        Raises:
            ValueError: there are not two operands, or their inner dimensions differ.
        """
        if len(tensor_args.input_tensors) != 2:
            raise ValueError(f"ttnn.MatmulInputs: {len(tensor_args.input_tensors)} input_tensors; expected two")
        a, b = (list(each.shape) for each in tensor_args.input_tensors)
        a = [*a[:-2], a[-1], a[-2]] if operation_attributes.transpose_a else a
        b = [*b[:-2], b[-1], b[-2]] if operation_attributes.transpose_b else b
        if a[-1] != b[-2]:
            raise ValueError(f"ttnn.MatmulInputs: inner dimensions {a[-1]} and {b[-2]} differ")
        batch = a[:-2] if len(a) >= len(b) else b[:-2]
        memory = operation_attributes.output_mem_config
        shape = [*batch, a[-2], b[-1]]
        return [_described(tensor_args.input_tensors[0], shape, operation_attributes.output_dtype, memory)]

    @staticmethod
    def create_output_tensors(operation_attributes: MatmulParams, tensor_args: MatmulInputs) -> list[Tensor]:
        """Allocates the result, without values, unless the caller gave one."""
        given = [each for each in tensor_args.optional_output_tensors if each is not None]
        specs = MatmulDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return given or [_allocated(tensor_args.input_tensors[0], spec) for spec in specs]

    @staticmethod
    def compute_program_hash(operation_attributes: MatmulParams, tensor_args: MatmulInputs) -> int:
        """Returns a number that calls with the same program share."""
        return _hash(operation_attributes, tensor_args.input_tensors)

    @staticmethod
    def invoke(
        input_tensor_a: Tensor, input_tensor_b: Tensor, bias: Tensor | None = None, *, attributes: MatmulParams
    ) -> list[Tensor]:
        """Computes the product, with a bias that is added to its rows."""
        from ..functions import ops

        options = {
            "transpose_a": attributes.transpose_a,
            "transpose_b": attributes.transpose_b,
            "memory_config": attributes.output_mem_config,
            "dtype": attributes.output_dtype,
            "program_config": attributes.program_config,
            "compute_kernel_config": attributes.compute_kernel_config,
        }
        if bias is not None:
            return [ops.linear(input_tensor_a, input_tensor_b, bias=bias, **options)]
        return [ops.matmul(input_tensor_a, input_tensor_b, **options)]


class SliceParams(Record):
    """Holds the attributes of a slice."""

    slice_start = field([int], [])
    slice_end = field([int], [])
    step = field([int], [])
    output_mem_config = field(MemoryConfig, MemoryConfig())
    output_mem_config_inherited = field(bool, False)
    sub_core_grids = field(CoreRangeSet, None)


class SliceInputs(Record):
    """Holds the tensors of a slice."""

    input = field(Tensor)
    preallocated_output = field(Tensor, None, by_name=True)


class SliceTileProgramFactory(Record):
    """Stands for the program of a slice of a tiled tensor."""


class SliceDeviceOperation:
    """Tells what a slice makes of its attributes and tensors."""

    @staticmethod
    def compute_output_specs(operation_attributes: SliceParams, tensor_args: SliceInputs) -> TensorSpec:
        """Returns shape, type, layout and memory of the result.

        Raises:
            ValueError: a start or an end lies outside the tensor, or there are not as many as dimensions.
        """
        sizes = list(tensor_args.input.shape)
        start, end = operation_attributes.slice_start, operation_attributes.slice_end
        step = operation_attributes.step or [1] * len(sizes)
        if not len(start) == len(end) == len(step) == len(sizes):
            raise ValueError(f"ttnn.SliceParams: {start} to {end} by {step}; expected {len(sizes)} numbers each")
        if any(not 0 <= low <= high <= size for low, high, size in zip(start, end, sizes, strict=True)):
            raise ValueError(f"ttnn.SliceParams: {start} to {end} lies outside {sizes}")
        shape = [-(-(high - low) // by) for low, high, by in zip(start, end, step, strict=True)]
        return _described(tensor_args.input, shape, None, operation_attributes.output_mem_config)

    @staticmethod
    def create_output_tensors(operation_attributes: SliceParams, tensor_args: SliceInputs) -> Tensor:
        """Allocates the result, without values, unless the caller gave one."""
        spec = SliceDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return tensor_args.preallocated_output or _allocated(tensor_args.input, spec)


def create_layernorm_program_config(
    shard_spec: ShardSpec | None = None, tile_height: int = 32, tile_width: int = 32
) -> Any:
    """Returns the program config of a normalization: the default, or blocks that are the shards of a tensor.

    Raises:
        ValueError: a shard is not whole tiles.
    """
    if shard_spec is None:
        return LayerNormDefaultProgramConfig()
    height, width = shard_spec.shape
    if height % tile_height or width % tile_width:
        raise ValueError(
            f"ttnn.create_layernorm_program_config: shards are {height}x{width}; expected multiples of "
            f"{tile_height}x{tile_width}"
        )
    grid: Any = shard_spec.grid
    block_w = width // tile_width
    return _LAYER_NORM_SHARDED(
        compute_with_storage_grid_size=grid.bounding_box().grid_size(),
        subblock_w=next(each for each in range(min(block_w, 4), 0, -1) if block_w % each == 0),
        block_h=height // tile_height,
        block_w=block_w,
        inplace=False,
    )


def _default_compute(name: str, arch: Any, wide: bool) -> Any:
    if not isinstance(arch, Arch):
        raise TypeError(f"ttnn.{name}: arch is {arch!r}; expected a ttnn.Arch")
    return _COMPUTE(
        math_fidelity=_FIDELITY.HiFi4, math_approx_mode=not wide, fp32_dest_acc_en=wide, packer_l1_acc=False
    )


def layernorm_default_compute_config(arch: Any) -> Any:
    """Returns what layer_norm computes with when nothing is said: HiFi4, a destination of 32 bits."""
    return _default_compute("layernorm_default_compute_config", arch, True)


def rmsnorm_default_compute_config(arch: Any) -> Any:
    """Returns what rms_norm computes with when nothing is said: HiFi4, approximate, a destination of 16 bits."""
    return _default_compute("rmsnorm_default_compute_config", arch, False)
