// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

// Every row of the elementwise family.
func.func @rows(%f: tensor<2x5xbf16>, %f1: tensor<5xbf16>, %i: tensor<2x5xi32>, %i1: tensor<5xi32>) {
  // CHECK: "ttnn.abs"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %abs = "ttnn.abs"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.acos"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %acos = "ttnn.acos"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.asin"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %asin = "ttnn.asin"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.asinh"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %asinh = "ttnn.asinh"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.atan"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %atan = "ttnn.atan"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.bitcast_convert"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %bitcast_convert = "ttnn.bitcast_convert"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.bitwise_not"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>) -> tensor<2x5xi32>
  %bitwise_not = "ttnn.bitwise_not"(%i) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.cbrt"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %cbrt = "ttnn.cbrt"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.ceil"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %ceil = "ttnn.ceil"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.clamp_scalar"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>, max = 6.000000e+00 : f32, min = -1.000000e+00 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %clamp_scalar = "ttnn.clamp_scalar"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>, max = 6.000000e+00 : f32, min = -1.000000e+00 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.cos"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %cos = "ttnn.cos"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.erf"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %erf = "ttnn.erf"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.erfc"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %erfc = "ttnn.erfc"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.exp"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %exp = "ttnn.exp"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.expm1"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %expm1 = "ttnn.expm1"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.floor"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %floor = "ttnn.floor"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.gelu"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %gelu = "ttnn.gelu"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.hardsigmoid"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %hardsigmoid = "ttnn.hardsigmoid"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.isfinite"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %isfinite = "ttnn.isfinite"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.leaky_relu"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>, parameter = 1.250000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %leaky_relu = "ttnn.leaky_relu"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>, parameter = 1.250000e-01 : f32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.log"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %log = "ttnn.log"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.log1p"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %log1p = "ttnn.log1p"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.logical_not"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %logical_not = "ttnn.logical_not"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.mish"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %mish = "ttnn.mish"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.neg"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %neg = "ttnn.neg"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.reciprocal"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %reciprocal = "ttnn.reciprocal"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.relu"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %relu = "ttnn.relu"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.relu6"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %relu6 = "ttnn.relu6"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.rsqrt"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %rsqrt = "ttnn.rsqrt"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.sigmoid"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sigmoid = "ttnn.sigmoid"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.sign"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sign = "ttnn.sign"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.silu"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %silu = "ttnn.silu"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.sin"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sin = "ttnn.sin"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.sqrt"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %sqrt = "ttnn.sqrt"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.tan"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %tan = "ttnn.tan"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.tanh"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %tanh = "ttnn.tanh"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.add"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %add = "ttnn.add"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.atan2"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %atan2 = "ttnn.atan2"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.bitwise_and"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_and = "ttnn.bitwise_and"(%i, %i1) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.bitwise_or"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_or = "ttnn.bitwise_or"(%i, %i1) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.bitwise_xor"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %bitwise_xor = "ttnn.bitwise_xor"(%i, %i1) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.eq"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %eq = "ttnn.eq"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.gelu_bw"{{.*}} <{approximate = "tanh", dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %gelu_bw = "ttnn.gelu_bw"(%f, %f1) <{approximate = "tanh", dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.ge"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %ge = "ttnn.ge"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.gt"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %gt = "ttnn.gt"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.le"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %le = "ttnn.le"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.lt"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %lt = "ttnn.lt"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.logical_and"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_and = "ttnn.logical_and"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.logical_left_shift"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %logical_left_shift = "ttnn.logical_left_shift"(%i, %i1) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.logical_or"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_or = "ttnn.logical_or"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.logical_right_shift"{{.*}} <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  %logical_right_shift = "ttnn.logical_right_shift"(%i, %i1) <{dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<2x5xi32>, tensor<5xi32>) -> tensor<2x5xi32>
  // CHECK: "ttnn.logical_xor"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %logical_xor = "ttnn.logical_xor"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.maximum"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %maximum = "ttnn.maximum"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.minimum"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %minimum = "ttnn.minimum"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.multiply"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %multiply = "ttnn.multiply"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.ne"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %ne = "ttnn.ne"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.remainder"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %remainder = "ttnn.remainder"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.subtract"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %subtract = "ttnn.subtract"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.where"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %where = "ttnn.where"(%f, %f1, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.clamp_tensor"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %clamp_tensor = "ttnn.clamp_tensor"(%f, %f1, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.typecast"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %typecast = "ttnn.typecast"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.pow_scalar"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>, rhs = 2 : i32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %pow_scalar = "ttnn.pow_scalar"(%f) <{dtype = #ttcore.supportedDataTypes<bf16>, rhs = 2 : i32}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.divide"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %divide = "ttnn.divide"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  // CHECK: "ttnn.pow_tensor"{{.*}} <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  %pow_tensor = "ttnn.pow_tensor"(%f, %f1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<2x5xbf16>, tensor<5xbf16>) -> tensor<2x5xbf16>
  return
}
