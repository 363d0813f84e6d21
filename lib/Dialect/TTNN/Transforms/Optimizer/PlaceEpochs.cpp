//===- PlaceEpochs.cpp - epochs and cores of the ops of programs ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Epochs.h"
#include "LegalLayouts.h"
#include "Overrides.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/PlacedOps.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNPLACEEPOCHS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::tilesAlong;
using ::ttmlir::cost::Work;

/// The policy of this name for a program.
static std::optional<EpochPolicy> policyOf(StringRef name, func::FuncOp function) {
  if (name == "auto") {
    auto convolutions =
        llvm::make_filter_range(function.getOps(), [](Operation &op) { return familyOf(&op) == Family::Convolution; });
    return convolutions.empty() ? EpochPolicy::Work : EpochPolicy::Ribbon;
  }
  if (name == "work")
    return EpochPolicy::Work;
  if (name == "ribbon")
    return EpochPolicy::Ribbon;
  if (name == "smallest")
    return EpochPolicy::Smallest;
  if (name == "any")
    return EpochPolicy::Any;
  return std::nullopt;
}

/// Cycles of the work on this many cores: computing, and moving operands and results through their L1.
static int64_t cyclesOf(Work work, const ::ttmlir::cost::Speed &speed, int64_t cores) {
  work.cores = cores;
  work.l1Bytes += work.dramBytes;
  const ::ttmlir::cost::Times times = timesOf(speed, static_cast<double>(cores), work);
  return std::max<int64_t>(1, std::llround(std::ceil(std::max(times.computeNs, times.l1Ns) * speed.clockGHz)));
}

namespace {
/// The place that the option `overrides` requests for an op.
struct PlaceRequest {
  std::optional<std::array<int64_t, 2>> grid, core; // rows and columns; row and column
  bool isTransposed = false;
};

struct PlaceEpochs : ttnn::impl::TTNNPlaceEpochsBase<PlaceEpochs> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved(); // no analysis reads these attributes
    ModuleOp module = getOperation();
    if (policy != "auto" && !policyOf(policy, {})) {
      module.emitOpError() << "ttnn-place-epochs: policy is '" << policy
                           << "'; expected auto, work, ribbon, smallest or any";
      return signalPassFailure();
    }
    if (failed(parseOverrides(module)))
      return signalPassFailure();
    if (llvm::none_of(module.getOps<func::FuncOp>(), choosesLayouts))
      return;
    ttcore::ChipDescAttr desc = chipOf(module);
    if (!desc)
      return signalPassFailure();
    ChipMemory chip(desc);
    for (auto [name, requested, own] : {std::tuple("rows", rows.getValue(), &chip.gridRows),
                                        std::tuple("columns", columns.getValue(), &chip.gridColumns)}) {
      if (requested > mostEpochRows) {
        module.emitOpError() << "ttnn-place-epochs: " << name << " is " << requested << "; expected 0 to "
                             << mostEpochRows;
        return signalPassFailure();
      }
      *own = requested ? requested : *own;
    }
    const OpCost cost(desc);
    EpochOptions options;
    options.rows = chip.gridRows;
    options.columns = chip.gridColumns;
    options.launch = std::llround(cost.speedOfChip().launchNs * cost.speedOfChip().clockGHz);
    options.otherGrids = otherGrids;
    options.transposeGrids = transposeGrids;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (choosesLayouts(function)) {
        options.policy = *policyOf(policy, function);
        if (failed(place(function, chip, cost.speedOfChip(), options)))
          return signalPassFailure();
      }
  }

private:
  LogicalResult parseOverrides(ModuleOp module) {
    requests.clear();
    auto areNumbers = [](StringRef text, std::optional<std::array<int64_t, 2>> &found, int64_t least) {
      if (text.empty())
        return true;
      auto [first, second] = text.split('x');
      std::array<int64_t, 2> numbers;
      if (first.getAsInteger(10, numbers[0]) || second.getAsInteger(10, numbers[1]) || numbers[0] < least ||
          numbers[1] < least || std::max(numbers[0], numbers[1]) > mostEpochRows)
        return false;
      found = numbers;
      return true;
    };
    for (StringRef entry : llvm::split(StringRef(overrides), ',')) {
      if (entry.empty())
        continue;
      auto [name, value] = entry.split('=');
      SmallVector<StringRef> parts;
      value.split(parts, ':');
      const auto [found, isNew] = requests.try_emplace(name);
      if (!isNew)
        return module.emitOpError() << "ttnn-place-epochs: overrides has '" << name << "' twice, the second time as '"
                                    << entry << "'; expected one place of an op";
      PlaceRequest &request = found->second;
      request.isTransposed = parts.size() == 3 && parts[2] == "transposed";
      if (name.empty() || value.trim(':').empty() || parts.size() > 3 ||
          (parts.size() == 3 && !parts[2].empty() && !request.isTransposed) || !areNumbers(parts[0], request.grid, 1) ||
          (parts.size() > 1 && !areNumbers(parts[1], request.core, 0)))
        return module.emitOpError() << "ttnn-place-epochs: overrides has '" << entry
                                    << "'; expected NAME=ROWSxCOLUMNS:ROWxCOLUMN:transposed, such as relu=2x4:1x0";
    }
    return success();
  }

  PlaceRequest requestOf(Operation *op) const {
    std::string name = nameOf(op->getLoc()).str();
    if (auto part = op->getAttrOfType<IntegerAttr>(ttcore::partName))
      name += "#" + std::to_string(part.getInt());
    return requests.lookup(name);
  }

  /// Leaves the grids of an op that fit where they are requested.
  static LogicalResult fit(Operation *op, EpochOp &found, const ChipMemory &chip) {
    const std::array<int64_t, 2> core = found.core.value_or(std::array<int64_t, 2>{0, 0});
    const SmallVector<GridChoice, 16> all = found.grids;
    llvm::erase_if(found.grids, [&](const GridChoice &grid) {
      const int64_t rows = found.isTransposed ? grid.columns : grid.rows,
                    columns = found.isTransposed ? grid.rows : grid.columns;
      return core[0] + rows > chip.gridRows || core[1] + columns > chip.gridColumns;
    });
    if (!found.grids.empty())
      return success();
    return op->emitOpError() << "none of its " << all.size() << " grids, such as " << all.front().rows << 'x'
                             << all.front().columns << (found.isTransposed ? " (transposed)" : "") << ", fits at core "
                             << core[0] << ", " << core[1] << "; there are " << chip.gridRows << 'x' << chip.gridColumns
                             << " cores (ttnn-place-epochs overrides)";
  }

  LogicalResult place(func::FuncOp function, const ChipMemory &chip, const ::ttmlir::cost::Speed &speed,
                      const EpochOptions &options) {
    SmallVector<Operation *> computing;
    std::vector<EpochOp> ops;
    for (Operation &op : function.getBody().front()) {
      ttcore::erasePlace(&op);
      if (familyOf(&op) == Family::None)
        continue;
      OpTensors tensors(&op);
      const Work work = OpCost::work(&op, tensors);
      if (!work.launched || tensors.outs.empty())
        continue;
      FailureOr<EpochOp> found = choicesOf(&op, tensors, work, chip, speed);
      if (failed(found))
        return failure();
      computing.push_back(&op);
      ops.push_back(std::move(*found));
    }
    for (auto [op, place] : llvm::zip_equal(computing, placeEpochs(ops, options))) {
      const int64_t height = place.isTransposed ? place.grid.columns : place.grid.rows,
                    width = place.isTransposed ? place.grid.rows : place.grid.columns;
      ttcore::setPlace(op, {place.epoch, place.row, place.column, height, width, place.isTransposed, place.grid.cycles,
                            place.grid.l1});
    }
    return success();
  }

  FailureOr<EpochOp> choicesOf(Operation *op, const OpTensors &tensors, const Work &work, const ChipMemory &chip,
                               const ::ttmlir::cost::Speed &speed) {
    EpochOp found;
    found.work = cyclesOf(work, speed, 1);
    if (auto epoch = op->getAttrOfType<IntegerAttr>(ttcore::epochName))
      found.requestedEpoch = epoch.getInt();
    const PlaceRequest request = requestOf(op);
    found.core = request.core;
    found.isTransposed = request.isTransposed;
    const PlacedTensor &result = tensors.outs[0];
    FailureOr<ttcore::GridAttr> requested = ttcore::requestedGrid(op);
    if (failed(requested))
      return failure();
    std::array<int64_t, 2> grid = {0, 0}; // of the only choice
    if (request.grid) {
      grid = *request.grid;
    } else if (*requested) {
      grid = {requested->getShape()[0], requested->getShape()[1]};
      if (grid[0] > chip.gridRows || grid[1] > chip.gridColumns)
        return op->emitOpError() << ttcore::gridName << " is " << grid[0] << 'x' << grid[1] << "; there are "
                                 << chip.gridRows << 'x' << chip.gridColumns << " cores (ttnn-place-epochs)";
      if (oneRow && grid[0] > 1)
        return op->emitOpError() << ttcore::gridName << " is " << grid[0] << 'x' << grid[1]
                                 << "; expected one row of cores (ttnn-place-epochs one-row)";
    } else if (result.isShardInL1() && result.gridRows <= (oneRow ? 1 : chip.gridRows) &&
               result.gridColumns <= chip.gridColumns) {
      // The optimizer chose different grids for all cores of the chip.
      grid = {result.gridRows, result.gridColumns};
    }
    if (grid[0] > 0) {
      found.grids.push_back({grid[0], grid[1], cyclesOf(work, speed, grid[0] * grid[1]), l1Of(op, tensors, chip)});
      if (failed(fit(op, found, chip)))
        return failure();
      return found;
    }
    SmallVector<GridChoice, 16> unsharded;
    const int64_t height = std::max<int64_t>(1, tilesAlong(result.sizeFromEnd(1))),
                  width = std::max<int64_t>(1, tilesAlong(result.sizeFromEnd(0)));
    for (int64_t r = 1; r <= std::min(height, oneRow ? 1 : chip.gridRows); ++r)
      for (int64_t c = 1; c <= std::min(width, chip.gridColumns); ++c)
        if (height % r == 0 && width % c == 0) {
          const int64_t cycles = cyclesOf(work, speed, r * c);
          unsharded.push_back({r, c, cycles, 0});
          if (std::optional<int64_t> l1 = l1OnGrid(op, tensors, r, c, chip))
            found.grids.push_back({r, c, cycles, *l1});
        }
    if (found.grids.empty()) {
      const int64_t l1 = l1Of(op, tensors, chip);
      for (GridChoice &grid : unsharded)
        grid.l1 = l1;
      found.grids = std::move(unsharded);
    }
    if ((found.core || found.isTransposed) && failed(fit(op, found, chip)))
      return failure();
    return found;
  }

  llvm::StringMap<PlaceRequest> requests;

  /// Bytes of each core with the current placement of the result.
  static int64_t l1Of(Operation *op, const OpTensors &tensors, const ChipMemory &chip) {
    int64_t bytes = 0;
    for (const PlacedTensor &out : tensors.outs)
      if (out.isShardInL1())
        bytes += l1BytesOfBank(chip, out);
    return bytes + OpCost::circularBytes(op, tensors, chip.without(bytes));
  }

  /// Bytes of each core if the result has shards on a grid; nothing if the kernel does not support them, or they do not
  /// fit.
  static std::optional<int64_t> l1OnGrid(Operation *op, const OpTensors &tensors, int64_t rows, int64_t columns,
                                         const ChipMemory &chip) {
    if (op->getNumResults() != 1 || !isTiledInDram(TTNNLayoutAttr::of(op->getResult(0).getType())))
      return std::nullopt;
    TTNNLayoutAttr layout = layoutOnGrid(op, rows, columns, chip);
    if (!layout)
      return std::nullopt;
    OpTensors sharded = tensors;
    sharded.outs[0] = *placedTensor(op->getResult(0).getType(), layout);
    const int64_t l1 = l1Of(op, sharded, chip);
    return l1 <= chip.usable() ? std::optional(l1) : std::nullopt;
  }
};
} // namespace
