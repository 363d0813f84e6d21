// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func private @body(%a: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d> {
    // CHECK: ttnn.exp
    %0 = "ttnn.exp"(%a) : (tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d>
    return %0 : tensor<32x32xf32, #d>
  }
  func.func @main(%a: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d> {
    // CHECK: "ttnn.get_device"{{.*}} <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}>
    %dev = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    // CHECK: "ttnn.empty"{{.*}} <{shape = #ttnn.shape<32x32>}>
    %o = "ttnn.empty"(%dev) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #d>
    // CHECK: ttnn.d2m_subgraph
    %0 = ttnn.d2m_subgraph @body
        ins(%a : tensor<32x32xf32, #d>)
        outs(%o : tensor<32x32xf32, #d>) : tensor<32x32xf32, #d>
    return %0 : tensor<32x32xf32, #d>
  }
}
