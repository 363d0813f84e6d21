// RUN: ttmlir-opt %s --stablehlo-convert-to-signless | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<4xi8>, %arg1: tensor<4xi32>) -> (tensor<4xi8>, tensor<2xi16>, tensor<4xi32>)
// CHECK: stablehlo.constant dense<-1> : tensor<4xi8>
// CHECK: stablehlo.constant dense<[1, -1]> : tensor<2xi16>
// CHECK: stablehlo.add %arg0, %{{.*}} : tensor<4xi8>
// CHECK: call @callee(%{{.*}}) : (tensor<4xi8>) -> tensor<4xi8>
func.func @main(%a: tensor<4xui8>, %b: tensor<4xi32>) -> (tensor<4xui8>, tensor<2xui16>, tensor<4xi32>) {
  %0 = stablehlo.constant dense<255> : tensor<4xui8>
  %1 = stablehlo.constant dense<[1, 65535]> : tensor<2xui16>
  %2 = stablehlo.add %a, %0 : tensor<4xui8>
  %3 = call @callee(%2) : (tensor<4xui8>) -> tensor<4xui8>
  return %3, %1, %b : tensor<4xui8>, tensor<2xui16>, tensor<4xi32>
}
// CHECK: func.func private @callee(%arg0: tensor<4xi8>) -> tensor<4xi8>
func.func private @callee(%a: tensor<4xui8>) -> tensor<4xui8> {
  return %a : tensor<4xui8>
}
