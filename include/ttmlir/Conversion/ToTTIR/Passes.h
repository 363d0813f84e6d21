//===- Passes.h - conversions of other dialects to TTIR ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TOTTIR_PASSES_H
#define TTMLIR_CONVERSION_TOTTIR_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/ToTTIR/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/ToTTIR/Passes.h.inc"

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TOTTIR_PASSES_H
