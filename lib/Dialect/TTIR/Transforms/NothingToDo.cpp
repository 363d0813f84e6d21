//===- NothingToDo.cpp - passes that leave programs as they are ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRCONSOLIDATESTATICCACHEUPDATES
#define GEN_PASS_DEF_TTIRMULTIDEVICETENSORANNOTATION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir::tt;

#define TTIR_NOTHING_TO_DO(name)                                                                                       \
  struct name : ttir::impl::name##Base<name> {                                                                         \
    void runOnOperation() override { markAllAnalysesPreserved(); }                                                     \
  }

namespace {
TTIR_NOTHING_TO_DO(TTIRConsolidateStaticCacheUpdates);
TTIR_NOTHING_TO_DO(TTIRMultiDeviceTensorAnnotation);
} // namespace

#undef TTIR_NOTHING_TO_DO
