# SPDX-License-Identifier: Apache-2.0
"""Provides TTNN on simulated chips: devices, tensors in their memory, and functions of tensors.

    import torch
    import ttnn

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.rand(64, 128), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    y = ttnn.softmax(x * 2.0, dim=-1)
    print(ttnn.to_torch(y))
    ttnn.close_device(device)

Functions are generated from the table of the runtime's ops; see help(ttnn.softmax). They return the same bits as a
compiled program. docs/ttnn.md describes the package.
"""

import sys as _sys

from _ttmlir_runtime import DeviceError, Error, OpError, OutOfMemoryError
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    StorageType,
    TensorMemoryLayout,
)

from . import config, distributed, graph, model_preprocessing
from .caching import load_cached
from .composites import COMPOSITES as _COMPOSITES
from .composites import PLAIN as _PLAIN
from .configs import CONFIGS as _CONFIGS
from .configs import (
    BlackholeComputeKernelConfig,
    PlacementReplicate,
    PlacementShard,
    WormholeComputeKernelConfig,
)
from .constants import (
    DRAM_MEMORY_CONFIG,
    L1_BLOCK_SHARDED_MEMORY_CONFIG,
    L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    L1_WIDTH_SHARDED_MEMORY_CONFIG,
    ROW_MAJOR_LAYOUT,
    TILE_LAYOUT,
    TILE_SIZE,
    bfloat2_b,
    bfloat4_b,
    bfloat8_b,
    bfloat16,
    bool,
    float2_b,
    float4_b,
    float8_b,
    float16,
    float32,
    int32,
    uint8,
    uint16,
    uint32,
)
from .control import switch_case, while_loop
from .device import (
    MeshDevice,
    close_device,
    close_mesh_device,
    create_mesh_device,
    get_device_ids,
    get_num_devices,
    manage_device,
    open_device,
    open_mesh_device,
    synchronize_device,
)
from .distributed import visualize_mesh_device, visualize_system_mesh, visualize_tensor
from .enums import ENUMS as _ENUMS
from .functions import FUNCTIONS as _FUNCTIONS
from .functions import place_functions as _place
from .goldens import get_fallback_function, get_golden_function
from .host import HostResult, host_call
from .in_place import IN_PLACE as _IN_PLACE
from .library import colors as _colors
from .library import fabric as _fabric
from .library import generic as _generic
from .library import group_norms as _group_norms
from .library import hosts as _hosts
from .library import kernels as _kernels
from .library import placement as _placement
from .library import plans as _plans
from .library import settings as _settings
from .library import sockets as _sockets
from .library.colors import *
from .library.cores import (
    corerange_to_cores,
    create_sharded_memory_config,
    create_sharded_memory_config_,
    get_memory_config,
    grid_to_cores,
    is_sharded,
    num_cores_to_corerangeset,
    num_cores_to_corerangeset_in_subcoregrids,
    split_work_to_cores,
)
from .library.devices import extend_devices as _extend_devices
from .library.fabric import *
from .library.generic import *
from .library.geometry import MeshCoordinate, MeshCoordinateRange, SubDevice, SubDeviceId, Tile
from .library.group_norms import *
from .library.hosts import *
from .library.kernels import *
from .library.memory import (
    allocate_tensor_on_device,
    allocate_tensor_on_host,
    as_tensor,
    get_arch_name,
    get_memory_view,
    interleaved_to_sharded,
    interleaved_to_sharded_partial,
    reallocate,
    reshard,
    sharded_to_interleaved,
    sharded_to_interleaved_partial,
)
from .library.modes import MODES as _MODES
from .library.placement import *
from .library.plans import *
from .library.sessions import (
    CloseDevice,
    CloseDevices,
    CreateDevice,
    CreateDevices,
    GetDefaultDevice,
    GetNumAvailableDevices,
    GetNumPCIeDevices,
    GetPCIeDeviceID,
    MeshEvent,
    QueueId,
    SetDefaultDevice,
    command_queue,
    dump_device_memory_state,
    event_synchronize,
    get_current_command_queue_id_for_thread,
    get_num_pcie_devices,
    get_pcie_device_ids,
    init_device_compute_kernel_config,
    record_event,
    wait_for_event,
)
from .library.settings import *
from .library.sockets import *
from .library.specs import NdShardSpec, TensorSpec
from .library.specs import extend_tensors as _extend_tensors
from .mesh import (
    ConcatMesh2dToTensor,
    ConcatMeshToTensor,
    MeshComposer,
    MeshMapper,
    ReplicateTensorToMesh,
    ReplicateTensorToMeshWrapper,
    ShardTensor2dMesh,
    ShardTensorToMesh,
    create_mesh_composer,
    create_mesh_mapper,
    distribute,
)
from .shape import MeshShape, Shape
from .tensor import from_torch, get_device_tensors, is_tensor_storage_on_device, to_torch
from .traces import (
    MeshTraceId,
    begin_trace_capture,
    copy_device_to_host_tensor,
    end_trace_capture,
    execute_trace,
    is_trace_capture_active,
    release_trace,
)
from .utilities import UTILITIES as _UTILITIES
from .utilities import place_modules as _place_modules

# Enums, configs and functions, which are made from the rows of the runtime, are added below.
__all__ = [
    "DRAM_MEMORY_CONFIG",
    "L1_BLOCK_SHARDED_MEMORY_CONFIG",
    "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "L1_WIDTH_SHARDED_MEMORY_CONFIG",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "TILE_SIZE",
    "BlackholeComputeKernelConfig",
    "BufferType",
    "CloseDevice",
    "CloseDevices",
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "CreateDevice",
    "CreateDevices",
    "DataType",
    "Device",
    "DeviceError",
    "Error",
    "GetDefaultDevice",
    "GetNumAvailableDevices",
    "GetNumPCIeDevices",
    "GetPCIeDeviceID",
    "HostResult",
    "Layout",
    "MemoryConfig",
    "MeshComposer",
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshDevice",
    "MeshEvent",
    "MeshMapper",
    "MeshShape",
    "MeshTraceId",
    "NdShardSpec",
    "OpError",
    "OutOfMemoryError",
    "PlacementReplicate",
    "PlacementShard",
    "QueueId",
    "ReplicateTensorToMesh",
    "ReplicateTensorToMeshWrapper",
    "SetDefaultDevice",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "StorageType",
    "SubDevice",
    "SubDeviceId",
    "Tensor",
    "TensorMemoryLayout",
    "TensorSpec",
    "Tile",
    "WormholeComputeKernelConfig",
    "allocate_tensor_on_device",
    "allocate_tensor_on_host",
    "as_tensor",
    "begin_trace_capture",
    "bfloat2_b",
    "bfloat4_b",
    "bfloat8_b",
    "bfloat16",
    "bool",
    "close_device",
    "close_mesh_device",
    "command_queue",
    "config",
    "copy_device_to_host_tensor",
    "corerange_to_cores",
    "create_mesh_composer",
    "create_mesh_device",
    "create_mesh_mapper",
    "create_sharded_memory_config",
    "create_sharded_memory_config_",
    "distribute",
    "distributed",
    "dump_device_memory_state",
    "end_trace_capture",
    "event_synchronize",
    "execute_trace",
    "float2_b",
    "float4_b",
    "float8_b",
    "float16",
    "float32",
    "from_torch",
    "get_arch_name",
    "get_current_command_queue_id_for_thread",
    "get_device_ids",
    "get_device_tensors",
    "get_fallback_function",
    "get_golden_function",
    "get_memory_config",
    "get_memory_view",
    "get_num_devices",
    "get_num_pcie_devices",
    "get_pcie_device_ids",
    "graph",
    "grid_to_cores",
    "host_call",
    "init_device_compute_kernel_config",
    "int32",
    "interleaved_to_sharded",
    "interleaved_to_sharded_partial",
    "is_sharded",
    "is_tensor_storage_on_device",
    "is_trace_capture_active",
    "load_cached",
    "manage_device",
    "model_preprocessing",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "open_device",
    "open_mesh_device",
    "reallocate",
    "record_event",
    "release_trace",
    "reshard",
    "sharded_to_interleaved",
    "sharded_to_interleaved_partial",
    "split_work_to_cores",
    "switch_case",
    "synchronize_device",
    "to_torch",
    "uint8",
    "uint16",
    "uint32",
    "visualize_mesh_device",
    "visualize_system_mesh",
    "visualize_tensor",
    "wait_for_event",
    "while_loop",
]
_extend_devices()
_extend_tensors()
_made = {result.__name__: result for result in (*_ENUMS.values(), *_CONFIGS.values(), *_MODES.values())}
globals().update(_made)
__all__ += _made
for _part in (
    _colors, _fabric, _generic, _group_norms, _hosts, _kernels, _placement, _plans, _settings, _sockets,
):  # fmt: skip
    __all__ += _part.__all__
_place(_sys.modules[__name__], _FUNCTIONS)
_place(_sys.modules[__name__], {**_IN_PLACE, **_PLAIN, **_COMPOSITES, **_UTILITIES, **_sockets.SOCKETS})
_place(_sys.modules[__name__], _colors.EXPERIMENTAL)
_place_modules(_sys.modules[__name__])


def __getattr__(name: str) -> object:
    hint = ""
    if not name.startswith("_"):  # Python and tools look for __wrapped__ and others in each module
        import difflib

        near = difflib.get_close_matches(name, __all__, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AttributeError(f"module 'ttnn' has no attribute {name!r}{hint}")
