// RUN: ttmlir-opt %s --ttnn-force-const-eval-to-system-memory | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-force-const-eval-to-system-memory --ttnn-force-const-eval-to-system-memory | FileCheck %s
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <height_sharded>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// CHECK-DAG: #[[$DRAM:.*]] = #ttnn.ttnn_layout<{{.*}}memref<1x1x!ttcore.tile<32x32, f32>, #dram>
// CHECK-DAG: #[[$HOST:.*]] = #ttnn.ttnn_layout<{{.*}}memref<32x32xf32, #system_memory>
// CHECK-DAG: #[[$TILES:.*]] = #ttnn.ttnn_layout<{{.*}}memref<1x1x!ttcore.tile<32x32, bfp_bf8>, #system_memory>

// An argument that is evaluated once twice over; one that is read in every run; in shards; of a block format.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %{{.*}}: tensor<32x32xf32, #[[$HOST]]>, %{{.*}}: tensor<32x32xf32, #[[$DRAM]]>, %{{.*}}: tensor<32x32xf32, #{{[^>]*}}>, %{{.*}}: tensor<32x32xf32, #[[$TILES]]>
func.func @main(%w: tensor<32x32xf32, #l>, %x: tensor<32x32xf32, #l>, %s: tensor<32x32xf32, #s>, %b: tensor<32x32xf32, #b>) -> (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>, tensor<32x32xf32, #s>, tensor<32x32xf32, #b>) {
  %0 = ttcore.load_cached(@sum, [%w, %w]) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  %1 = ttcore.load_cached(@exp, [%x]) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  %2 = "ttnn.add"(%x, %1) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  %3 = ttcore.load_cached(@sharded, [%s]) : (tensor<32x32xf32, #s>) -> tensor<32x32xf32, #s>
  %4 = ttcore.load_cached(@block, [%b]) : (tensor<32x32xf32, #b>) -> tensor<32x32xf32, #b>
  return %0, %2, %3, %4 : tensor<32x32xf32, #l>, tensor<32x32xf32, #l>, tensor<32x32xf32, #s>, tensor<32x32xf32, #b>
}
// CHECK-LABEL: func.func private @sum
// CHECK-SAME: (%[[A:.*]]: tensor<32x32xf32, #[[$HOST]]>, %[[B:.*]]: tensor<32x32xf32, #[[$HOST]]>)
// CHECK-DAG: %[[SENTA:.*]] = "ttnn.to_layout"(%[[A]])
// CHECK-DAG: %[[SENTB:.*]] = "ttnn.to_layout"(%[[B]])
// CHECK: "ttnn.add"(%[[SENTA]], %[[SENTB]]) {{.*}}-> tensor<32x32xf32, #[[$DRAM]]>
func.func private @sum(%a: tensor<32x32xf32, #l>, %b: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.add"(%a, %b) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  return %0 : tensor<32x32xf32, #l>
}
// CHECK-LABEL: func.func private @exp(
// CHECK-NOT: ttnn.to_layout
func.func private @exp(%a: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.exp"(%a) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  return %0 : tensor<32x32xf32, #l>
}
func.func private @sharded(%a: tensor<32x32xf32, #s>) -> tensor<32x32xf32, #s> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.exp"(%a) : (tensor<32x32xf32, #s>) -> tensor<32x32xf32, #s>
  return %0 : tensor<32x32xf32, #s>
}
// CHECK-LABEL: func.func private @block(
// CHECK: "ttnn.to_layout"
func.func private @block(%a: tensor<32x32xf32, #b>) -> tensor<32x32xf32, #b> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.exp"(%a) : (tensor<32x32xf32, #b>) -> tensor<32x32xf32, #b>
  return %0 : tensor<32x32xf32, #b>
}
