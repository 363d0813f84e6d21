// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96xbf16, #sys>>
#ht = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #sys>>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @move(%x: tensor<64x96xbf16, #h>) -> tensor<64x96xbf16, #h> {
  // CHECK: "ttnn.get_device"{{.*}} <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}>
  %dev = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  // CHECK: ttnn.to_layout
  %0 = "ttnn.to_layout"(%x) : (tensor<64x96xbf16, #h>) -> tensor<64x96xbf16, #ht>
  // CHECK: ttnn.to_device
  %1 = "ttnn.to_device"(%0, %dev) : (tensor<64x96xbf16, #ht>, !ttnn.device) -> tensor<64x96xbf16, #d>
  // CHECK: "ttnn.deallocate"{{.*}} <{force = false}>
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<64x96xbf16, #ht>) -> ()
  // CHECK: ttnn.from_device
  %2 = "ttnn.from_device"(%1) : (tensor<64x96xbf16, #d>) -> tensor<64x96xbf16, #ht>
  // CHECK: ttnn.to_layout
  %3 = "ttnn.to_layout"(%2) : (tensor<64x96xbf16, #ht>) -> tensor<64x96xbf16, #h>
  return %3 : tensor<64x96xbf16, #h>
}
