func.func @exp(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
