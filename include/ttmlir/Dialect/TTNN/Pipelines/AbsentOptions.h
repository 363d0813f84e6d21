//===- AbsentOptions.h - options accepted for compatibility only -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The guide's pipelines have options of kernels in programs, of workarounds and of more that
// this project has no part for. They are known, so that what is said to do
// without the part is accepted, and everything else is refused with the reason.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTNN_PIPELINES_ABSENTOPTIONS_H
#define TTMLIR_DIALECT_TTNN_PIPELINES_ABSENTOPTIONS_H

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

#include <memory>
#include <vector>

namespace mlir::tt::ttnn {

/// Takes the one value that says to do without, by the name of the option.
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
