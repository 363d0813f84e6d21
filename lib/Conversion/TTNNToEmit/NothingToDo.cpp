//===- NothingToDo.cpp - passes whose work the conversion does ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"

namespace mlir::tt {
#define GEN_PASS_DEF_EMITPYADDIMPORTS
#define GEN_PASS_DEF_EMITPYCONSTEVALCACHING
#define GEN_PASS_DEF_EMITPYFORMEXPRESSIONS
#define GEN_PASS_DEF_EMITPYLINKMODULES
#define GEN_PASS_DEF_EMITPYNAMEVARS
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;

namespace {
struct AddImports : tt::impl::EmitPyAddImportsBase<AddImports> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
struct ConstEvalCaching : tt::impl::EmitPyConstEvalCachingBase<ConstEvalCaching> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
struct FormExpressions : tt::impl::EmitPyFormExpressionsBase<FormExpressions> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
struct LinkModules : tt::impl::EmitPyLinkModulesBase<LinkModules> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
struct NameVars : tt::impl::EmitPyNameVarsBase<NameVars> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
} // namespace
