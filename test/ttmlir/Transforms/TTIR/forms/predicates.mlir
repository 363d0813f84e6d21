// RUN: ttmlir-opt %s --ttir-predicate-type-alignment | FileCheck %s
// RUN: ttmlir-opt %s --ttir-predicate-type-alignment --ttir-predicate-type-alignment | FileCheck %s
// RUN: ttmlir-opt %s --ttir-predicate-type-alignment --ttir-to-ttnn-backend-pipeline -o /dev/null

// CHECK-LABEL: func.func @selection
// CHECK-NEXT: %[[L:.*]] = "ttir.lt"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: "ttir.where"(%[[L]], %arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @selection(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.lt"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = "ttir.where"(%0, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @logic
// CHECK: %[[A:.*]] = "ttir.eq"{{.*}} -> tensor<4xbf16>
// CHECK: %[[B:.*]] = "ttir.ge"{{.*}} -> tensor<4xbf16>
// CHECK: %[[C:.*]] = "ttir.logical_and"(%[[A]], %[[B]]) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
// CHECK-NEXT: %[[D:.*]] = "ttir.typecast"(%[[C]]) {{.*}} : (tensor<4xbf16>) -> tensor<4xi1>
// CHECK-NEXT: return %[[D]]
func.func @logic(%a: tensor<4xbf16>, %b: tensor<4xbf16>) -> tensor<4xi1> {
  %0 = "ttir.eq"(%a, %b) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %1 = "ttir.ge"(%a, %b) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %2 = "ttir.logical_and"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %2 : tensor<4xi1>
}

// Truth values of two types meet as i1; those of arguments are i1 in any case.
// CHECK-LABEL: func.func @mixed
// CHECK: "ttir.logical_or"(%{{.*}}, %{{.*}}) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK: "ttir.logical_not"(%arg2) : (tensor<4xi1>) -> tensor<4xi1>
func.func @mixed(%a: tensor<4xf32>, %b: tensor<4xbf16>, %c: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = "ttir.ne"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = "ttir.gt"(%b, %b) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %2 = "ttir.logical_or"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %3 = "ttir.logical_not"(%c) : (tensor<4xi1>) -> tensor<4xi1>
  return %2, %3 : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @as_it_is
// CHECK-NEXT: "ttir.le"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @as_it_is(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.le"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
