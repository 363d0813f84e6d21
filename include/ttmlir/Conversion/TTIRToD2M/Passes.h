//===- Passes.h - lowering of TTIR to D2M -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTIRTOD2M_PASSES_H
#define TTMLIR_CONVERSION_TTIRTOD2M_PASSES_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/D2M/Transforms/Policies.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTIRTOD2M_PASSES_H
