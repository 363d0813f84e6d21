// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-create-d2m-subgraphs | FileCheck %s
// RUN: not ttmlir-opt %s --ttnn-create-d2m-subgraphs 2>&1 | FileCheck %s --check-prefix=SYSTEM

#dram = #ttnn.buffer_type<dram>
#d = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// SYSTEM: error: layouts are chosen for a chip, but the module has no ttcore.system_desc; run ttcore-register-device first

// A group would read the cache after it is filled.
// CHECK-LABEL: func.func @written(
// CHECK-NOT: ttnn.d2m_subgraph
// CHECK: "ttnn.exp"
// CHECK-NEXT: "ttnn.fill_cache"
// CHECK-NEXT: "ttnn.neg"
func.func @written(%cache: tensor<1x1x32x64xf32, #d>, %x: tensor<1x1x32x64xf32, #d>) -> tensor<1x1x32x64xf32, #d> {
  %0 = "ttnn.exp"(%cache) : (tensor<1x1x32x64xf32, #d>) -> tensor<1x1x32x64xf32, #d>
  "ttnn.fill_cache"(%cache, %x) <{batch_offset = 0 : i32}> : (tensor<1x1x32x64xf32, #d>, tensor<1x1x32x64xf32, #d>) -> ()
  %1 = "ttnn.neg"(%0) : (tensor<1x1x32x64xf32, #d>) -> tensor<1x1x32x64xf32, #d>
  return %1 : tensor<1x1x32x64xf32, #d>
}
