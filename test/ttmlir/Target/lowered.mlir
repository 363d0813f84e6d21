// Modules that are not there yet: the op, what it is of, and the pipeline to run first.
// RUN: split-file %s %t
// RUN: not ttmlir-translate %t/ttir.mlir --mlir-to-cpp 2>&1 | FileCheck %s --check-prefix=TTIR-CPP
// RUN: not ttmlir-translate %t/ttir.mlir --mlir-to-python 2>&1 | FileCheck %s --check-prefix=TTIR-PY
// RUN: not ttmlir-translate %t/ttir.mlir --ttnn-to-flatbuffer 2>&1 | FileCheck %s --check-prefix=TTIR-FB
// RUN: not ttmlir-translate %t/stablehlo.mlir --mlir-to-cpp 2>&1 | FileCheck %s --check-prefix=HLO-CPP
// RUN: not ttmlir-translate %t/stablehlo.mlir --mlir-to-python 2>&1 | FileCheck %s --check-prefix=HLO-PY
// RUN: not ttmlir-translate %t/stablehlo.mlir --ttnn-to-flatbuffer 2>&1 | FileCheck %s --check-prefix=HLO-FB
// RUN: not ttmlir-translate %t/ttnn.mlir --mlir-to-cpp 2>&1 | FileCheck %s --check-prefix=TTNN-CPP
// RUN: not ttmlir-translate %t/ttnn.mlir --mlir-to-python 2>&1 | FileCheck %s --check-prefix=TTNN-PY
// RUN: not ttmlir-translate %t/emitpy.mlir --mlir-to-cpp 2>&1 | FileCheck %s --check-prefix=PY-CPP
// RUN: not ttmlir-translate %t/emitpy.mlir --ttnn-to-flatbuffer 2>&1 | FileCheck %s --check-prefix=PY-FB
// RUN: not ttmlir-translate %t/emitc.mlir --mlir-to-python 2>&1 | FileCheck %s --check-prefix=CPP-PY
// RUN: not ttmlir-opt %t/ttir.mlir --ttnn-common-to-emitc-pipeline 2>&1 | FileCheck %s --check-prefix=TTIR-CPP
// RUN: not ttmlir-opt %t/stablehlo.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=HLO-TTNN
// RUN: not ttmlir-opt %t/stablehlo.mlir --ttir-to-ttmetal-pipeline 2>&1 | FileCheck %s --check-prefix=HLO-TTMETAL
// RUN: not ttmlir-opt %t/chlo.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=CHLO-TTNN
// RUN: not ttmlir-opt %t/chlo.mlir --ttnn-common-to-emitpy-pipeline 2>&1 | FileCheck %s --check-prefix=CHLO-PY
// RUN: not ttmlir-opt %t/tosa.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=TOSA-TTNN
// RUN: not ttmlir-opt %t/tosa.mlir --ttir-to-ttmetal-pipeline 2>&1 | FileCheck %s --check-prefix=TOSA-TTMETAL
// RUN: not ttmlir-translate %t/tosa.mlir --ttnn-to-flatbuffer 2>&1 | FileCheck %s --check-prefix=TOSA-FB

// TTIR-CPP: ttir.mlir:2:8: error: 'ttir.exp' is TTIR, which cannot be written as C++; run ttir-to-emitc-pipeline first
// An error shows its line, and not the module around it.
// TTIR-CPP-NOT: see current operation
// TTIR-PY: ttir.mlir:2:8: error: 'ttir.exp' is TTIR, which cannot be written as Python; run ttir-to-emitpy-pipeline first
// TTIR-FB: ttir.mlir:2:8: error: 'ttir.exp' is TTIR, which cannot be written as a flatbuffer; run ttir-to-ttnn-backend-pipeline first
// HLO-CPP: error: 'stablehlo.exponential' is StableHLO, which cannot be written as C++; run stablehlo-to-ttir-pipeline and ttir-to-emitc-pipeline first
// HLO-PY: error: 'stablehlo.exponential' is StableHLO, which cannot be written as Python; run stablehlo-to-ttir-pipeline and ttir-to-emitpy-pipeline first
// HLO-FB: error: 'stablehlo.exponential' is StableHLO, which cannot be written as a flatbuffer; run stablehlo-to-ttir-pipeline and ttir-to-ttnn-backend-pipeline first
// HLO-TTNN: error: 'stablehlo.exponential' is not lowered to TTNN: ops of dialect 'stablehlo' are not TTIR; run stablehlo-to-ttir-pipeline first
// HLO-TTMETAL: error: 'stablehlo.exponential' is not lowered to D2M; run stablehlo-to-ttir-pipeline first
// CHLO-TTNN: error: 'chlo.erf' is not lowered to TTNN: ops of dialect 'chlo' are not TTIR; run stablehlo-to-ttir-pipeline first
// CHLO-PY: error: 'chlo.erf' is CHLO, which cannot be written as Python; run stablehlo-to-ttir-pipeline and ttir-to-emitpy-pipeline first
// TOSA-TTNN: error: 'tosa.tanh' is not lowered to TTNN: ops of dialect 'tosa' are not TTIR; run convert-tosa-to-ttir first
// TOSA-TTMETAL: error: 'tosa.tanh' is not lowered to D2M; run convert-tosa-to-ttir first
// TOSA-FB: error: 'tosa.tanh' is TOSA, which cannot be written as a flatbuffer; run convert-tosa-to-ttir and ttir-to-ttnn-backend-pipeline first
// TTNN-CPP: error: 'ttnn.get_device' is TTNN, which is not C++ yet; run ttnn-common-to-emitc-pipeline first
// TTNN-PY: error: 'ttnn.get_device' is TTNN, which is not Python yet; run ttnn-common-to-emitpy-pipeline first
// PY-CPP: error: 'emitpy.import' is of a program in Python, for --mlir-to-python; it cannot become C++
// PY-FB: error: 'emitpy.import' is of a program in Python, for --mlir-to-python; it cannot become a flatbuffer
// CPP-PY: error: 'emitc.include' is of a program in C++, for --mlir-to-cpp; it cannot become Python

//--- ttir.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- chlo.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- tosa.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- stablehlo.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- ttnn.mlir
func.func @f() {
  %0 = "ttnn.get_device"() : () -> !ttnn.device
  return
}

//--- emitpy.mlir
emitpy.import "ttnn"

//--- emitc.mlir
emitc.include <"ttnn/ttnn.hpp">
