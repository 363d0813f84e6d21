//===- AbsentOptions.h - options accepted for compatibility only -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The guide's pipelines have options for kernels in programs, for workarounds and for other parts that this project
// lacks. These options are known: a value that disables the part is accepted, and any other value is refused with the
// reason.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTNN_PIPELINES_ABSENTOPTIONS_H
#define TTMLIR_DIALECT_TTNN_PIPELINES_ABSENTOPTIONS_H

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

#include <memory>
#include <vector>

namespace mlir::tt::ttnn {

/// Accepts the one value that disables a part, by the name of the option.
struct AbsentOptionParser : llvm::cl::parser<std::string> {
  using parser::parser;
  /// Returns true after an error, which is reported.
  bool parse(llvm::cl::Option &option, StringRef name, StringRef value, std::string &out);
  static ttcore::OptionValues values(const llvm::cl::Option &option);
};

/// Adds them to a pipeline.
class AbsentOptions {
public:
  explicit AbsentOptions(ttcore::DescribedOptions &owner);

private:
  using Option = ttcore::DescribedOptions::Option<std::string, AbsentOptionParser>;
  std::vector<std::unique_ptr<Option>> options;
  std::vector<std::unique_ptr<std::string>> descriptions;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_PIPELINES_ABSENTOPTIONS_H
