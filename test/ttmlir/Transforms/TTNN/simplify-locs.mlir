// RUN: ttmlir-opt %s --ttnn-simplify-locs-for-codegen --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-LABEL: func.func @names
func.func @names(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
  // CHECK: "ttnn.abs"{{.*}} loc("query")
  %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("query"("net.py":3:8))
  // CHECK: "ttnn.exp"{{.*}} loc(fused<7 : i64>["key"])
  %1 = "ttnn.exp"(%0) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc(fused<7 : i64>["key"("net.py":4:8)])
  // CHECK: "ttnn.neg"{{.*}} loc(callsite("value" at "net.py":9:1))
  %2 = "ttnn.neg"(%1) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc(callsite("value"("net.py":5:8) at "net.py":9:1))
  // CHECK: "ttnn.relu"{{.*}} loc("net.py":6:8)
  %3 = "ttnn.relu"(%2) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("net.py":6:8)
  // CHECK: return{{.*}} loc("return"("net.py":7:8))
  return %3 : tensor<32x32xf32, #l> loc("return"("net.py":7:8))
}
