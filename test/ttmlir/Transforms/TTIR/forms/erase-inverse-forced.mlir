// RUN: ttmlir-opt %s --ttir-erase-inverse-ops | FileCheck %s --check-prefix=PLAIN
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops="force=true enable-commute-downwards=false" | FileCheck %s --check-prefix=UP
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops=force=true | FileCheck %s --check-prefix=UP
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops="force=true enable-commute-upwards=false" | FileCheck %s --check-prefix=DOWN

// As many permutes are left wherever they are: only `force` moves them. Up comes first.
// PLAIN-LABEL: @below
// PLAIN: ttir.exp
// PLAIN: ttir.permute
// UP-LABEL: @below
// UP: %[[P:.*]] = "ttir.permute"(%arg0)
// UP: %[[E:.*]] = "ttir.exp"(%[[P]]) : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
// UP: return %[[E]], %[[E]]
// DOWN-LABEL: @below
// DOWN: ttir.exp
// DOWN: ttir.permute
func.func @below(%x: tensor<32x64xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xbf16>) {
  %0 = "ttir.exp"(%x) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xbf16>) -> tensor<64x32xbf16>
  %2 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xbf16>) -> tensor<64x32xbf16>
  return %1, %2 : tensor<64x32xbf16>, tensor<64x32xbf16>
}

// PLAIN-LABEL: @above
// PLAIN: ttir.permute
// PLAIN: ttir.exp
// UP-LABEL: @above
// UP: ttir.permute
// UP: ttir.exp
// DOWN-LABEL: @above
// DOWN: %[[E:.*]] = "ttir.exp"(%arg0) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
// DOWN: %[[P:.*]] = "ttir.permute"(%[[E]])
// DOWN: return %[[P]]
func.func @above(%x: tensor<32x64xbf16>) -> tensor<64x32xbf16> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xbf16>) -> tensor<64x32xbf16>
  %1 = "ttir.exp"(%0) : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  return %1 : tensor<64x32xbf16>
}

// A constant is moved at no cost; two operands would be two reshapes for one.
// UP-LABEL: @operands
// UP: %[[C:.*]] = "ttir.constant"
// UP: %[[R:.*]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 8 : i32]}>
// UP: %[[A:.*]] = "ttir.add"(%[[R]], %{{.*}}) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
// UP: %[[M:.*]] = "ttir.multiply"(%arg0, %arg1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// UP: %[[S:.*]] = "ttir.reshape"(%[[M]])
// UP: return %[[A]], %[[S]]
func.func @operands(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<1x8xf32>, tensor<8xf32>) {
  %c = "ttir.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  %0 = "ttir.add"(%x, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 8 : i32]}> : (tensor<2x4xf32>) -> tensor<1x8xf32>
  %2 = "ttir.multiply"(%x, %y) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "ttir.reshape"(%2) <{shape = [8 : i32]}> : (tensor<2x4xf32>) -> tensor<8xf32>
  return %1, %3 : tensor<1x8xf32>, tensor<8xf32>
}
