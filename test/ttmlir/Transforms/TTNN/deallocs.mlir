// RUN: ttmlir-opt %s --ttnn-remove-deallocs | FileCheck %s --check-prefix=REMOVED
// RUN: ttmlir-opt %s --ttnn-adjust-deallocs | FileCheck %s --check-prefix=ADJUSTED
// RUN: ttmlir-opt %s --ttnn-force-final-deallocs | FileCheck %s --check-prefix=FORCED

#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// REMOVED-LABEL: func.func @program
// REMOVED-NOT: ttnn.deallocate
// ADJUSTED-LABEL: func.func @program
// ADJUSTED: %[[C:.*]] = ttcore.load_cached
// ADJUSTED-NEXT: %[[A:.*]] = "ttnn.add"
// ADJUSTED-NEXT: %[[B:.*]] = "ttnn.add"
// ADJUSTED-NEXT: "ttnn.deallocate"(%[[A]])
// ADJUSTED-NEXT: "ttnn.deallocate"(%arg0)
// ADJUSTED-NEXT: return %[[B]]
// FORCED-LABEL: func.func @program
// FORCED-COUNT-4: "ttnn.deallocate"(%{{.*}}) <{force = true}>
func.func @program(%x: tensor<32x32xf32, #l>, %w: tensor<32x32xf32, #l> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<32x32xf32, #l> {
  %0 = ttcore.load_cached(@once, [%w]) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  %1 = "ttnn.add"(%x, %w) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  %2 = "ttnn.add"(%1, %0) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<32x32xf32, #l>) -> ()
  "ttnn.deallocate"(%1) <{force = false}> : (tensor<32x32xf32, #l>) -> ()
  "ttnn.deallocate"(%w) <{force = false}> : (tensor<32x32xf32, #l>) -> ()
  "ttnn.deallocate"(%x) <{force = false}> : (tensor<32x32xf32, #l>) -> ()
  return %2 : tensor<32x32xf32, #l>
}
func.func private @once(%w: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> attributes {tt.function_type = "const_eval"} {
  return %w : tensor<32x32xf32, #l>
}

// What is used again afterwards is not final.
// FORCED-LABEL: func.func @early
// FORCED: "ttnn.deallocate"(%arg0) <{force = false}>
// REMOVED-LABEL: func.func @early
func.func @early(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
  "ttnn.deallocate"(%x) <{force = false}> : (tensor<32x32xf32, #l>) -> ()
  return %x : tensor<32x32xf32, #l>
}
