//===- Lowered.cpp - partially lowered modules ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/Lowered.h"

#include "ttmlir/Dialect/TTCore/Transforms/Frontends.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::tt;

namespace {
struct Way {
  StringLiteral name, fromTTIR, fromTTNN;
};
/// Stages of a module, in order.
enum class Stage { Frontend, TTIR, TTNN, Text };
} // namespace

static const Way &wayOf(Written written) {
  static constexpr Way ways[] = {
      {"a flatbuffer", "ttir-to-ttnn-backend-pipeline", ""},
      {"C++", "ttir-to-emitc-pipeline", "ttnn-common-to-emitc-pipeline"},
      {"Python", "ttir-to-emitpy-pipeline", "ttnn-common-to-emitpy-pipeline"},
  };
  return ways[static_cast<size_t>(written)];
}

/// The stage of ops that must not be written; none for ops that may be, or that others handle.
static std::optional<Stage> stageOf(Operation *op, Written written, bool stillTTNN) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (ttcore::frontendOf(dialect))
    return Stage::Frontend;
  if (dialect == "ttir")
    return Stage::TTIR;
  if (written != Written::Flatbuffer && !stillTTNN && (dialect == "ttnn" || dialect == "ttcore" || dialect == "debug"))
    return Stage::TTNN;
  if ((dialect == "emitc" && (written != Written::Cpp || stillTTNN)) ||
      (dialect == "emitpy" && (written != Written::Python || stillTTNN)))
    return Stage::Text;
  return std::nullopt;
}

LogicalResult tt::checkLowered(Operation *module, Written written, bool stillTTNN) {
  // The op that has the longest way to go.
  Operation *worst = nullptr;
  Stage stage = Stage::Text;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<Stage> found = stageOf(op, written, stillTTNN);
    if (found && (!worst || *found < stage)) {
      worst = op;
      stage = *found;
    }
  });
  if (!worst)
    return success();
  const Way &way = wayOf(written);
  StringRef name = worst->getName().getStringRef(), dialect = worst->getName().getDialectNamespace();
  switch (stage) {
  case Stage::Frontend: {
    const ttcore::Frontend &frontend = *ttcore::frontendOf(dialect);
    return worst->emitError() << "'" << name << "' is " << frontend.name << ", which cannot be written as " << way.name
                              << "; run " << frontend.pass << " and " << way.fromTTIR << " first";
  }
  case Stage::TTIR:
    return worst->emitError() << "'" << name << "' is TTIR, which cannot be written as " << way.name << "; run "
                              << way.fromTTIR << " first";
  case Stage::TTNN:
    return worst->emitError() << "'" << name << "' is TTNN, which is not " << way.name << " yet; run " << way.fromTTNN
                              << " first";
  case Stage::Text:
    break;
  }
  return worst->emitError() << "'" << name << "' is of a program in "
                            << (dialect == "emitc" ? "C++, for --mlir-to-cpp" : "Python, for --mlir-to-python")
                            << "; it cannot become " << way.name;
}

void tt::keepDiagnosticsShort(Operation *module) { module->getContext()->printOpOnDiagnostic(false); }
