// RUN: ttmlir-opt %s --ttnn-layout --split-input-file --verify-diagnostics | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-layout --ttnn-layout --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: #[[R4:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3), <1x1>, memref<12x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK: #[[R1:.*]] = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// CHECK: #[[R0:.*]] = #ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>
// CHECK: #[[R3:.*]] = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<4x1x!ttcore.tile<32x32, i1>, #dram>, <interleaved>>
// CHECK: func.func @ranks(%arg0: tensor<2x3x64x64xf32, #[[R4]]>, %arg1: tensor<50xbf16, #[[R1]]>, %arg2: tensor<si32, #[[R0]]>, %arg3: tensor<2x33x5xi1, #[[R3]]>) -> tensor<50xbf16, #[[R1]]>
func.func @ranks(%a: tensor<2x3x64x64xf32>, %b: tensor<50x!ttcore.tile<32x32, bfp_bf8>>, %c: tensor<si32>, %d: tensor<2x33x5xi1>) -> tensor<50x!ttcore.tile<32x32, bfp_bf8>> {
  return %b : tensor<50x!ttcore.tile<32x32, bfp_bf8>>
}

// -----

// The full sides of mesh_shards lie on the host; what lies between is distributed.
// CHECK: #[[FULL:.*]] = {{.*}}memref<64x64xf32, #system_memory>>
// CHECK: #[[PART:.*]] = {{.*}}mesh = <"mesh">, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK: func.func @mesh(%arg0: tensor<64x64xf32, #[[FULL]]>) -> tensor<64x64xf32, #[[FULL]]>
// CHECK: "ttir.exp"{{.*}} -> tensor<32x64xf32, #[[PART]]>
func.func @mesh(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64x64xf32>) -> tensor<32x64xf32>
  %1 = "ttir.exp"(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// What a collective gives is a tensor for each device, also of one that all devices have alike.
// CHECK-DAG: #[[ALL:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-DAG: #[[SIZE:.*]] = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>
// CHECK-DAG: #[[EACH:.*]] = {{.*}}mesh = <"x">, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK: func.func @collectives(%arg0: tensor<32x32xf32, #[[ALL]]>)
module attributes {ttcore.meshes = #ttcore.meshes<[<"x" = 2x4>]>} {
  func.func @collectives(%a: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x8xf32>, tensor<32x32xf32>, tensor<1xsi32>) {
    // CHECK: "ttir.exp"{{.*}} -> tensor<32x32xf32, #[[ALL]]>
    %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    // CHECK: "ttir.all_reduce"{{.*}} -> tensor<32x32xf32, #[[EACH]]>
    %1 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    // CHECK: "ttir.collective_permute"{{.*}} -> tensor<32x32xf32, #[[EACH]]>
    %2 = "ttir.collective_permute"(%0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    // CHECK: "ttir.mesh_partition"{{.*}} -> tensor<32x8xf32, #{{.*}}>
    %3 = "ttir.mesh_partition"(%0) <{cluster_axis = 1 : ui32, dim = 1 : si32}> : (tensor<32x32xf32>) -> tensor<32x8xf32>
    // CHECK: "ttir.distributed_rms_norm"{{.*}} -> tensor<32x32xf32, #[[EACH]]>
    %4 = "ttir.distributed_rms_norm"(%0) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    // The size of a part is the same everywhere.
    // CHECK: "ttir.get_dimension_size"{{.*}} -> tensor<1xsi32, #[[SIZE]]>
    %5 = "ttir.get_dimension_size"(%3) <{dimension = 1 : i32}> : (tensor<32x8xf32>) -> tensor<1xsi32>
    return %1, %2, %3, %4, %5 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x8xf32>, tensor<32x32xf32>, tensor<1xsi32>
  }
}

// -----

// What only convolutions read as weights and biases, and the constants behind it, are rows of the host.
// CHECK-DAG: #[[W:.*]] = {{.*}}memref<192x1xf32, #system_memory>
// CHECK-DAG: #[[S:.*]] = {{.*}}memref<1x16xf32, #system_memory>
// CHECK: func.func @weights(%arg0: tensor<1x4x4x12xf32, {{.*}}>, %arg1: tensor<16x12x1x1xf32, #[[W]]> {{.*}}, %arg2: tensor<16xf32, #[[S]]>
// CHECK: "ttir.constant"{{.*}} -> tensor<16xf32, #[[S]]>
// CHECK: "ttir.multiply"{{.*}} -> tensor<16xf32, #[[S]]>
// CHECK: "ttir.multiply"{{.*}} -> tensor<16x12x1x1xf32, #[[W]]>
func.func @weights(%x: tensor<1x4x4x12xf32>, %w: tensor<16x12x1x1xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<1x4x4x16xf32> {
  %two = "ttir.constant"() <{value = dense<2.0> : tensor<16xf32>}> : () -> tensor<16xf32>
  %0 = "ttir.multiply"(%s, %two) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = "ttir.reshape"(%0) <{shape = [16 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<16xf32>) -> tensor<16x1x1x1xf32>
  %2 = "ttir.multiply"(%w, %1) : (tensor<16x12x1x1xf32>, tensor<16x1x1x1xf32>) -> tensor<16x12x1x1xf32>
  %3 = "ttir.reshape"(%0) <{shape = [1 : i32, 1 : i32, 1 : i32, 16 : i32]}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
  %4 = "ttir.conv2d"(%x, %2, %3) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>, tensor<1x1x1x16xf32>) -> tensor<1x4x4x16xf32>
  return %4 : tensor<1x4x4x16xf32>
}

// -----

// An argument that no constant is can be a weight, too. What something else reads, what changes from run to run, and
// what is computed with such values lies on the device.
// CHECK: #[[IN:.*]] = {{.*}}memref<192x1xf32, #system_memory>
// CHECK-NOT: #system_memory>
// CHECK: func.func @readers(%arg0: tensor<1x4x4x12xf32, {{.*}}>, %arg1: tensor<16x12x1x1xf32, #[[IN]]>, %arg2: tensor<16x12x1x1xf32, #[[T:[^>]*]]>, %arg3: tensor<16x12x1x1xf32, #[[T]]>
// CHECK-SAME: %arg4: tensor<1x1x1x1xf32, #[[ONE:[^>]*]]>
// CHECK: "ttir.multiply"{{.*}} -> tensor<16x12x1x1xf32, #[[T]]>
// CHECK: "ttir.multiply"{{.*}} -> tensor<16x12x1x1xf32, #[[T]]>
func.func @readers(%x: tensor<1x4x4x12xf32>, %input: tensor<16x12x1x1xf32>, %returned: tensor<16x12x1x1xf32>, %w: tensor<16x12x1x1xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<1x1x1x1xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<16x12x1x1xf32>, tensor<1x1x1x1xf32>) {
  %0 = "ttir.multiply"(%w, %s) : (tensor<16x12x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<16x12x1x1xf32>
  %1 = "ttir.multiply"(%returned, %w) : (tensor<16x12x1x1xf32>, tensor<16x12x1x1xf32>) -> tensor<16x12x1x1xf32>
  %2 = "ttir.conv2d"(%x, %input) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>) -> tensor<1x4x4x16xf32>
  %3 = "ttir.conv2d"(%x, %returned) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>) -> tensor<1x4x4x16xf32>
  %4 = "ttir.conv2d"(%x, %0) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>) -> tensor<1x4x4x16xf32>
  %5 = "ttir.conv2d"(%x, %1) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>) -> tensor<1x4x4x16xf32>
  return %2, %3, %4, %5, %returned, %s : tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<16x12x1x1xf32>, tensor<1x1x1x1xf32>
}

// -----

// Weights in another order of dimensions are rearranged on the host, at each run where they are an input.
// CHECK: #[[IN:.*]] = {{.*}}memref<12x16xf32, #system_memory>
// CHECK: #[[W:.*]] = {{.*}}memref<192x1xf32, #system_memory>
// CHECK: func.func @hwio(%arg0: tensor<1x4x4x12xf32, {{.*}}>, %arg1: tensor<1x1x12x16xf32, #[[IN]]>
// CHECK: "ttir.permute"(%arg1){{.*}} -> tensor<16x12x1x1xf32, #[[W]]>
func.func @hwio(%x: tensor<1x4x4x12xf32>, %w: tensor<1x1x12x16xf32>) -> tensor<1x4x4x16xf32> {
  %0 = "ttir.permute"(%w) <{permutation = array<i64: 3, 2, 0, 1>}> : (tensor<1x1x12x16xf32>) -> tensor<16x12x1x1xf32>
  %1 = "ttir.conv2d"(%x, %0) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x4x4x12xf32>, tensor<16x12x1x1xf32>) -> tensor<1x4x4x16xf32>
  return %1 : tensor<1x4x4x16xf32>
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<?x4xf32>'; expected static sizes}}
func.func @dynamic(%a: tensor<?x4xf32>) {
  return
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<4000000000x4000000000x4000000000xf32>'; its size exceeds 64 bits}}
func.func @huge(%a: tensor<4000000000x4000000000x4000000000xf32>) {
  return
}

// -----

// Tiles of small windows would be mostly padding: where that is much memory, rows hold them.
// CHECK-DAG: #[[KERNEL:.*]] = {{.*}}memref<4096x1xf32, #dram>, <interleaved>>
// CHECK-DAG: #[[WINDOW:.*]] = {{.*}}memref<16384x8xbf16, #dram>, <interleaved>>
// CHECK-DAG: #[[FEW:.*]] = {{.*}}memref<8x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-DAG: #[[HALF:.*]] = {{.*}}memref<2048x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-DAG: #[[WIDE:.*]] = {{.*}}memref<2048x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-DAG: #[[BLOCK:.*]] = {{.*}}memref<4096x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// CHECK: func.func @mostly_padding(%arg0: tensor<64x64x1x1xf32, #[[KERNEL]]>, %arg1: tensor<8x256x8x8xbf16, #[[WINDOW]]>, %arg2: tensor<2x4x1x1xf32, #[[FEW]]>, %arg3: tensor<8x256x16x16xf32, #[[HALF]]>, %arg4: tensor<8x256x1x64xf32, #[[WIDE]]>, %arg5: tensor<64x64x1x1xbf16, #[[BLOCK]]>) -> tensor<64x64x1x1xf32, #[[KERNEL]]>
func.func @mostly_padding(%a: tensor<64x64x1x1xf32>, %b: tensor<8x256x8x8xbf16>, %c: tensor<2x4x1x1xf32>, %d: tensor<8x256x16x16xf32>, %e: tensor<8x256x1x64xf32>, %f: tensor<64x64x1x1x!ttcore.tile<32x32, bfp_bf8>>) -> tensor<64x64x1x1xf32> {
  return %a : tensor<64x64x1x1xf32>
}

// -----

// Weights of a convolution are on the host where only convolutions read them; those that a branch or a loop is given lie
// where the other function has them.
// CHECK: func.func @weights_of_a_branch({{.*}}%arg1: tensor<4x2x3x3xf32, #[[GIVEN:[a-z_0-9]+]]>
func.func @weights_of_a_branch(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>, %n: tensor<si32>) -> tensor<1x4x3x3xf32> {
  // CHECK: ttcore.case([@convolve, @clear]
  %0 = ttcore.case([@convolve, @clear], %n, [%x, %w]) : tensor<si32>, (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %0 : tensor<1x4x3x3xf32>
}
// CHECK: func.func private @convolve({{.*}}%arg1: tensor<4x2x3x3xf32, #[[GIVEN]]>
func.func private @convolve(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0 : i64, channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64}> : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %0 : tensor<1x4x3x3xf32>
}
func.func private @clear(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %0 = "ttir.zeros"() <{shape = array<i32: 1, 4, 3, 3>}> : () -> tensor<1x4x3x3xf32>
  return %0 : tensor<1x4x3x3xf32>
}
