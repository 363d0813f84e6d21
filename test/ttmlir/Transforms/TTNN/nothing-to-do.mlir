// Passes that do nothing here, with all of their options.
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %s --ttnn-workaround="ttnn-enable-layout-workaround-pass=true ttnn-enable-decomposition-workaround-pass=false ttnn-optimization-level=2" --ttnn-emitpy-workarounds --ttnn-decomposition="enable-op-constraints=true max-fallback-attempts=1" --ttnn-memory-management=aggressive-memory-saving=false --ttnn-rm-layout-propagation --ttnn-configure-ccl-ops --ttnn-deduce-moe-compute-layouts --ttnn-allocate-distributed-op-buffers --ttnn-allocate-distributed-op-semaphores | diff - %t.mlir
// RUN: not ttmlir-opt %s --ttnn-workaround=ttnn-optimization-level=high 2>&1 | FileCheck %s
// CHECK: for the --ttnn-optimization-level option: 'high' value invalid for integer argument!
#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @program(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
  %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  return %0 : tensor<32x32xf32, #l>
}
