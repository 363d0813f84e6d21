// RUN: ttmlir-opt %s --define-host-arithmetic | FileCheck %s

// CHECK-LABEL: @signed
// CHECK: %[[Z:.*]] = arith.cmpi eq, %[[Y:.*]], %{{.*}}
// CHECK: %[[M:.*]] = arith.cmpi eq, %[[Y]], %{{.*}}
// CHECK: %[[R:.*]] = arith.ori %[[Z]], %[[M]]
// CHECK: %[[D:.*]] = arith.select %[[R]], %{{.*}}, %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X:.*]], %[[D]]
// CHECK: %[[N:.*]] = arith.subi %{{.*}}, %[[X]]
// CHECK: %[[P:.*]] = arith.select %[[M]], %[[N]], %[[Q]]
// CHECK: %[[S:.*]] = arith.select %[[Z]], %{{.*}}, %[[P]]
// CHECK: return %[[S]]
func.func @signed(%x: i32, %y: i32) -> i32 {
  %0 = arith.divsi %x, %y : i32
  return %0 : i32
}

// CHECK-LABEL: @known
// CHECK-NOT: arith.select
// CHECK: return
func.func @known(%x: i32) -> i32 {
  %c = arith.constant 3 : i32
  %0 = arith.remsi %x, %c : i32
  return %0 : i32
}

// CHECK-LABEL: @places
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[LOW:.*]] = arith.maxsi %[[I:.*]], %[[ZERO]]
// CHECK: %[[LAST:.*]] = arith.constant 3 : index
// CHECK: %[[AT:.*]] = arith.minsi %[[LOW]], %[[LAST]]
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[AT]]]
func.func @places(%x: tensor<3x4xf32>, %i: index) -> f32 {
  %c2 = arith.constant 2 : index
  %0 = tensor.extract %x[%c2, %i] : tensor<3x4xf32>
  return %0 : f32
}

// CHECK-LABEL: @slices
// CHECK: %[[LAST:.*]] = arith.constant 2 : index
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[AT]]] [3, 2] [1, 1]
func.func @slices(%x: tensor<3x4xf32>, %i: index) -> tensor<3x2xf32> {
  %0 = tensor.extract_slice %x[0, %i] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// No place can be read.
// CHECK-LABEL: @nothing
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: return %[[ZERO]]
func.func @nothing(%x: tensor<0xf32>, %i: index) -> f32 {
  %0 = tensor.extract %x[%i] : tensor<0xf32>
  return %0 : f32
}

// Of zeros, MLIR's own expansion gives one of the operands.
// CHECK-LABEL: @extremes
// CHECK-NOT: {{maximumf|minimumf|clampf}}
// CHECK: %[[X:.*]] = arith.negf %arg0
// CHECK: %[[Y:.*]] = arith.negf %arg1
// CHECK: arith.cmpf olt, %[[X]], %[[Y]]
// CHECK: arith.cmpf olt, %[[Y]], %[[X]]
// CHECK: %[[BITS:.*]] = arith.ori
// CHECK: %[[LEAST:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: arith.negf %[[LEAST]]
// CHECK: arith.extf %arg2 : bf16 to f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: return
func.func @extremes(%x: f32, %y: f32, %z: bf16) -> (f32, bf16, f32) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %z, %z : bf16
  %2 = math.clampf %x to [%y, %x] : f32
  return %0, %1, %2 : f32, bf16, f32
}
