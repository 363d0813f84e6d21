//===- GspmdToSdy.cpp - annotations of GSPMD as shardings of Shardy -------===//
// SPDX-License-Identifier: Apache-2.0
//
// GSPMD numbers the devices that hold each tile of a tensor. The numbers are read as positions in a mesh whose axes
// have prime sizes: each dimension is split along some of them, one after another.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_GSPMDTOSDY
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
/// A text, read.
struct Tiles {
  SmallVector<int64_t> dims;    // tiles along each dimension; none: whole everywhere
  SmallVector<int64_t> devices; // of tiles in rows
  bool manual = false;
};

class Text {
public:
  explicit Text(StringRef rest) : rest(rest) {}
  bool take(StringRef word) { return rest.consume_front(word); }
  bool numbers(SmallVectorImpl<int64_t> &found) {
    do {
      int64_t number;
      if (rest.consumeInteger(10, number) || number < 0)
        return false;
      found.push_back(number);
    } while (take(","));
    return true;
  }
  bool list(SmallVectorImpl<int64_t> &found) { return take("[") && numbers(found) && take("]"); }

private:
  StringRef rest;
};

int64_t product(ArrayRef<int64_t> numbers) {
  int64_t result = 1;
  for (int64_t number : numbers)
    if (llvm::MulOverflow(result, number, result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

/// The numbers of a tensor of `sizes` that counts up, with its dimensions permuted.
SmallVector<int64_t> transposed(ArrayRef<int64_t> sizes, ArrayRef<int64_t> order) {
  SmallVector<int64_t> result;
  for (int64_t place = 0; place < product(sizes); ++place) {
    SmallVector<int64_t> index(sizes.size());
    int64_t rest = place;
    for (int64_t dim : llvm::reverse(order)) {
      index[dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    int64_t number = 0;
    for (auto [at, size] : llvm::zip_equal(index, sizes))
      number = number * size + at;
    result.push_back(number);
  }
  return result;
}

/// Nothing if the text has another form, or does not name `count` devices.
std::optional<Tiles> read(StringRef text, int64_t count) {
  Tiles tiles;
  if (text == "{replicated}")
    return tiles;
  if (text == "{manual}") {
    tiles.manual = true;
    return tiles;
  }
  Text rest(text);
  if (!rest.take("{devices=") || !rest.list(tiles.dims))
    return std::nullopt;
  if (rest.take("<=")) {
    SmallVector<int64_t> sizes, order;
    if (!rest.list(sizes) || product(sizes) != count)
      return std::nullopt;
    if (rest.take("T(")) {
      if (!rest.numbers(order) || !rest.take(")"))
        return std::nullopt;
    } else {
      llvm::append_range(order, llvm::seq<int64_t>(0, sizes.size()));
    }
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, sizes.size())))
      return std::nullopt;
    tiles.devices = transposed(sizes, order);
  } else if (!rest.numbers(tiles.devices)) {
    return std::nullopt;
  }
  const bool copies = rest.take(" last_tile_dim_replicate");
  if (!rest.take("}") || product(tiles.dims) != count || static_cast<int64_t>(tiles.devices.size()) != count)
    return std::nullopt;
  SmallVector<int64_t> sorted(tiles.devices);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, count)))
    return std::nullopt;
  if (copies)
    tiles.dims.pop_back();
  return tiles;
}

struct GspmdToSdy : shlo::impl::GspmdToSdyBase<GspmdToSdy> {
  void runOnOperation() override {
    if (!hasGspmdAnnotations(getOperation()))
      return markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    count = 1;
    if (module->hasAttr("mhlo.num_partitions")) {
      FailureOr<int64_t> partitions = partitionsOf(module);
      if (failed(partitions))
        return failure();
      count = *partitions;
    }
    makeMesh(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      auto convert = [&](Type type, Attribute text) -> FailureOr<sdy::TensorShardingAttr> {
        return shardingFor(function, type, dyn_cast_if_present<StringAttr>(text));
      };
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (Attribute text = function.getArgAttr(i, gspmdName)) {
          FailureOr<sdy::TensorShardingAttr> sharding = convert(function.getArgumentTypes()[i], text);
          if (failed(sharding))
            return failure();
          function.removeArgAttr(i, gspmdName);
          function.setArgAttr(i, shardingName, *sharding);
        }
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (Attribute text = function.getResultAttr(i, gspmdName)) {
          FailureOr<sdy::TensorShardingAttr> sharding = convert(function.getResultTypes()[i], text);
          if (failed(sharding))
            return failure();
          function.removeResultAttr(i, StringAttr::get(module.getContext(), gspmdName));
          function.setResultAttr(i, shardingName, *sharding);
        }
    }
    SmallVector<func::CallOp> calls;
    SmallVector<stablehlo::CustomCallOp> constraints;
    module.walk([&](func::CallOp call) {
      if (llvm::any_of(call->getUsers(), [](Operation *user) { return isCall(user, "Sharding", "{manual}"); }))
        calls.push_back(call);
    });
    for (func::CallOp call : calls)
      if (failed(makeManual(call)))
        return failure();
    module.walk([&](stablehlo::CustomCallOp call) {
      if (call->hasAttr(gspmdName))
        constraints.push_back(call);
    });
    for (stablehlo::CustomCallOp call : constraints)
      if (failed(makeConstraint(call)))
        return failure();
    return success();
  }

  void makeMesh(ModuleOp module) {
    SmallVector<sdy::MeshAxisAttr> axes;
    sizes.clear();
    for (int64_t rest = count, prime = 2; rest > 1; ++prime)
      for (; rest % prime == 0; rest /= prime) {
        sizes.push_back(prime);
        axes.push_back(sdy::MeshAxisAttr::get(module.getContext(), "axis_" + std::to_string(axes.size()), prime));
      }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto op = sdy::MeshOp::create(builder, module.getLoc(), "mesh",
                                  sdy::MeshAttr::get(module.getContext(), axes, ArrayRef<int64_t>()));
    SymbolTable(module).insert(op);
    mesh = FlatSymbolRefAttr::get(op.getSymNameAttr());
    manualAxes = llvm::map_to_vector(
        axes, [&](sdy::MeshAxisAttr axis) { return StringAttr::get(module.getContext(), axis.getName()); });
  }

  static bool isCall(Operation *op, StringRef target, StringRef text = {}) {
    auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
    if (!call || call.getCallTargetName() != target || call.getNumOperands() != 1 || call.getNumResults() != 1)
      return false;
    auto own = call->getAttrOfType<StringAttr>(gspmdName);
    return text.empty() || (own && own.getValue() == text);
  }

  FailureOr<sdy::TensorShardingAttr> shardingFor(Operation *op, Type type, StringAttr text) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<Tiles> tiles = text ? read(text.getValue(), count) : std::nullopt;
    if (!tensor || !tiles || tiles->manual ||
        (!tiles->dims.empty() && static_cast<int64_t>(tiles->dims.size()) != tensor.getRank()))
      return op->emitOpError() << "has " << gspmdName << ' ' << (text ? text.getValue() : "of another kind") << " for "
                               << type << "; expected {replicated}, or tiles of its dimensions on " << count
                               << " devices";
    SmallVector<sdy::DimensionShardingAttr> dims;
    SmallVector<bool> used(sizes.size(), false);
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
      SmallVector<sdy::AxisRefAttr> axes;
      if (!tiles->dims.empty() && failed(axesOf(*tiles, dim, used, axes)))
        return op->emitOpError() << "has " << gspmdName << ' ' << text.getValue() << ", whose dimension " << dim
                                 << " is not split along axes of a mesh of " << count << " devices in order";
      dims.push_back(sdy::DimensionShardingAttr::get(op->getContext(), axes, /*isClosed=*/true, std::nullopt));
    }
    return sdy::TensorShardingAttr::get(op->getContext(), mesh, dims, {}, {}, sdy::ReductionOp::SUM);
  }

  /// The axes by which a dimension is split, outermost first.
  LogicalResult axesOf(const Tiles &tiles, int64_t dim, SmallVectorImpl<bool> &used,
                       SmallVectorImpl<sdy::AxisRefAttr> &axes) const {
    // The tile of the dimension that each device has.
    SmallVector<int64_t> tileOf(count);
    const int64_t copies = count / product(tiles.dims), inner = product(ArrayRef(tiles.dims).drop_front(dim + 1));
    for (auto [place, device] : llvm::enumerate(tiles.devices))
      tileOf[device] = static_cast<int64_t>(place) / copies / inner % tiles.dims[dim];
    SmallVector<int64_t> found(count, 0);
    int64_t rest = tiles.dims[dim];
    while (rest > 1) {
      int64_t stride = count;
      bool any = false;
      for (size_t axis = 0; axis < sizes.size() && !any; ++axis) {
        stride /= sizes[axis];
        if (used[axis] || rest % sizes[axis] != 0 || tileOf[stride] != rest / sizes[axis])
          continue;
        any = used[axis] = true;
        rest /= sizes[axis];
        axes.push_back(sdy::AxisRefAttr::get(mesh.getContext(), manualAxes[axis].getValue(), {}));
        for (int64_t device = 0; device < count; ++device)
          found[device] += device / stride % sizes[axis] * rest;
      }
      if (!any)
        return failure();
    }
    return success(found == tileOf);
  }

  /// A function that JAX calls between SPMDFullToShardShape and SPMDShardToFullShape.
  LogicalResult makeManual(func::CallOp call) {
    OpBuilder builder(call);
    SmallVector<Value> operands;
    SmallVector<sdy::TensorShardingAttr> before, after;
    for (Value operand : call.getOperands()) {
      Operation *local = operand.getDefiningOp();
      Operation *split = isCall(local, "SPMDFullToShardShape") ? local->getOperand(0).getDefiningOp() : nullptr;
      if (!isCall(split, "Sharding"))
        return call.emitOpError() << "takes " << operand.getType()
                                  << ", which is not from SPMDFullToShardShape of a Sharding; expected shard_map, "
                                     "manual along all axes, as JAX writes it";
      FailureOr<sdy::TensorShardingAttr> sharding =
          shardingFor(split, split->getResult(0).getType(), split->getAttrOfType<StringAttr>(gspmdName));
      if (failed(sharding))
        return failure();
      operands.push_back(split->getOperand(0));
      before.push_back(*sharding);
    }
    SmallVector<Operation *> outs;
    for (Value result : call.getResults()) {
      Operation *kept = result.hasOneUse() ? *result.user_begin() : nullptr;
      Operation *full = isCall(kept, "Sharding", "{manual}") && kept->getResult(0).hasOneUse()
                            ? *kept->getResult(0).user_begin()
                            : nullptr;
      if (!isCall(full, "SPMDShardToFullShape"))
        return call.emitOpError() << "gives " << result.getType()
                                  << ", which does not go to SPMDShardToFullShape alone; expected shard_map, manual "
                                     "along all axes, as JAX writes it";
      FailureOr<sdy::TensorShardingAttr> sharding =
          shardingFor(full, full->getResult(0).getType(), full->getAttrOfType<StringAttr>(gspmdName));
      if (failed(sharding))
        return failure();
      outs.push_back(full);
      after.push_back(*sharding);
    }
    SmallVector<Type> types = llvm::map_to_vector(outs, [](Operation *op) { return op->getResult(0).getType(); });
    MLIRContext *context = call.getContext();
    auto manual = sdy::ManualComputationOp::create(
        builder, call.getLoc(), types, operands, sdy::TensorShardingPerValueAttr::get(context, before),
        sdy::TensorShardingPerValueAttr::get(context, after), sdy::ManualAxesAttr::get(context, manualAxes));
    Block *body = manual.getBody().empty() ? &manual.getBody().emplaceBlock() : &manual.getBody().front();
    for (Value operand : call.getOperands())
      body->addArgument(operand.getType(), call.getLoc());
    builder.setInsertionPointToEnd(body);
    auto inner = func::CallOp::create(builder, call.getLoc(), call.getCalleeAttr(), call.getResultTypes(),
                                      ValueRange(body->getArguments()));
    sdy::ReturnOp::create(builder, call.getLoc(), inner.getResults());
    for (auto [out, result] : llvm::zip_equal(outs, manual.getResults())) {
      Operation *kept = out->getOperand(0).getDefiningOp();
      out->getResult(0).replaceAllUsesWith(result);
      out->erase();
      kept->erase();
    }
    SmallVector<Value> locals(call.getOperands());
    call.erase();
    for (Value local : locals) {
      Operation *op = local.getDefiningOp(), *split = op->getOperand(0).getDefiningOp();
      if (!op->use_empty())
        continue;
      op->erase();
      if (split->use_empty())
        split->erase();
    }
    return success();
  }

  LogicalResult makeConstraint(stablehlo::CustomCallOp call) {
    auto text = call->getAttrOfType<StringAttr>(gspmdName);
    if (isCall(call, "Sharding", "{manual}")) {
      call.getResult(0).replaceAllUsesWith(call.getOperand(0));
      call.erase();
      return success();
    }
    if (!isCall(call, "Sharding")) {
      if (call.getCallTargetName().starts_with("SPMD"))
        return call.emitOpError() << "@" << call.getCallTargetName()
                                  << " is not that of a shard_map, manual along all axes, as JAX writes it";
      call->removeAttr(gspmdName); // what a call says of itself; shardings spread to it
      return success();
    }
    FailureOr<sdy::TensorShardingAttr> sharding = shardingFor(call, call.getResult(0).getType(), text);
    if (failed(sharding))
      return failure();
    OpBuilder builder(call);
    auto constraint = sdy::ShardingConstraintOp::create(builder, call.getLoc(), call.getResult(0).getType(),
                                                        call.getOperand(0), *sharding);
    call.getResult(0).replaceAllUsesWith(constraint.getResult());
    call.erase();
    return success();
  }

  int64_t count = 1;
  SmallVector<int64_t> sizes; // of the mesh's axes
  FlatSymbolRefAttr mesh;
  SmallVector<StringAttr> manualAxes;
};
} // namespace
