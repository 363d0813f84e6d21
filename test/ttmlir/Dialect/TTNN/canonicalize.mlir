// RUN: ttmlir-opt %s --canonicalize --cse | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#f = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#m = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
#r3 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// An op that keeps the type, layout and memory included, does nothing.
// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: tensor<32x32xbf16, #a>) -> (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) {
  %0 = "ttnn.to_layout"(%x) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %1 = "ttnn.to_memory_config"(%x) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %2 = "ttnn.typecast"(%x) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %3 = "ttnn.permute"(%x) <{permutation = array<i64: 0, 1>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %4 = "ttnn.concat"(%x) <{dim = 0 : si32}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %5 = "ttnn.neg"(%x) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %6 = "ttnn.neg"(%5) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  return %0, %1, %2, %3, %4, %6 : tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>
}

// CHECK-LABEL: @composed
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
func.func @composed(%x: tensor<32x32xbf16, #a>) -> (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) {
  %0 = "ttnn.transpose"(%x) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %1 = "ttnn.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %2 = "ttnn.reshape"(%x) <{shape = [1 : i32, 32 : i32, 32 : i32]}> : (tensor<32x32xbf16, #a>) -> tensor<1x32x32xbf16, #r3>
  %3 = "ttnn.reshape"(%2) <{shape = [32 : i32, 32 : i32]}> : (tensor<1x32x32xbf16, #r3>) -> tensor<32x32xbf16, #a>
  %4 = "ttnn.typecast"(%x) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xf32, #f>
  %5 = "ttnn.typecast"(%4) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xf32, #f>) -> tensor<32x32xbf16, #a>
  return %1, %3, %5 : tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>
}

// Another memory, or what fills the padding of tiles, is not to be lost; a cast to bf16 rounds.
// CHECK-LABEL: @kept
// CHECK: ttnn.to_memory_config
// CHECK: pad_value = 1.0
// CHECK: ttnn.typecast
// CHECK: ttnn.typecast
// CHECK: return
func.func @kept(%x: tensor<32x32xbf16, #a>, %y: tensor<32x32xf32, #f>) -> (tensor<32x32xbf16, #m>, tensor<32x32xbf16, #a>, tensor<32x32xf32, #f>) {
  %0 = "ttnn.to_memory_config"(%x) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #m>
  %1 = "ttnn.permute"(%x) <{permutation = array<i64: 0, 1>, pad_value = 1.0 : f32}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %2 = "ttnn.typecast"(%y) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xf32, #f>) -> tensor<32x32xbf16, #a>
  %3 = "ttnn.typecast"(%2) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xf32, #f>
  return %0, %1, %3 : tensor<32x32xbf16, #m>, tensor<32x32xbf16, #a>, tensor<32x32xf32, #f>
}

// Neutral numbers, also on a device.
// CHECK-LABEL: @neutral
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK: %[[ADD:.*]] = "ttnn.add"
// CHECK: return %[[X]], %[[ADD]]
func.func @neutral(%x: tensor<32x32xbf16, #a>) -> (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) {
  %device = "ttnn.get_device"() : () -> !ttnn.device
  %one = "ttnn.full"(%device) <{shape = #ttnn.shape<32x32>, fill_value = 1.0 : f32}> : (!ttnn.device) -> tensor<32x32xbf16, #a>
  %zero = "ttnn.zeros"(%device) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #a>
  %0 = "ttnn.multiply"(%x, %one) : (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %1 = "ttnn.add"(%0, %zero) : (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  return %0, %1 : tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>
}

// Freed before the last use: nothing may read it later than it did, or free it twice.
// CHECK-LABEL: @freed
// CHECK: ttnn.transpose
// CHECK: ttnn.deallocate
// CHECK: ttnn.transpose
// CHECK: ttnn.deallocate
// CHECK: ttnn.typecast
// CHECK: ttnn.deallocate
// CHECK: ttnn.assign
// CHECK: ttnn.assign
// CHECK: return
func.func @freed(%x: tensor<32x32xbf16, #a>, %y: tensor<32x32xbf16, #a>) -> (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) {
  %0 = "ttnn.transpose"(%x) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  "ttnn.deallocate"(%x) <{force = false}> : (tensor<32x32xbf16, #a>) -> ()
  %1 = "ttnn.transpose"(%0) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<32x32xbf16, #a>) -> ()
  %2 = "ttnn.typecast"(%y) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  "ttnn.deallocate"(%y) <{force = false}> : (tensor<32x32xbf16, #a>) -> ()
  %3 = "ttnn.assign"(%1) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  %4 = "ttnn.assign"(%1) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a>
  return %1, %2, %3, %4 : tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>
}

// Between two reads of a file, it may be written.
// CHECK-LABEL: @files
// CHECK: ttnn.load_tensor
// CHECK: ttnn.dump_tensor
// CHECK: ttnn.load_tensor
func.func @files(%x: tensor<32x32xbf16, #a>) -> (tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>) {
  %0 = "ttnn.load_tensor"() <{file_path = "x.tensorbin"}> : () -> tensor<32x32xbf16, #a>
  "ttnn.dump_tensor"(%x) <{file_path = "x.tensorbin"}> : (tensor<32x32xbf16, #a>) -> ()
  %1 = "ttnn.load_tensor"() <{file_path = "x.tensorbin"}> : () -> tensor<32x32xbf16, #a>
  return %0, %1 : tensor<32x32xbf16, #a>, tensor<32x32xbf16, #a>
}
