// RUN: ttmlir-opt %s --ttir-element-type-normalization | FileCheck %s

// CHECK-LABEL: func.func @wraps(%arg0: tensor<4xsi32>, %arg1: tensor<4xsi32>) -> tensor<4xsi32>
func.func @wraps(%a: tensor<4xi8>, %b: tensor<4xsi8>) -> tensor<4xi8> {
  // CHECK-DAG: %[[SIGN:.*]] = "ttir.full"() <{fill_value = 128 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  // CHECK-DAG: %[[MASK:.*]] = "ttir.full"() <{fill_value = 255 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  // CHECK: %[[SUM:.*]] = "ttir.add"(%arg0, %arg1) : (tensor<4xsi32>, tensor<4xsi32>) -> tensor<4xsi32>
  // CHECK: %[[LOW:.*]] = "ttir.bitwise_and"(%[[SUM]], %[[MASK]])
  // CHECK: %[[TURNED:.*]] = "ttir.bitwise_xor"(%[[LOW]], %[[SIGN]])
  // CHECK: %[[BACK:.*]] = "ttir.subtract"(%[[TURNED]], %[[SIGN]])
  %0 = "ttir.add"(%a, %b) : (tensor<4xi8>, tensor<4xsi8>) -> tensor<4xi8>
  // What chooses or moves values needs no more.
  // CHECK: %[[MAX:.*]] = "ttir.maximum"(%[[BACK]], %arg0)
  // CHECK-NEXT: "ttir.reshape"(%[[MAX]])
  %1 = "ttir.maximum"(%0, %a) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 2 : i32]}> : (tensor<4xi8>) -> tensor<2x2xi8>
  %3 = "ttir.reshape"(%2) <{shape = [4 : i32]}> : (tensor<2x2xi8>) -> tensor<4xi8>
  return %3 : tensor<4xi8>
}

// A float goes to the nearest value, an unsigned integer stays what the chip has.
// CHECK-LABEL: func.func @casts
func.func @casts(%a: tensor<4xf32>, %u: tensor<4xui8>) -> (tensor<4xi16>, tensor<4xi16>, tensor<4xui8>) {
  // CHECK: %[[CAST:.*]] = "ttir.typecast"(%arg0){{.*}} -> tensor<4xsi32>
  // CHECK-NEXT: "ttir.clamp_scalar"(%[[CAST]]) <{max = 32767 : i32, min = -32768 : i32}>
  %0 = "ttir.typecast"(%a) : (tensor<4xf32>) -> tensor<4xi16>
  // CHECK-NEXT: "ttir.typecast"(%arg1){{.*}} : (tensor<4xui8>) -> tensor<4xsi32>
  // CHECK-NEXT: "ttir.add"(%arg1, %arg1) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: return
  %1 = "ttir.typecast"(%u) : (tensor<4xui8>) -> tensor<4xi16>
  %2 = "ttir.add"(%u, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0, %1, %2 : tensor<4xi16>, tensor<4xi16>, tensor<4xui8>
}

// Zeros come in above 16 bits, not copies of the sign.
// CHECK-LABEL: func.func @logical_shift
func.func @logical_shift(%a: tensor<4xi16>, %n: tensor<4xi16>) -> tensor<4xi16> {
  // CHECK: %[[BITS:.*]] = "ttir.bitwise_and"(%arg0, %{{.*}})
  // CHECK: "ttir.logical_right_shift"(%[[BITS]], %arg1)
  %0 = "ttir.logical_right_shift"(%a, %n) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}

// By the unsigned type of the same width.
// CHECK-LABEL: func.func @bitcasts
func.func @bitcasts(%a: tensor<4xbf16>, %i: tensor<4xi16>) -> (tensor<4xi16>, tensor<4xbf16>) {
  // CHECK: %[[BITS:.*]] = "ttir.bitcast_convert"(%arg0) : (tensor<4xbf16>) -> tensor<4xui16>
  // CHECK: %[[WIDE:.*]] = "ttir.typecast"(%[[BITS]]){{.*}} -> tensor<4xsi32>
  // CHECK: "ttir.bitwise_and"(%[[WIDE]]
  %0 = "ttir.bitcast_convert"(%a) : (tensor<4xbf16>) -> tensor<4xi16>
  // CHECK: %[[NARROW:.*]] = "ttir.typecast"(%arg1){{.*}} -> tensor<4xui16>
  // CHECK: "ttir.bitcast_convert"(%[[NARROW]]) : (tensor<4xui16>) -> tensor<4xbf16>
  %1 = "ttir.bitcast_convert"(%i) : (tensor<4xi16>) -> tensor<4xbf16>
  return %0, %1 : tensor<4xi16>, tensor<4xbf16>
}

// Half a byte is held in more, and what has no sign in a byte.
// CHECK-LABEL: func.func @nibbles(%arg0: tensor<4xsi32>, %arg1: tensor<4xui8>, %arg2: tensor<4xf32>)
func.func @nibbles(%a: tensor<4xi4>, %u: tensor<4xui4>, %x: tensor<4xf32>) -> (tensor<4xi4>, tensor<4xui4>, tensor<4xui2>) {
  // CHECK-DAG: %[[SIGN:.*]] = "ttir.full"() <{fill_value = 8 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  // CHECK: %[[SUM:.*]] = "ttir.add"(%arg0, %arg0)
  // CHECK-NEXT: %[[LOW:.*]] = "ttir.bitwise_and"(%[[SUM]]
  // CHECK-NEXT: %[[TURNED:.*]] = "ttir.bitwise_xor"(%[[LOW]], %[[SIGN]])
  // CHECK-NEXT: "ttir.subtract"(%[[TURNED]], %[[SIGN]])
  %0 = "ttir.add"(%a, %a) : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  // CHECK-NEXT: %[[PRODUCT:.*]] = "ttir.multiply"(%arg1, %arg1) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: "ttir.bitwise_and"(%[[PRODUCT]]
  %1 = "ttir.multiply"(%u, %u) : (tensor<4xui4>, tensor<4xui4>) -> tensor<4xui4>
  // CHECK-NEXT: %[[CAST:.*]] = "ttir.typecast"(%arg2)
  // CHECK-NEXT: "ttir.clamp_scalar"(%[[CAST]]) <{max = 3 : i32, min = 0 : i32}>
  %2 = "ttir.typecast"(%x) : (tensor<4xf32>) -> tensor<4xui2>
  return %0, %1, %2 : tensor<4xi4>, tensor<4xui4>, tensor<4xui2>
}

// CHECK-LABEL: func.func @nibble_bits
func.func @nibble_bits(%a: tensor<4xi4>) -> tensor<4xui4> {
  // CHECK: %[[CAST:.*]] = "ttir.typecast"(%arg0){{.*}} : (tensor<4xsi32>) -> tensor<4xui8>
  // CHECK-NEXT: %[[LOW:.*]] = "ttir.bitwise_and"(%[[CAST]]
  // CHECK-NEXT: return %[[LOW]]
  %0 = "ttir.bitcast_convert"(%a) : (tensor<4xi4>) -> tensor<4xui4>
  return %0 : tensor<4xui4>
}
