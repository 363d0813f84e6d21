//===- Options.h - tri-state pass options -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIONS_H
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIONS_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// A switch that can also be left as each op has it.
enum class OptionalSwitch { Off, On, Undefined };

/// The data type that `format`, which is not None, stands for.
inline ttcore::DataType toDataType(BFPDtype format) {
  return format == BFPDtype::BFP_BFloat8 ? ttcore::DataType::BFP_BFloat8 : ttcore::DataType::BFP_BFloat4;
}

} // namespace mlir::tt::ttnn

/// Their values on a command line.
#define TTNN_MATH_FIDELITY_VALUES                                                                                      \
  ::llvm::cl::values(clEnumValN(::mlir::tt::ttnn::OptionalMathFidelity::LoFi, "lofi", "One phase"),                    \
                     clEnumValN(::mlir::tt::ttnn::OptionalMathFidelity::HiFi2, "hifi2", "Two phases"),                 \
                     clEnumValN(::mlir::tt::ttnn::OptionalMathFidelity::HiFi3, "hifi3", "Three phases"),               \
                     clEnumValN(::mlir::tt::ttnn::OptionalMathFidelity::HiFi4, "hifi4", "Four phases"),                \
                     clEnumValN(::mlir::tt::ttnn::OptionalMathFidelity::Undefined, "undefined", "As the op has it"))
#define TTNN_SWITCH_VALUES                                                                                             \
  ::llvm::cl::values(clEnumValN(::mlir::tt::ttnn::OptionalSwitch::On, "true", "On"),                                   \
                     clEnumValN(::mlir::tt::ttnn::OptionalSwitch::Off, "false", "Off"),                                \
                     clEnumValN(::mlir::tt::ttnn::OptionalSwitch::Undefined, "undefined", "As the op has it"))
#define TTNN_BLOCK_FORMAT_VALUES                                                                                       \
  ::llvm::cl::values(clEnumValN(::mlir::tt::ttnn::BFPDtype::None, "none", "As they are"),                              \
                     clEnumValN(::mlir::tt::ttnn::BFPDtype::BFP_BFloat8, "bfp_bf8", "8 bits and a shared exponent"),   \
                     clEnumValN(::mlir::tt::ttnn::BFPDtype::BFP_BFloat4, "bfp_bf4", "4 bits and a shared exponent"))

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIONS_H
