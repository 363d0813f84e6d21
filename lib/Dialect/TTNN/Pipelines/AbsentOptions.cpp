//===- AbsentOptions.cpp - options accepted for compatibility only --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Pipelines/AbsentOptions.h"

using namespace mlir;
using namespace mlir::tt::ttnn;

namespace {
struct Row {
  StringLiteral name;
  /// The value that is true here, or several that change nothing, "A or B"; empty when none is.
  StringLiteral accepted;
  StringLiteral reason;
};
} // namespace

static constexpr StringLiteral either = "true or false";

static constexpr StringLiteral noWorkarounds = "the simulated library needs no workarounds";
static constexpr StringLiteral noD2M = "TTNN programs have no kernels of their own";

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
     "composites of StableHLO become ops, or what they are made of, before"},
    {"enable-dram-space-saving-optimization-pass", either, "tensors are freed after their last use in any case"},
    {"enable-create-d2m-subgraphs", "false", noD2M},
    {"enable-d2m-elementwise-fusion", "false", noD2M},
};

bool AbsentOptionParser::parse(llvm::cl::Option &option, StringRef, StringRef value, std::string &out) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.name == option.ArgStr; });
  std::string given = value.empty() ? "true" : value.lower();
  if (row->accepted == "true" || row->accepted == "false" || row->accepted == either)
    given = given == "1" ? "true" : given == "0" ? "false" : given;
  SmallVector<StringRef> accepted;
  row->accepted.split(accepted, " or ");
  if (!row->accepted.empty() && llvm::is_contained(accepted, given)) {
    out = given;
    return false;
  }
  std::string message = "'" + given + "' is not possible: " + row->reason.str();
  if (!row->accepted.empty())
    message += "; expected " + row->accepted.str() + ", or nothing";
  return option.error(message);
}

AbsentOptions::AbsentOptions(mlir::detail::PassOptions &owner) {
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
