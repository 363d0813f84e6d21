// Functions of the parts that the names of ops tell.
// RUN: ttmlir-opt %s --ttnn-recover-structure | FileCheck %s
// RUN: ttmlir-opt %s --recover-structure-xla-torch-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline=try-recover-structure=true | ttmlir-translate --mlir-to-python --tensor-directory=%t.tensors | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt %s --ttnn-common-to-emitc-pipeline=try-recover-structure=true | ttmlir-translate --mlir-to-cpp --tensor-directory=%t.tensors | FileCheck %s --check-prefix=CPP

#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>

// CHECK: func.func private @layer_0_attention
// CHECK: func.func private @layer_0
// CHECK: call @layer_0_attention
// CHECK: func.func private @tail
// CHECK: func.func @model
// CHECK: "ttnn.constant"
// CHECK: call @layer_0
// CHECK: "ttnn.neg"
// CHECK: call @tail

// PY:      def layer_0_attention(x, weights):
// PY-NEXT:   scores = ttnn.matmul(x, weights)
// PY-NEXT:   softmax = ttnn.softmax(scores, dim=1, numeric_stable=False)
// PY-NEXT:   ttnn.deallocate(scores)
// PY-NEXT:   return softmax
// PY:      def layer_0(x, weights):
// PY-NEXT:   attention = layer_0_attention(x, weights)
// PY-NEXT:   residual = ttnn.add(attention, x)
// PY-NEXT:   return residual
// PY:      def tail(between):
// PY-NEXT:   abs_ = ttnn.abs(between)
// PY-NEXT:   exp = ttnn.exp(abs_)
// PY-NEXT:   return abs_, exp
// PY:      def model_constants(device):
// PY:      def model(x, device):
// PY-NEXT:   layer_0_weights = ttnn.load_cached(model_constants, [], device)
// PY-NEXT:   layer_0_1 = layer_0(x, layer_0_weights)
// PY-NEXT:   between = ttnn.neg(layer_0_1)
// PY-NEXT:   tail_abs, tail_exp = tail(between)
// PY-NEXT:   return tail_abs, tail_exp

// CPP: std::array<ttnn::Tensor, 2> tail(ttnn::Tensor between) {
// CPP:   return {abs, exp};
// CPP: auto [tail_abs, tail_exp] = tail(between);
func.func @model(%x: tensor<2x2xf32, #t> loc("x")) -> (tensor<2x2xf32, #t>, tensor<2x2xf32, #t>) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %w = "ttnn.constant"(%d) <{value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>}> : (!ttnn.device) -> tensor<2x2xf32, #t> loc("layer_0.weights")
  %0 = "ttnn.matmul"(%x, %w) : (tensor<2x2xf32, #t>, tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("layer_0.attention.scores")
  %1 = "ttnn.softmax"(%0) <{dimension = 1 : si32}> : (tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("model.py:12")
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<2x2xf32, #t>) -> ()
  %2 = "ttnn.add"(%1, %x) : (tensor<2x2xf32, #t>, tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("layer_0.residual")
  "ttnn.deallocate"(%w) <{force = false}> : (tensor<2x2xf32, #t>) -> ()
  %3 = "ttnn.neg"(%2) : (tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("between")
  %4 = "ttnn.abs"(%3) : (tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("tail.abs")
  %5 = "ttnn.exp"(%4) : (tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t> loc("tail.exp")
  return %4, %5 : tensor<2x2xf32, #t>, tensor<2x2xf32, #t>
}
