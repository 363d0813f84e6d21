# SPDX-License-Identifier: Apache-2.0
"""TTNN's short names of data types, layouts and memories."""

from _ttmlir_runtime.ttnn import BufferType, DataType, Layout, MemoryConfig, TensorMemoryLayout

float32 = DataType.FLOAT32
float16 = DataType.FLOAT16
bfloat16 = DataType.BFLOAT16
bfloat8_b = DataType.BFLOAT8_B
bfloat4_b = DataType.BFLOAT4_B
bfloat2_b = DataType.BFLOAT2_B
float8_b = DataType.FLOAT8_B
float4_b = DataType.FLOAT4_B
float2_b = DataType.FLOAT2_B
uint32 = DataType.UINT32
uint16 = DataType.UINT16
uint8 = DataType.UINT8
int32 = DataType.INT32
bool = DataType.BOOL

ROW_MAJOR_LAYOUT = Layout.ROW_MAJOR
TILE_LAYOUT = Layout.TILE
TILE_SIZE = 32

DRAM_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.DRAM)
L1_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.L1)
# Grid and shard are chosen by the function that makes the tensor.
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)
