// RUN: ttmlir-opt %s --ttnn-layout | FileCheck %s --check-prefix=FIXED
// RUN: ttmlir-opt %s --ttnn-layout=open-sizes=true | FileCheck %s --check-prefix=OPEN

// Tiles of 300 kernels of 1 x 1 take more than a MiB: they lie in rows, unless layouts must be those of other sizes.
// FIXED-DAG: #[[ROWS:.*]] = #ttnn.ttnn_layout<{{.*}}memref<300x1xf32, #dram>
// FIXED: func.func @many(%{{.*}}: tensor<300x1x1xf32, #[[ROWS]]>)
// OPEN-NOT: memref<300x1xf32
// OPEN: memref<300x1x!ttcore.tile<32x32, f32>, #dram>
func.func @many(%a: tensor<300x1x1xf32>) -> tensor<300x1x1xf32> {
  return %a : tensor<300x1x1xf32>
}
