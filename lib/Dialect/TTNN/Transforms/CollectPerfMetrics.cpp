//===- CollectPerfMetrics.cpp - figures of programs in a file ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Optimizer/LegalLayouts.h"
#include "Optimizer/OpCost.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNCOLLECTPERFMETRICS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// The counts of ops whose first result has a layout.
struct Figures {
  int64_t total = 0, dram = 0, l1 = 0, host = 0, sharded = 0;
  llvm::MapVector<StringRef, int64_t> ops;

  void count(Operation *op, TTNNLayoutAttr layout) {
    ++total;
    ++ops[op->getName().getStringRef()];
    if (layout.getBufferType() == BufferType::DRAM)
      ++dram;
    else if (layout.getBufferType() == BufferType::SystemMemory)
      ++host;
    else
      ++l1;
    if (layout.isSharded())
      ++sharded;
  }
};

struct CollectPerfMetrics : ttnn::impl::TTNNCollectPerfMetricsBase<CollectPerfMetrics> {
  using Base::Base;

  void runOnOperation() override {
    Figures figures;
    auto system = getOperation()->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
    chip = system && !system.getChipDescs().empty() ? system.getChipDescs().front() : ttcore::ChipDescAttr();
    llvm::json::Array operations;
    const bool onlyTraces = enableTrace && hasTraces();
    getOperation().walk([&](func::FuncOp function) {
      auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
      // Values that are computed once cost nothing in later runs.
      if ((type && type.getValue() == ttcore::constEvalType) ||
          (onlyTraces && (!type || type.getValue() != ttcore::traceMainType)))
        return;
      function.walk([&](Operation *op) {
        if (!isa<TTNNDialect>(op->getDialect()) || isa<DeallocateOp>(op))
          return;
        // An op without results writes to its first operand.
        const bool hasResult = op->getNumResults();
        Value tensor = hasResult ? Value(op->getResult(0)) : op->getNumOperands() ? op->getOperand(0) : Value();
        TTNNLayoutAttr layout = tensor ? TTNNLayoutAttr::of(tensor.getType()) : TTNNLayoutAttr();
        if (!layout)
          return;
        if (hasResult)
          figures.count(op, layout);
        if (verbose)
          operations.push_back(described(function, op, tensor, layout));
      });
    });
    if (failed(write(figures, std::move(operations))))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  ttcore::ChipDescAttr chip; // null where the module names none

  bool hasTraces() {
    return getOperation()
        .walk([](func::FuncOp function) {
          auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
          return type && type.getValue() == ttcore::traceMainType ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  llvm::json::Object described(func::FuncOp function, Operation *op, Value value, TTNNLayoutAttr layout) const {
    std::string location, type;
    llvm::raw_string_ostream(location) << op->getLoc();
    auto tensor = cast<RankedTensorType>(value.getType());
    llvm::json::Object created{{"function", function.getSymName()},
                               {"op", op->getName().getStringRef()},
                               {"location", location},
                               {"shape", llvm::json::Array(tensor.getShape())},
                               {"data_type", ttcore::stringifyDataType(layout.getDataType())},
                               {"buffer_type", stringifyBufferType(layout.getBufferType())},
                               {"grid", llvm::json::Array(layout.getGridShape())}};
    if (TensorMemoryLayoutAttr memory = layout.getMemLayout())
      created["memory_layout"] = stringifyTensorMemoryLayout(memory.getValue());
    if (chip) {
      created["estimated_ns"] = OpCost(chip).opNs(op);
      const ChipMemory memory(chip);
      created["circular_buffer_bytes"] = OpCost::circularBytes(op, OpTensors(op), memory.without(0));
    }
    return created;
  }

  LogicalResult write(const Figures &figures, llvm::json::Array operations) {
    llvm::json::Object counts;
    for (auto [name, count] : figures.ops)
      counts[name] = count;
    llvm::json::Object root{
        {"summary",
         llvm::json::Object{{"total_ops", figures.total},
                            {"dram_ops", figures.dram},
                            {"l1_ops", figures.l1},
                            {"system_memory_ops", figures.host},
                            {"sharded_ops", figures.sharded},
                            {"sharded_percentage", figures.total ? 100.0 * figures.sharded / figures.total : 0.0}}},
        {"op_counts", std::move(counts)}};
    if (verbose)
      root["operations"] = std::move(operations);
    std::error_code error;
    llvm::raw_fd_ostream file(outputFile, error, llvm::sys::fs::OF_Text);
    if (!error) {
      file << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
      file.close();
      error = file.error();
      file.clear_error();
    }
    if (error)
      return getOperation().emitError() << "ttnn-perf-metrics-output-file '" << outputFile
                                        << "' cannot be written: " << error.message();
    return success();
  }
};
} // namespace
