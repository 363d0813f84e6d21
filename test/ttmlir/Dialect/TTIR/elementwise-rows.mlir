// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

// Every row of the elementwise family.
func.func @rows(%f: tensor<2x5xbf16>, %f1: tensor<5xbf16>, %i: tensor<2x5xi32>, %i1: tensor<5xi32>) {
  // CHECK: "ttir.abs"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %abs = "ttir.abs"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.acos"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %acos = "ttir.acos"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.asin"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %asin = "ttir.asin"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.asinh"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %asinh = "ttir.asinh"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.atan"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %atan = "ttir.atan"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.bitcast_convert"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %bitcast_convert = "ttir.bitcast_convert"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.bitwise_not"{{.*}} : (tensor<2x5xi32>) -> tensor<2x5xi32>
  %bitwise_not = "ttir.bitwise_not"(%i) : (tensor<2x5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.cbrt"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %cbrt = "ttir.cbrt"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.ceil"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %ceil = "ttir.ceil"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.clamp_scalar"{{.*}} <{max = 6.000000e+00 : f32, min = -1.000000e+00 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %clamp_scalar = "ttir.clamp_scalar"(%f) <{max = 6.000000e+00 : f32, min = -1.000000e+00 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.cos"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %cos = "ttir.cos"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.erf"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %erf = "ttir.erf"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.erfc"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %erfc = "ttir.erfc"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.exp"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %exp = "ttir.exp"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.expm1"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %expm1 = "ttir.expm1"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.floor"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %floor = "ttir.floor"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.gelu"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %gelu = "ttir.gelu"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.hardsigmoid"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %hardsigmoid = "ttir.hardsigmoid"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.isfinite"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %isfinite = "ttir.isfinite"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.leaky_relu"{{.*}} <{parameter = 1.250000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %leaky_relu = "ttir.leaky_relu"(%f) <{parameter = 1.250000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.log"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %log = "ttir.log"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.log1p"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %log1p = "ttir.log1p"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.log2"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %log2 = "ttir.log2"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.logical_not"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %logical_not = "ttir.logical_not"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.mish"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %mish = "ttir.mish"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.neg"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %neg = "ttir.neg"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.reciprocal"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %reciprocal = "ttir.reciprocal"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.relu"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %relu = "ttir.relu"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.relu6"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %relu6 = "ttir.relu6"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.rsqrt"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %rsqrt = "ttir.rsqrt"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.sigmoid"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sigmoid = "ttir.sigmoid"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.sign"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sign = "ttir.sign"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.silu"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %silu = "ttir.silu"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.sin"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sin = "ttir.sin"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.sqrt"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sqrt = "ttir.sqrt"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.tan"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %tan = "ttir.tan"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.tanh"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %tanh = "ttir.tanh"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.add"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %add = "ttir.add"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.atan2"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %atan2 = "ttir.atan2"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.bitwise_and"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_and = "ttir.bitwise_and"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.bitwise_or"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_or = "ttir.bitwise_or"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.bitwise_xor"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_xor = "ttir.bitwise_xor"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.eq"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %eq = "ttir.eq"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.gelu_bw"{{.*}} <{approximate = "tanh"}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %gelu_bw = "ttir.gelu_bw"(%f, %f1) <{approximate = "tanh"}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.ge"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %ge = "ttir.ge"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.gt"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %gt = "ttir.gt"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.le"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %le = "ttir.le"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.lt"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %lt = "ttir.lt"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.logical_and"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_and = "ttir.logical_and"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.logical_left_shift"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %logical_left_shift = "ttir.logical_left_shift"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.logical_or"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_or = "ttir.logical_or"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.logical_right_shift"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %logical_right_shift = "ttir.logical_right_shift"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttir.logical_xor"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_xor = "ttir.logical_xor"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.maximum"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %maximum = "ttir.maximum"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.minimum"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %minimum = "ttir.minimum"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.multiply"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %multiply = "ttir.multiply"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.ne"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %ne = "ttir.ne"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.remainder"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %remainder = "ttir.remainder"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.subtract"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %subtract = "ttir.subtract"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.where"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %where = "ttir.where"(%f, %f1, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.clamp_tensor"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %clamp_tensor = "ttir.clamp_tensor"(%f, %f1, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.exp2"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %exp2 = "ttir.exp2"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.frac"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %frac = "ttir.frac"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.selu"{{.*}} <{alpha = 1.500000e+00 : f32, scale = 5.000000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %selu = "ttir.selu"(%f) <{alpha = 1.500000e+00 : f32, scale = 5.000000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.signbit"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %signbit = "ttir.signbit"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.softsign"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %softsign = "ttir.softsign"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.square"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %square = "ttir.square"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.trunc"{{.*}} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %trunc = "ttir.trunc"(%f) : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.typecast"{{.*}} <{conservative_folding = true}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %typecast = "ttir.typecast"(%f) <{conservative_folding = true}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.div"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %div = "ttir.div"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.pow"{{.*}} : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %pow = "ttir.pow"(%f, %f1) : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttir.right_shift"{{.*}} : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %right_shift = "ttir.right_shift"(%i, %i1) : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  return
}
