//===- AbsentOptions.cpp - options accepted for compatibility only --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Pipelines/AbsentOptions.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
struct Row {
  StringLiteral name;
  /// The value that applies here, or several that change nothing, "A or B"; empty if there is none.
  StringLiteral accepted;
  StringLiteral reason;
};
} // namespace

static constexpr StringLiteral either = "true or false";

static constexpr StringLiteral noWorkarounds = "the simulated library needs no workarounds";

static constexpr Row rows[] = {
    {"use-mock-allocator-state", "true", "the optimizer places tensors on an empty chip"},
    {"row-major-enabled", "false", "tensors of the device are tiles where an op computes"},
    {"enable-compile-time-stats", "false", "--mlir-timing reports what each pass takes"},
    {"override-conv3d-config", "", "a convolution has its own conv3d_config"},
    {"disable-workarounds", either, noWorkarounds},
    {"enable-layout-workaround-pass", either, noWorkarounds},
    {"enable-decomposition-workaround-pass", either, noWorkarounds},
    {"enable-ttnn-decomposition-pass", either, "the simulated library has every op of TTNN"},
    {"composite-resolution", "auto or inline or validate or force-promote",
     "composites of StableHLO are lowered or decomposed before"},
    {"enable-dram-space-saving-optimization-pass", either, "tensors are freed after their last use in any case"},
};

static const Row &rowOf(const llvm::cl::Option &option) {
  return *llvm::find_if(rows, [&](const Row &each) { return each.name == option.ArgStr; });
}

bool AbsentOptionParser::parse(llvm::cl::Option &option, StringRef, StringRef value, std::string &out) {
  const std::string given = value.empty() ? "true" : value.lower();
  const Row &row = rowOf(option);
  if (std::optional<std::string> found = values(option).canonical(given)) {
    out = *found;
    return false;
  }
  std::string message = "'" + given + "' is not possible: " + row.reason.str();
  if (!row.accepted.empty())
    message += "; expected " + row.accepted.str() + ", or nothing";
  return option.error(message);
}

ttcore::OptionValues AbsentOptionParser::values(const llvm::cl::Option &option) {
  const Row &row = rowOf(option);
  SmallVector<StringRef> accepted;
  row.accepted.split(accepted, " or ", /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::vector<ttcore::OptionValues::Choice> choices;
  for (StringRef each : accepted)
    choices.push_back({each.str(), ""});
  return ttcore::OptionValues::choice(std::move(choices), row.reason);
}

AbsentOptions::AbsentOptions(ttcore::DescribedOptions &owner) {
  for (const Row &row : rows) {
    descriptions.push_back(
        std::make_unique<std::string>((row.accepted.empty()            ? std::string("Not here")
                                       : row.accepted.contains(" or ") ? std::string("Changes nothing")
                                                                       : "Only " + row.accepted.str()) +
                                      ": " + row.reason.str()));
    options.push_back(
        std::make_unique<Option>(owner, row.name, llvm::cl::desc(*descriptions.back()), llvm::cl::ValueOptional,
                                 llvm::cl::init(row.accepted.contains(" or ") ? std::string() : row.accepted.str())));
  }
}
