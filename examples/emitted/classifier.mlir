// The module that classifier.cpp was emitted from:
//   ttmlir-opt classifier.mlir --ttir-to-emitc-pipeline --mlir-print-debuginfo | ttmlir-translate --mlir-to-cpp
func.func @classifier(%image: tensor<8x64xf32> loc("image"), %weight: tensor<64x10xf32> loc("weight"), %bias: tensor<10xf32> loc("bias")) -> tensor<8x10xf32> {
  %0 = "ttir.matmul"(%image, %weight) <{transpose_a = false, transpose_b = false}> : (tensor<8x64xf32>, tensor<64x10xf32>) -> tensor<8x10xf32> loc("products")
  %1 = "ttir.add"(%0, %bias) : (tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32> loc("scores")
  %2 = "ttir.softmax"(%1) <{dimension = 1 : si32, numericStable = false}> : (tensor<8x10xf32>) -> tensor<8x10xf32> loc("probabilities")
  return %2 : tensor<8x10xf32>
}
