// A build without optional parts says how to have them, and knows all the rest.
// RUN: split-file %s %t
// RUN: not ttmlir-opt-without-optional %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not ttmlir-opt-without-optional %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ttmlir-opt-without-optional %t/attribute.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: not ttmlir-opt-without-optional %t/metal.mlir 2>&1 | FileCheck %s --check-prefix=METAL
// RUN: ttmlir-opt %t/op.mlir --emit-portable-artifact -o %t/op.mlirbc
// RUN: not ttmlir-opt-without-optional %t/op.mlirbc 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: not ttmlir-opt-without-optional %t/ttir.mlir --emit-portable-artifact 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: ttmlir-opt-without-optional %t/ttir.mlir --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=TTNN

//--- op.mlir
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  // OP: op.mlir:3:8: error: custom op 'stablehlo.add' needs the dialect stablehlo, which this build is without; `make build` makes one with it
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- type.mlir
// TYPE: type.mlir:2:{{[0-9]+}}: error: needs the dialect stablehlo, which this build is without
func.func @token(%a: !stablehlo.token) { return }

//--- attribute.mlir
// ATTRIBUTE: attribute.mlir:2:{{[0-9]+}}: error: needs the dialect stablehlo, which this build is without
func.func @bounds(%a: tensor<?xf32, #stablehlo.bounds<3>>) { return }

//--- metal.mlir
func.func @kernel() {
  // METAL: metal.mlir:3:3: error: custom op 'ttkernel.tile_regs_acquire' needs the dialect ttkernel, which this build is without
  ttkernel.tile_regs_acquire
  return
}

//--- ttir.mlir
// ARTIFACT: error: needs StableHLO, which this build is without
// TTNN: ttnn.add
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
