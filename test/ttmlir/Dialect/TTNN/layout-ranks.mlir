// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s

// The memref of a tensor that is not sharded may keep the tensor's dimensions.
#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
// CHECK-DAG: #[[$ONE:.*]] = #ttnn.ttnn_layout<(d0) -> (d0), <1>, memref<32xf32, #system_memory>>
// CHECK-DAG: #[[$THREE:.*]] = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0, d1, d2), <1x1x1>, memref<2x1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-DAG: #[[$FOUR:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0, d1, d2, d3), <1x1>, memref<1x2x32x32xf32, #dram>, <interleaved>>
#one = #ttnn.ttnn_layout<(d0) -> (d0), <1>, memref<32xf32, #host>>
#three = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0, d1, d2), <1x1x1>, memref<2x1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#four = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0, d1, d2, d3), <1x1>, memref<1x2x32x32xf32, #dram>, <interleaved>>

// CHECK-LABEL: @ranks
// CHECK-SAME: tensor<32xf32, #[[$ONE]]>, %{{.*}}: tensor<2x32x32xf32, #[[$THREE]]>, %{{.*}}: tensor<1x2x32x32xf32, #[[$FOUR]]>
func.func @ranks(%a: tensor<32xf32, #one>, %b: tensor<2x32x32xf32, #three>, %c: tensor<1x2x32x32xf32, #four>) {
  return
}
