// RUN: ttmlir-opt %s --split-input-file --stablehlo-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --stablehlo-pipeline="enable-auto-sharding=true mesh-shape=1,2" | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards))' | FileCheck %s

// Calls are not verified: tokens, tuples and shapes that their names do not promise have no rule, and lists that only
// this toolchain should write hold what nobody would write.
// CHECK-LABEL: func.func @token
// CHECK: return
sdy.mesh @m = <["x"=2]>
func.func @token(%t: !stablehlo.token, %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @Eigh(%t, %a) : (!stablehlo.token, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = stablehlo.custom_call @Eigh(%t, %a) : (!stablehlo.token, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %0 : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @tokenresult
// CHECK: return
sdy.mesh @m = <["x"=2]>
func.func @tokenresult(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<8xf32> {
  %0:2 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i], []) {i=8, j=8} reduction={j}>} : (tensor<8x8xf32>) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @tup
// CHECK: return
sdy.mesh @m = <["x"=2]>
func.func @tup(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([]) {i=8, j=8} reduction={j}>} : (tensor<8x8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @reout
// CHECK: return
sdy.mesh @m = <["x"=2]>
func.func @reout(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {reoutline.group = "g", reoutline.seed, reoutline.orig_name = "x.y", reoutline.arg_operand_indices = [2.0 : f32], reoutline.result_pos = ["a"]} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @mismatched
// CHECK: return
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @mismatched(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8xf32>, %c: tensor<0x3xf32>) -> (tensor<8x8xf32>, tensor<8x3xf32>) {
  %0 = stablehlo.custom_call @mhlo.topk(%b, %a) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = stablehlo.custom_call @Qr(%a, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8x1xf32>)
  %2 = stablehlo.custom_call @tt.sampling(%a) : (tensor<8x8xf32>) -> tensor<8x3xf32>
  %3:2 = stablehlo.custom_call @ApproxTopK(%a, %b, %c) : (tensor<8x8xf32>, tensor<8xf32>, tensor<0x3xf32>) -> (tensor<8x3xf32>, tensor<1x8xf32>)
  %4 = stablehlo.custom_call @tt.scaled_dot_product_attention(%a, %a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<1x8x1x8xf32>
  %6 = stablehlo.custom_call @tt.scaled_dot_product_attention(%5, %a, %b) : (tensor<1x8x1x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.custom_call @tt.paged_update_cache(%5, %5, %b, %b) : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x1x8xf32>
  %8 = stablehlo.custom_call @tenstorrent.rms_norm(%b, %a) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x3xf32>
}
