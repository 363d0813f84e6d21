// RUN: ttmlir-opt %s --ttnn-ccl-activation-dtype-lowering -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir --ttnn-ccl-activation-dtype-lowering | diff - %t.mlir

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#i = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>
#r = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xbf16, #dram>, <interleaved>>

// CHECK-DAG: #[[$T:.*]] = {{.*}}memref<1x1x!ttcore.tile<32x32, bf16>
// CHECK-DAG: #[[$B:.*]] = {{.*}}memref<1x1x!ttcore.tile<32x32, bfp_bf8>
// CHECK-DAG: #[[$C:.*]] = {{.*}}memref<1x2x!ttcore.tile<32x32, bfp_bf8>
// CHECK-LABEL: func.func @floats
// CHECK: %[[A:.*]] = "ttnn.typecast"(%arg0) : {{.*}} -> tensor<32x32xbf16, #[[$B]]>
// CHECK: %[[G:.*]] = "ttnn.all_gather"(%[[A]]) {{.*}} -> tensor<32x64xbf16, #[[$C]]>
// CHECK: %[[D:.*]] = "ttnn.typecast"(%[[G]])
// CHECK: %[[E:.*]] = "ttnn.typecast"(%[[D]])
// CHECK: %[[F:.*]] = "ttnn.reduce_scatter"(%[[E]])
// CHECK: "ttnn.typecast"(%[[F]]) : {{.*}} -> tensor<32x32xbf16, #[[$T]]>
func.func @floats(%x: tensor<32x32xbf16, #t>) -> tensor<32x32xbf16, #t> {
  %0 = "ttnn.all_gather"(%x) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<32x32xbf16, #t>) -> tensor<32x64xbf16, #w>
  %1 = "ttnn.reduce_scatter"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 : si32}> : (tensor<32x64xbf16, #w>) -> tensor<32x32xbf16, #t>
  return %1 : tensor<32x32xbf16, #t>
}

// Integers, and rows, are what they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: typecast
func.func @others(%x: tensor<32x32xsi32, #i>, %y: tensor<32x32xbf16, #r>) {
  %0 = "ttnn.all_reduce"(%x) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<32x32xsi32, #i>) -> tensor<32x32xsi32, #i>
  %1 = "ttnn.all_reduce"(%y) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<32x32xbf16, #r>) -> tensor<32x32xbf16, #r>
  return
}
