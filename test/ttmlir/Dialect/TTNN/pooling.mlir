// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#x = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 400 + d1 * 400 + d2, d3), <1x1>, memref<400x32xbf16, #dram>, <interleaved>>
#y = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 100 + d1 * 100 + d2, d3), <1x1>, memref<100x32xbf16, #dram>, <interleaved>>
func.func @pool(%a: tensor<1x1x400x32xbf16, #x>) -> tensor<1x1x100x32xbf16, #y> {
  // CHECK: ttnn.max_pool2d
  %0 = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 32 : si32, dilation = array<i32: 1, 1>, input_height = 20 : si32, input_width = 20 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x400x32xbf16, #x>) -> tensor<1x1x100x32xbf16, #y>
  return %0 : tensor<1x1x100x32xbf16, #y>
}
