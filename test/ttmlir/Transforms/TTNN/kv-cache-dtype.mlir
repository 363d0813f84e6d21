// RUN: ttmlir-opt %s --ttnn-kv-cache-dtype-conversion=target-dtype=bfp_bf8 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-kv-cache-dtype-conversion --split-input-file | FileCheck %s --check-prefix=NONE

#dram = #ttnn.buffer_type<dram>
#c = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 64 + d1 * 64 + d2, d3), <1x1>, memref<2x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// CHECK-DAG: #[[$BF16:[a-z0-9_]+]] = #ttnn.ttnn_layout<{{.*}}!ttcore.tile<32x32, bf16>
// CHECK-DAG: #[[$BFP:[a-z0-9_]+]] = #ttnn.ttnn_layout<{{.*}}!ttcore.tile<32x32, bfp_bf8>
// CHECK-LABEL: @fill
// CHECK-SAME: (%[[CACHE:.*]]: tensor<1x1x64x32xbf16, #[[$BFP]]>, %{{.*}}: tensor<1x1x64x32xbf16, #[[$BF16]]>) -> tensor<1x1x64x32xbf16, #[[$BFP]]>
// NONE-NOT: bfp_bf8
func.func @fill(%cache: tensor<1x1x64x32xbf16, #c>, %new: tensor<1x1x64x32xbf16, #c>) -> tensor<1x1x64x32xbf16, #c> {
  // CHECK: "ttnn.fill_cache"(%[[CACHE]]
  "ttnn.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x1x64x32xbf16, #c>, tensor<1x1x64x32xbf16, #c>) -> ()
  // CHECK: return %[[CACHE]] : tensor<1x1x64x32xbf16, #[[$BFP]]>
  return %cache : tensor<1x1x64x32xbf16, #c>
}

// -----

#r = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 64 + d1 * 64 + d2, d3), <1x1>, memref<64x32xbf16, #ttnn.buffer_type<dram>>, <interleaved>>

// expected-error@+1 {{argument 0 is a cache of type 'tensor<1x1x64x32xbf16, #ttnn.ttnn_layout<}}
func.func @rows(%cache: tensor<1x1x64x32xbf16, #r>, %new: tensor<1x1x64x32xbf16, #r>) {
  "ttnn.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x1x64x32xbf16, #r>, tensor<1x1x64x32xbf16, #r>) -> ()
  return
}
