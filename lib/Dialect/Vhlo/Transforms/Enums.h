//===- Enums.h - enums of both dialects -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_ENUMS_H
#define TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_ENUMS_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::vhlo {

/// An enum that both dialects have with the same numbers.
struct EnumRow {
  StringRef mnemonic;
  Attribute (*make)(MLIRContext *, uint64_t);
  std::optional<uint64_t> (*value)(Attribute);
};

template <class T, auto symbolize> constexpr EnumRow enumRow(StringRef mnemonic) {
  return {mnemonic,
          [](MLIRContext *context, uint64_t value) -> Attribute {
            auto symbol = symbolize(static_cast<uint32_t>(value));
            return symbol ? T::get(context, *symbol) : T();
          },
          [](Attribute attribute) -> std::optional<uint64_t> {
            auto typed = dyn_cast<T>(attribute);
            return typed ? std::optional(static_cast<uint64_t>(typed.getValue())) : std::nullopt;
          }};
}

inline constexpr EnumRow enumRows[] = {
    enumRow<stablehlo::ComparisonDirectionAttr,
            static_cast<std::optional<stablehlo::ComparisonDirection> (*)(uint32_t)>(
                stablehlo::symbolizeComparisonDirection)>("comparison_direction_v1"),
    enumRow<stablehlo::ComparisonTypeAttr, static_cast<std::optional<stablehlo::ComparisonType> (*)(uint32_t)>(
                                               stablehlo::symbolizeComparisonType)>("comparison_type_v1"),
    enumRow<stablehlo::FftTypeAttr,
            static_cast<std::optional<stablehlo::FftType> (*)(uint32_t)>(stablehlo::symbolizeFftType)>("fft_type_v1"),
    enumRow<stablehlo::PrecisionAttr, static_cast<std::optional<stablehlo::Precision> (*)(uint32_t)>(
                                          stablehlo::symbolizePrecision)>("precision_v1"),
    enumRow<stablehlo::RngAlgorithmAttr, static_cast<std::optional<stablehlo::RngAlgorithm> (*)(uint32_t)>(
                                             stablehlo::symbolizeRngAlgorithm)>("rng_algorithm_v1"),
    enumRow<stablehlo::RngDistributionAttr, static_cast<std::optional<stablehlo::RngDistribution> (*)(uint32_t)>(
                                                stablehlo::symbolizeRngDistribution)>("rng_distribution_v1"),
    enumRow<stablehlo::TransposeAttr, static_cast<std::optional<stablehlo::Transpose> (*)(uint32_t)>(
                                          stablehlo::symbolizeTranspose)>("transpose_v1"),
    enumRow<stablehlo::ResultAccuracyModeAttr, static_cast<std::optional<stablehlo::ResultAccuracyMode> (*)(uint32_t)>(
                                                   stablehlo::symbolizeResultAccuracyMode)>("result_accuracy_mode_v1"),
};

} // namespace mlir::vhlo

#endif // TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_ENUMS_H
