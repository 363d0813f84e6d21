//===- Passes.td - passes between StableHLO and VHLO -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VhloLegalizeToStablehlo : Pass<"vhlo-legalize-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Convert VHLO of the current version to StableHLO";
  let description = [{
    Functions, calls and returns become those of the func dialect; values that StableHLO takes for granted are removed.

    Before: `%1 = "vhlo.exponential_v2"(%0) <{result_accuracy = ...}> : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> ...`
    After: `%1 = stablehlo.exponential %0 : tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::quant::QuantDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def StablehloLegalizeToVhlo : Pass<"stablehlo-legalize-to-vhlo", "::mlir::ModuleOp"> {
  let summary = "Convert StableHLO to VHLO of the current version";
  let description = [{
    The inverse of vhlo-legalize-to-stablehlo. Ops of other dialects stay as they are, between casts, if they are allowed.
  }];
  let options = [Option<"allowOtherDialects", "allow-other-dialects", "bool", "false",
                        "Leave ops, attributes and types of other dialects as they are">];
  let dependentDialects = ["::mlir::vhlo::VhloDialect"];
}

def VhloToVersion : Pass<"vhlo-to-version", "::mlir::ModuleOp"> {
  let summary = "Convert VHLO to a version";
  let description = [{
    Ops that a version has not are replaced by those of another version that say the same; an op, attribute or type that
    cannot be said in the target version is an error.
  }];
  let options = [Option<"target", "target", "std::string", "", "MAJOR.MINOR.PATCH, from 0.9.0">];
  let dependentDialects = ["::mlir::vhlo::VhloDialect"];
}

#endif // TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_TD
