//===- Conversion.h - running the patterns of a conversion ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_CONVERSION_H
#define TTMLIR_LIB_CONVERSION_CONVERSION_H

#include "mlir/Transforms/DialectConversion.h"

#include <string>

namespace mlir::tt {

/// The reasons why patterns refused the ops that a conversion left.
using Refusals = DenseMap<Operation *, std::string>;

/// The label of a pattern for an op that is never lowered, for `loweringOf`.
inline constexpr StringLiteral neverMatches = "never matches";

/// Records why an op is not lowered. The rewriter's own function of this name discards the reason in release builds of
/// MLIR.
template <class Reason>
LogicalResult notifyMatchFailure(ConversionPatternRewriter &rewriter, Operation *op, Reason &&reason) {
  if (RewriterBase::Listener *listener = rewriter.getConfig().listener)
    listener->notifyMatchFailure(op->getLoc(), [&](Diagnostic &diagnostic) {
      if constexpr (std::is_convertible_v<Reason, Twine>)
        diagnostic << Twine(reason);
      else
        reason(diagnostic);
    });
  return failure();
}

/// Refuses every op of one name.
class NoLowering : public ConversionPattern {
public:
  NoLowering(MLIRContext *context, StringRef op, std::string reason)
      : ConversionPattern(op, /*benefit=*/1, context), reason(std::move(reason)) {
    addDebugLabels(neverMatches);
  }
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>, ConversionPatternRewriter &rewriter) const override {
    return notifyMatchFailure(rewriter, op, reason);
  }

private:
  std::string reason;
};

/// Applies the patterns to the ops below `root` that are not legal, and reports why the remaining ones were refused.
///
/// No op is marked illegal, because the driver stops at the first such op that no pattern takes, and every one is to be
/// reported; nothing is folded on the way.
///
/// Patterns check before they create: nothing is rolled back, which would cost half of the driver's time. Replacing an
/// op by one takes it 0.75 us (1.4 us and more with rollback, 0.2 us in a bare walk; MLIR 22.1, chains of 600 to 24,000
/// ops, CPU time), of about 20 us that the whole compilation of an op takes.
///
/// `rollback`: a pattern whose ops are not lowered is undone. If ops are lowered to ops that the same patterns lower, a
/// pattern cannot check everything that it will create.
///
/// `inherited`: attributes of another dialect that an op inherits from the op that it replaces.
inline Refusals convertAll(Operation *root, const ConversionTarget &target, const FrozenRewritePatternSet &patterns,
                           ArrayRef<StringLiteral> inherited = {}, bool rollback = false) {
  struct Listener : RewriterBase::Listener {
    explicit Listener(ArrayRef<StringLiteral> inherited) : inherited(inherited) {}
    void notifyPatternBegin(const Pattern &, Operation *op) override {
      current = op;
      annotations.clear();
      for (StringRef name : inherited)
        if (Attribute annotation = op->getDiscardableAttr(name))
          annotations.emplace_back(name, annotation);
    }
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
      for (auto [name, annotation] : annotations)
        if (!op->getDiscardableAttr(name))
          op->setDiscardableAttr(name, annotation);
    }
    void notifyMatchFailure(Location, function_ref<void(Diagnostic &)> reason) override {
      Diagnostic diagnostic(current->getLoc(), DiagnosticSeverity::Remark);
      reason(diagnostic);
      refusals[current] = diagnostic.str();
    }
    ArrayRef<StringLiteral> inherited;
    Operation *current = nullptr;
    SmallVector<std::pair<StringRef, Attribute>, 2> annotations;
    Refusals refusals;
  } listener(inherited);
  ConversionConfig config;
  config.listener = &listener;
  config.allowPatternRollback = rollback;
  config.buildMaterializations = false;
  config.foldingMode = DialectConversionFoldingMode::Never;
  // Only an op that is marked illegal makes it fail.
  (void)applyPartialConversion(root, target, patterns, config);
  return std::move(listener.refusals);
}

/// The op that the patterns produce for the op of this name, "rule" if that depends on the op, "" for an op that is not
/// lowered, and nothing if no pattern handles this op. A pattern states this by the ops that it generates, or by a
/// label.
inline std::optional<std::string> loweringOf(StringRef op, RewritePatternSet &patterns) {
  for (std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns()) {
    if (!pattern->getRootKind() || pattern->getRootKind()->getStringRef() != op)
      continue;
    if (!pattern->getDebugLabels().empty()) {
      StringRef label = pattern->getDebugLabels().front();
      return label == neverMatches ? "" : label.str();
    }
    ArrayRef<OperationName> made = pattern->getGeneratedOps();
    return made.size() == 1 ? made.front().getStringRef().str() : "rule";
  }
  return std::nullopt;
}

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_CONVERSION_H
