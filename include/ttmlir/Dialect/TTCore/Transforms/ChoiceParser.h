//===- ChoiceParser.h - options whose values are an enum --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An error of a pass or pipeline option lists the values that the option has; LLVM's own names the refused one alone.
// Files that define an option of an enum include this header: pipelines through PipelineOptions.h, passes themselves.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_CHOICEPARSER_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_CHOICEPARSER_H

#include "mlir/Pass/PassOptions.h"

/// The parser of enum options. MLIR's own passes are compiled with its primary template.
template <class Enum>
  requires std::is_enum_v<Enum>
struct mlir::detail::PassOptions::GenericOptionParser<Enum> : llvm::cl::parser<Enum> {
  using llvm::cl::parser<Enum>::parser;

  /// Returns the name of a value.
  std::optional<StringRef> findArgStrForValue(const Enum &value) {
    for (auto &each : this->Values)
      if (each.V.compare(value))
        return each.Name;
    return std::nullopt;
  }

  /// Returns true after an error, which is reported.
  bool parse(llvm::cl::Option &option, StringRef name, StringRef value, Enum &out) {
    const unsigned count = this->getNumOptions();
    if (this->findOption(value) != count)
      return llvm::cl::parser<Enum>::parse(option, name, value, out);
    std::string message = "'" + value.str() + "' is not possible; expected ";
    for (unsigned i = 0; i < count; ++i)
      message += (i == 0 ? "" : i + 1 == count ? " or " : ", ") + this->getOption(i).str();
    return option.error(message);
  }
};

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_CHOICEPARSER_H
