//===- CustomCalls.h - ops of TTIR that front ends call by name -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_CALLS_CUSTOMCALLS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_CALLS_CUSTOMCALLS_H

#include "../Expand/Expressions.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::tt::hlo {

/// Creates several ops from operands and attributes by name. Returns null, and the reason, if they do not fit.
using MakeCall = Value (*)(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands,
                           const NamedAttrList &attributes, RankedTensorType type, std::string &problem);

// See custom calls tt.flash_mla_prefill, tt.indexer_score_dsa and tt.all_to_all_combine.
std::remove_pointer_t<MakeCall> makeFlashPrefill, makeIndexerScore, makeCombine;

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_CALLS_CUSTOMCALLS_H
