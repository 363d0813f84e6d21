//===- WideRanges.h - ranges of 64-bit integers -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WIDERANGES_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WIDERANGES_H

#include "../Patterns.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/ConstantRange.h"

namespace mlir::tt::hlo {

/// The elements of a tensor of 64-bit integers; null for other types.
IntegerType wideElements(Type type);

inline bool isWide(Value value) { return static_cast<bool>(wideElements(value.getType())); }
inline bool isUnsigned(Value value) { return wideElements(value.getType()).isUnsigned(); }

/// Returns the number of operands that are not indices.
unsigned dataOperands(Operation *op);

/// Returns what a value repeats, or the value.
Value spreadOf(Value value);

/// The number by which all elements are shifted, if it is known.
std::optional<int> knownShift(Value value);

/// The values that 64-bit integers may have. What ops other than those of the pairs compute has 32 bits, and so have
/// sums and products with an integer of which only that is known: those wrap around, as in programs without pairs.
class WideRanges {
public:
  explicit WideRanges(const llvm::SetVector<Operation *> &pairs) : pairs(pairs) {}

  /// Returns whether the lower word holds every value that an integer may have.
  bool fitsWord(Value value) { return fitsWord(of(value, 0), isUnsigned(value)); }

private:
  static constexpr unsigned bits = 64;
  static constexpr int deepest = 1000;

  static bool fitsWord(const llvm::ConstantRange &range, bool isUnsigned) {
    return isUnsigned ? range.getUnsignedMax().getActiveBits() <= 32
                      : range.getSignedMin().isSignedIntN(32) && range.getSignedMax().isSignedIntN(32);
  }

  llvm::ConstantRange of(Value value, int depth) {
    if (auto known = ranges.find(value); known != ranges.end())
      return known->second;
    llvm::ConstantRange range = depth == deepest ? llvm::ConstantRange::getFull(bits) : computed(value, depth);
    ranges.insert({value, range});
    return range;
  }
  llvm::ConstantRange computed(Value value, int depth);

  const llvm::SetVector<Operation *> &pairs;
  llvm::DenseMap<Value, llvm::ConstantRange> ranges;
};

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WIDERANGES_H
