// RUN: ttmlir-opt %s --allow-unregistered-dialect | ttmlir-opt --allow-unregistered-dialect | FileCheck %s

#shard = #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (3,0)>]>, <32x256>, <row_major>>
"test.attributes"() {
  // A memory configuration is read with its parts in full, by alias or without prefix.
  // CHECK: a = #ttnn.memory_config<#dram, <interleaved>>
  a = #ttnn.memory_config<<dram>, #ttnn.tensor_memory_layout<interleaved>>,
  // CHECK-SAME: b = #ttnn.memory_config<#l1, <height_sharded>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (3,0)>]>, <32x256>, <row_major>>>
  b = #ttnn.memory_config<#ttnn.buffer_type<l1>, <height_sharded>, #shard>,
  // CHECK-SAME: c = #ttnn.memory_config<#l1, <nd_sharded>, ndShardSpec = #ttnn.nd_shard_spec<<[#ttnn.core_range<(0,0), (1,1)>]>, <1x32x64>, <row_major>, <grid_2d>>>
  c = #ttnn.memory_config<<l1>, <nd_sharded>, ndShardSpec = <<[#ttnn.core_range<(0,0), (1,1)>]>, <1x32x64>, <row_major>, <grid_2d>>>,
  // CHECK-SAME: d = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>
  d = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>,
  // CHECK-SAME: e = #ttnn.conv2d_config<weights_dtype = bfp_bf8, activation = <op_type = relu>, act_block_h_override = 64>
  e = #ttnn.conv2d_config<act_block_h_override = 64, activation = <op_type = relu>, weights_dtype = bfp_bf8>
} : () -> ()
