//===- Options.h - values of options of passes and pipelines ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIONS_H
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIONS_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "llvm/Support/CommandLine.h"

namespace mlir::tt::ttnn {

/// A switch that can also be left to each op.
enum class OptionalSwitch { Off, On, Undefined };

/// 1 or more.
struct Count {
  Count(int64_t value = 1) : value(value) {}
  operator int64_t() const { return value; }
  int64_t value;
};

/// Above 0 and at most 1.
struct Share {
  Share(float value = 1) : value(value) {}
  operator float() const { return value; }
  float value;
};

/// The data type of `format`, which is not None.
inline ttcore::DataType toDataType(BFPDtype format) {
  return format == BFPDtype::BFP_BFloat8 ? ttcore::DataType::BFP_BFloat8 : ttcore::DataType::BFP_BFloat4;
}

} // namespace mlir::tt::ttnn

/// Parses counts wherever they are an option.
template <> class llvm::cl::parser<mlir::tt::ttnn::Count> : public basic_parser<mlir::tt::ttnn::Count> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef, StringRef text, mlir::tt::ttnn::Count &out) {
    if (!text.getAsInteger(10, out.value) && out.value >= 1)
      return false;
    return option.error("'" + text + "' is no count; expected 1 or more");
  }
  StringRef getValueName() const override { return "count"; }
  void printOptionDiff(const Option &option, const mlir::tt::ttnn::Count &, OptVal, size_t width) const {
    printOptionNoValue(option, width);
  }
};
template <> class llvm::cl::parser<mlir::tt::ttnn::Share> : public basic_parser<mlir::tt::ttnn::Share> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef, StringRef text, mlir::tt::ttnn::Share &out) {
    double number;
    if (text.getAsDouble(number) || !(number > 0 && number <= 1))
      return option.error("'" + text + "' is no share; expected a number above 0, and 1 at most");
    out.value = static_cast<float>(number);
    return false;
  }
  StringRef getValueName() const override { return "share"; }
  void printOptionDiff(const Option &option, const mlir::tt::ttnn::Share &, OptVal, size_t width) const {
    printOptionNoValue(option, width);
  }
};

/// Values of the switches on a command line.
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
