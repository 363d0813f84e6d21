// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<20x40xbf16, #sys>>
#v = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @make() -> tensor<20x40xbf16, #d> {
  // CHECK: "ttnn.get_device"{{.*}} <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}>
  %dev = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  // CHECK: "ttnn.empty"{{.*}} <{shape = #ttnn.shape<20x40>}>
  %0 = "ttnn.empty"(%dev) <{shape = #ttnn.shape<20x40>}> : (!ttnn.device) -> tensor<20x40xbf16, #d>
  // CHECK: "ttnn.full"{{.*}} <{fill_value = 3.000000e+00 : f32, shape = #ttnn.shape<20x40>}>
  %1 = "ttnn.full"(%dev) <{fill_value = 3.000000e+00 : f32, shape = #ttnn.shape<20x40>}> : (!ttnn.device) -> tensor<20x40xbf16, #d>
  // CHECK: "ttnn.zeros"{{.*}} <{shape = #ttnn.shape<20x40>}>
  %2 = "ttnn.zeros"() <{shape = #ttnn.shape<20x40>}> : () -> tensor<20x40xbf16, #h>
  // CHECK: "ttnn.ones"{{.*}} <{shape = #ttnn.shape<20x40>}>
  %3 = "ttnn.ones"(%dev) <{shape = #ttnn.shape<20x40>}> : (!ttnn.device) -> tensor<20x40xbf16, #d>
  // CHECK: "ttnn.arange"{{.*}} <{end = 120 : si64, start = 0 : si64, step = 3 : si64}>
  %4 = "ttnn.arange"(%dev) <{end = 120 : si64, start = 0 : si64, step = 3 : si64}> : (!ttnn.device) -> tensor<40xf32, #v>
  // CHECK: "ttnn.constant"{{.*}} <{value = dense<1.500000e+00> : tensor<20x40xbf16>}>
  %5 = "ttnn.constant"(%dev) <{value = dense<1.500000e+00> : tensor<20x40xbf16>}> : (!ttnn.device) -> tensor<20x40xbf16, #d>
  // CHECK: "ttnn.rand"{{.*}} <{high = 1.000000e+00 : f32, low = 0.000000e+00 : f32, seed = 5 : ui32, size = #ttnn.shape<20x40>}>
  %6 = "ttnn.rand"(%dev) <{high = 1.000000e+00 : f32, low = 0.000000e+00 : f32, seed = 5 : ui32, size = #ttnn.shape<20x40>}> : (!ttnn.device) -> tensor<20x40xbf16, #d>
  return %6 : tensor<20x40xbf16, #d>
}
