// RUN: ttmlir-opt %s --const-eval-hoist-transform --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --const-eval-hoist-transform --split-input-file --mlir-print-debuginfo -o %t.once
// RUN: ttmlir-opt %t.once --const-eval-hoist-transform --split-input-file --mlir-print-debuginfo -o %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: func.func @main(
// Unused by what is left.
// CHECK-NOT: "ttir.constant"
// CHECK: "ttir.ones"
// CHECK: %[[C:.*]]:2 = ttcore.load_cached(@main_const_eval_0, [%arg1]) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: %[[B:.*]] = ttcore.load_cached(@main_const_eval_1, [%arg2])
// CHECK: %[[S:.*]] = "ttir.add"(%arg0
// CHECK: "ttir.matmul"(%[[S]], %[[C]]#1)
// CHECK: "ttir.add"({{.*}}, %[[B]])
// CHECK: return {{.*}}, %[[C]]#0
// CHECK: func.func private @main_const_eval_0(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {tt.function_type = "const_eval"}
// CHECK-NEXT: %[[TWO:.*]] = "ttir.constant"
// CHECK-NEXT: %[[W:.*]] = "ttir.multiply"(%arg0, %[[TWO]])
// CHECK-NEXT: %[[T:.*]] = "ttir.transpose"(%[[W]])
// CHECK-NEXT: return %[[W]], %[[T]]
// CHECK: func.func private @main_const_eval_1(%arg0: tensor<1x8xbf16>) -> tensor<1x8xf32>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %b: tensor<1x8xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>}) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  %two = "ttir.constant"() <{value = dense<2.0> : tensor<8x8xf32>}> : () -> tensor<8x8xf32>
  %ones = "ttir.ones"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %0 = "ttir.multiply"(%w, %two) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.transpose"(%0) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.typecast"(%b) : (tensor<1x8xbf16>) -> tensor<1x8xf32>
  %3 = "ttir.add"(%x, %ones) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.matmul"(%3, %1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.add"(%4, %2) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %5, %0 : tensor<4x8xf32>, tensor<8x8xf32>
}

// -----

// Random values, inputs, what is written to in place, what is observed, and constants by themselves.
// CHECK-LABEL: @stays
// CHECK-NOT: load_cached
// CHECK-NOT: func.func private
module attributes {ttcore.observed = array<i64: 7>} {
  func.func @stays(%x: tensor<4x8xf32>, %w: tensor<4x8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %cache: tensor<1x2x8x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %update: tensor<1x2x3x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x2x8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %0 = "ttir.rand"() <{size = [4 : i32, 8 : i32]}> : () -> tensor<4x8xf32>
    %1 = "ttir.add"(%0, %w) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "ttir.add"(%x, %w) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "ttir.fill_cache"(%cache, %update) <{batch_offset = 0 : i32}> : (tensor<1x2x8x4xf32>, tensor<1x2x3x4xf32>) -> ()
    %3 = "ttir.abs"(%cache) : (tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
    %4 = "ttir.abs"(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(fused<7 : i64>["observed"])
    %5 = "ttir.zeros"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
    return %1, %2, %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x2x8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

// Another function has the name already.
// CHECK-LABEL: func.func @f(
// CHECK: ttcore.load_cached(@f_const_eval_0_{{[0-9]+}}, [])
func.func @f() -> tensor<4xf32> {
  %0 = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %1 = "ttir.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @f_const_eval_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
