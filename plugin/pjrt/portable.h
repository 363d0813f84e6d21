//===- portable.h - modules as JAX sends them ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir-c/IR.h"

#include <string_view>

namespace tt::pjrt {

/// A module of text, of MLIR's bytecode, or of a portable artefact of StableHLO; null when it does not parse, with
/// diagnostics on the context.
MlirModule parseModule(MlirContext context, std::string_view code);

} // namespace tt::pjrt
