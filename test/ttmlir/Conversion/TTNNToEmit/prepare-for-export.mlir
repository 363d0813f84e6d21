// RUN: ttmlir-opt %s --ttnn-prepare-module-for-export --split-input-file -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir --ttnn-prepare-module-for-export --split-input-file | diff - %t.mlir
// RUN: ttmlir-opt %s --ttnn-tuplify-tensors=tuplify-input-if-empty=true --ttnn-prepare-module-for-export --convert-ttnn-to-emitpy=target-module=true --split-input-file | FileCheck %s --check-prefix=PYTHON

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// CHECK: func.func @forward(%[[D:.*]]: !ttnn.device) -> tensor
// CHECK-NOT: get_device
// CHECK: "ttnn.zeros"(%[[D]])
// CHECK: "ttnn.ones"(%[[D]])
// The name of the function that makes inputs follows.
// CHECK: func.func @create_inputs_for_main() attributes {{.*}}ttnn.inputs_of = "forward"
// PYTHON: func.func @forward(%{{.*}}: !emitpy.opaque<"list[ttnn.Tensor]">, %{{.*}}: !emitpy.opaque<"ttnn.MeshDevice">)
func.func @main() -> tensor<32x32xf32, #t> {
  %a = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.zeros"(%a) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #t>
  %b = "ttnn.get_device"() : () -> !ttnn.device
  %1 = "ttnn.ones"(%b) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #t>
  %2 = "ttnn.add"(%0, %1) : (tensor<32x32xf32, #t>, tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t>
  return %2 : tensor<32x32xf32, #t>
}
func.func @create_inputs_for_main() attributes {tt.function_type = "input_generator", ttnn.inputs_of = "main"} { return }

// -----

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// Of several programs none is renamed, and one that has a device keeps it where it is.
// CHECK: func.func @main(%{{.*}}: !ttnn.device)
func.func @main() { return }
// CHECK: func.func @other(%{{.*}}: !ttnn.device, %{{.*}}: tensor
func.func @other(%d: !ttnn.device, %x: tensor<32x32xf32, #t>) { return }
// CHECK: func.func private @part()
func.func private @part() { return }
