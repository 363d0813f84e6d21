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

// RUN: not ttmlir-opt-without-optional %t/tagged.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=TAGGED
// RUN: not ttmlir-opt-without-optional %t/ttir.mlir --ttir-to-ttnn-backend-pipeline=cpu-fallback 2>&1 | FileCheck %s --check-prefix=FALLBACK
// RUN: not ttmlir-opt-without-optional %t/ttir.mlir --ttir-to-ttnn-backend-pipeline=enable-cpu-hoisted-const-eval 2>&1 | FileCheck %s --check-prefix=CONSTEVAL
// RUN: not ttmlir-opt-without-optional %t/arith.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=ARITH
// RUN: ttmlir-opt-without-optional %t/tensor.mlir | FileCheck %s --check-prefix=TENSOR
// RUN: not ttmlir-opt-without-optional %t/sdy.mlir 2>&1 | FileCheck %s --check-prefix=SDY
// RUN: not ttmlir-opt-without-optional %t/linalg.mlir 2>&1 | FileCheck %s --check-prefix=LINALG
// RUN: ttmlir-dialects-without-optional | FileCheck %s --check-prefix=DIALECTS
// RUN: not ttmlir-translate-without-optional %t/native.mlir --ttnn-to-flatbuffer 2>&1 | FileCheck %s --check-prefix=NATIVE

// All of them in one context, as Python has them.
// DIALECTS-DAG: {{^}}cf{{$}}
// DIALECTS-DAG: {{^}}linalg{{$}}
// DIALECTS-DAG: {{^}}sdy{{$}}
// DIALECTS-DAG: {{^}}ttnn{{$}}

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

//--- tagged.mlir
func.func @hoisted(%a: tensor<4xf32>) -> tensor<4xf32> {
  // TAGGED: tagged.mlir:3:8: error: 'ttir.sigmoid' is marked ttir.should_hoist, and needs functions of the host, which this build is without; `make build` makes one with it
  %0 = "ttir.sigmoid"(%a) {ttir.should_hoist} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- arith.mlir
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  // ARITH: arith.mlir:3:8: error: 'arith.addf' is no op of the chip, and needs functions of the host, which this build is without
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- tensor.mlir
// TENSOR: tensor.empty
func.func @empty() -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- sdy.mlir
// SDY: sdy.mlir:2:{{[0-9]+}}: error: needs the dialect sdy, which this build is without
func.func @split(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) { return }

//--- linalg.mlir
func.func @fill(%a: f32, %b: tensor<4xf32>) -> tensor<4xf32> {
  // LINALG: linalg.mlir:3:8: error: custom op 'linalg.fill' needs the dialect linalg, which this build is without
  %0 = linalg.fill ins(%a : f32) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- native.mlir
// NATIVE: native.mlir:2:1: error: 'ttcore.cpu_module' needs functions of the host, which this build is without
ttcore.cpu_module {
  builtin.module {
    func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
  }
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- ttir.mlir
// FALLBACK: error: the option cpu-fallback needs functions of the host, which this build is without
// CONSTEVAL: error: the option enable-cpu-hoisted-const-eval needs functions of the host, which this build is without
// ARTIFACT: error: needs StableHLO, which this build is without
// TTNN: ttnn.add
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
