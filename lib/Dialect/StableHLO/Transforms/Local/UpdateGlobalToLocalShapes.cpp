//===- UpdateGlobalToLocalShapes.cpp - what one device holds --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Factors.h"
#include "Collective.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_UPDATEGLOBALTOLOCALSHAPES
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
class Localizer {
public:
  Localizer(ModuleOp module, sdy::MeshAttr mesh) : mesh(mesh), collectives(module, mesh) {}

  LogicalResult run(sdy::ManualComputationOp op) {
    Block &body = op.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      sdy::TensorShardingAttr sharding = op.getInShardings().getShardings()[argument.getArgNumber()];
      FailureOr<Type> local = localType(argument.getType(), sharding, mesh, op);
      if (failed(local))
        return failure();
      shardings[argument] = sharding;
      argument.setType(*local);
    }
    if (failed(localizeBlock(body)))
      return failure();
    for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      sdy::TensorShardingAttr expected = op.getOutShardings().getShardings()[index];
      if (!alike(shardings.lookup(value), expected))
        return op.emitOpError() << "gives result " << index << " with " << text(shardings.lookup(value))
                                << "; expected " << expected << "; run sdy-insert-explicit-reshards first";
    }
    SmallVector<StringAttr> axes;
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      axes.push_back(StringAttr::get(op.getContext(), axis.getName()));
    op.setManualAxesAttr(sdy::ManualAxesAttr::get(op.getContext(), axes));
    return success();
  }

  /// A local computation already moves values by StableHLO's collectives.
  static LogicalResult checkLocal(sdy::ManualComputationOp op) {
    WalkResult result = op.walk([&](Operation *inner) {
      if (!inner->hasTrait<trait::ChangesSharding>())
        return WalkResult::advance();
      inner->emitOpError() << "is inside of a computation that is manual along " << op.getManualAxes()
                           << "; expected collectives of StableHLO";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

private:
  static std::string text(sdy::TensorShardingAttr sharding) {
    std::string result = "no sharding";
    if (sharding) {
      result.clear();
      llvm::raw_string_ostream(result) << sharding;
    }
    return result;
  }

  /// The axes of each dimension that split it.
  SmallVector<SmallVector<sdy::AxisRefAttr>> axesOf(sdy::TensorShardingAttr sharding) const {
    SmallVector<SmallVector<sdy::AxisRefAttr>> result;
    for (sdy::DimensionShardingAttr dim :
         sharding ? sharding.getDimShardings() : ArrayRef<sdy::DimensionShardingAttr>())
      llvm::copy_if(dim.getAxes(), std::back_inserter(result.emplace_back()),
                    [&](sdy::AxisRefAttr axis) { return sizeOf(axis, mesh) > 1; });
    return result;
  }
  bool alike(sdy::TensorShardingAttr a, sdy::TensorShardingAttr b) const {
    auto left = axesOf(a), right = axesOf(b);
    left.resize(std::max(left.size(), right.size()));
    right.resize(left.size());
    return left == right;
  }

  LogicalResult localizeBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(localize(&op)))
        return failure();
    return success();
  }

  LogicalResult localize(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
    if (op->hasTrait<trait::ChangesSharding>()) {
      Value operand = op->getOperand(0);
      Value created = collectives.lower(op, operand, shardings.lookup(operand));
      if (!created)
        return failure();
      shardings[created] = shardingOf(op->getResult(0));
      op->getResult(0).replaceAllUsesWith(created);
      op->erase();
      return success();
    }
    if (isa<sdy::ShardingGroupOp>(op)) {
      op->erase();
      return success();
    }
    // Nothing is propagated any more.
    if (isa<sdy::PropagationBarrierOp>(op)) {
      const Value operand = op->getOperand(0);
      const sdy::TensorShardingAttr given = shardingOf(op->getResult(0));
      if (!alike(shardings.lookup(operand), given))
        return op->emitOpError() << "has " << text(given) << ", and its operand has " << text(shardings.lookup(operand))
                                 << "; run sdy-insert-explicit-reshards first";
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return success();
    }
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
      return localizeComputation(manual);
    if (op->hasTrait<trait::Creation>())
      return localizeConstant(op);

    // Outside of manual computations, a function of the host is called once, with whole tensors.
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && call.getCallTargetName() == "tt.host_call")
      if (auto manual = op->getParentOfType<sdy::ManualComputationOp>(); manual.getManualAxes().getValue().empty())
        op->setAttr(onceName, UnitAttr::get(op->getContext()));
    SmallVector<sdy::TensorShardingAttr> all;
    bool split = false;
    for (Value operand : op->getOperands())
      all.push_back(shardings.lookup(operand));
    for (Value result : op->getResults())
      all.push_back(shardings[result] = shardingOf(result));
    for (sdy::TensorShardingAttr sharding : all)
      split |= isSplit(sharding, mesh);
    if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op); split && concatenate && isJoined(concatenate, all))
      return success();
    if (split)
      exchangeEdges(op, all);
    if (split && failed(check(op, all)))
      return failure();
    auto gather = dyn_cast<stablehlo::GatherOp>(op);
    const auto slices = gather ? llvm::to_vector(gather.getSliceSizes()) : SmallVector<int64_t>();
    // Sizes are requested before the types change.
    if (split && failed(adjust(op, all)))
      return failure();
    for (Value result : op->getResults()) {
      FailureOr<Type> local = localType(result.getType(), shardings.lookup(result), mesh, op);
      if (failed(local))
        return failure();
      result.setType(*local);
    }
    if (gather && split)
      shardings[collectives.gatherFromPart(gather, slices, all.front())] = all.back();
    return localizeRegions(op);
  }

  /// Moves a computation that is manual along some axes into one that is manual along all.
  LogicalResult localizeComputation(sdy::ManualComputationOp op) {
    Block &body = op.getBody().front();
    for (auto [index, argument, sharding] : llvm::enumerate(body.getArguments(), op.getInShardings().getShardings())) {
      Value operand = op->getOperand(index);
      if (!alike(shardings.lookup(operand), sharding))
        return op.emitOpError() << "takes operand " << index << " with " << text(shardings.lookup(operand))
                                << "; expected " << sharding << "; run sdy-insert-explicit-reshards first";
      argument.setType(operand.getType());
      shardings[argument] = insideOf(op, sharding);
    }
    if (failed(localizeBlock(body)))
      return failure();
    Operation *terminator = body.getTerminator();
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    SmallVector<Value> results;
    for (auto [index, sharding] : llvm::enumerate(op.getOutShardings().getShardings())) {
      Value value = terminator->getOperand(index);
      if (!alike(shardings.lookup(value), insideOf(op, sharding)))
        return op.emitOpError() << "gives result " << index << " with " << text(shardings.lookup(value))
                                << "; expected " << insideOf(op, sharding)
                                << "; run sdy-insert-explicit-reshards first";
    }
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), op.getTensors()))
      argument.replaceAllUsesWith(operand);
    results.assign(terminator->operand_begin(), terminator->operand_end());
    op->getBlock()->getOperations().splice(Block::iterator(op), body.getOperations(), body.begin(),
                                           Block::iterator(terminator));
    for (auto [value, result, sharding] :
         llvm::zip_equal(results, op.getResults(), op.getOutShardings().getShardings())) {
      // A separate value: outside it is split by more axes than inside.
      Value outside = isa<RankedTensorType>(value.getType())
                          ? stablehlo::ReshapeOp::create(builder, value.getType(), value).getResult()
                          : value;
      shardings[outside] = sharding;
      result.replaceAllUsesWith(outside);
    }
    op.erase();
    return success();
  }

  /// A tensor with parts of different sizes is gathered and sliced.
  LogicalResult localizeConstant(Operation *op) {
    Value result = op->getResult(0);
    sdy::TensorShardingAttr sharding = shardingOf(result);
    shardings[result] = sharding;
    FailureOr<Type> local = localType(result.getType(), sharding, mesh, op);
    if (failed(local))
      return failure();
    if (*local == result.getType())
      return success();
    const SmallVector<int64_t> whole = wholeDims(op).front();
    if (llvm::none_of(whole, [&](int64_t dim) { return partsOf(sharding, dim, mesh) > 1; })) {
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(cast<ShapedType>(*local)));
      result.setType(*local);
      return success();
    }
    ImplicitLocOpBuilder builder(op->getLoc(), op->getContext());
    builder.setInsertionPointAfter(op);
    SmallVector<ArrayRef<sdy::AxisRefAttr>> axes;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      axes.push_back(dim.getAxes());
    Value part = collectives.slice(builder, result, axes, sharding);
    result.replaceAllUsesExcept(part, part.getDefiningOp());
    shardings[part] = sharding;
    return success();
  }

  /// Replaces a concatenation along a split dimension by what devices send to each other, if all tensors are split
  /// alike and this takes less than gathering them.
  bool isJoined(stablehlo::ConcatenateOp op, ArrayRef<sdy::TensorShardingAttr> all) {
    if (!llvm::all_of(all, [&](sdy::TensorShardingAttr sharding) { return alike(sharding, all.front()); }))
      return false;
    std::optional<stablehlo::Footprint> print;
    const auto dim = static_cast<int64_t>(op.getDimension());
    withGlobalOperands(op, [&] {
      for (const stablehlo::WindowedDim &window : stablehlo::getWindowedDims(op))
        print = stablehlo::getFootprint(op, window, partsOf(all.front(), dim, mesh));
    });
    if (!print)
      return false;
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    Value joined = collectives.assembled(builder, op.getInputs(), dim, print->segments, /*stride=*/1,
                                         all.front().getDimShardings()[dim].getAxes());
    shardings[joined] = all.back();
    op.replaceAllUsesWith(joined);
    op.erase();
    return true;
  }

  /// Along windows, the edges of neighbors may provide everything that the device lacks. `all` is then whole there.
  void exchangeEdges(Operation *op, MutableArrayRef<sdy::TensorShardingAttr> all) {
    if (!op->getNumResults() || isa<stablehlo::ConcatenateOp>(op))
      return;
    // A slice of the part's size is one of the whole.
    unsigned inputs = 0;
    auto axesAlong = [&](unsigned tensor, int64_t dim) {
      auto lists = axesOf(all[tensor]);
      return dim < static_cast<int64_t>(lists.size()) ? lists[dim] : SmallVector<sdy::AxisRefAttr>();
    };
    SmallVector<std::pair<stablehlo::WindowedDim, stablehlo::Footprint>, 0> found;
    withGlobalOperands(op, [&] {
      inputs = std::min(stablehlo::getNumWindowedOperands(op), op->getNumOperands());
      for (const stablehlo::WindowedDim &window : stablehlo::getWindowedDims(op)) {
        const SmallVector<sdy::AxisRefAttr> axes = axesAlong(0, window.operand);
        auto isAlike = [&](unsigned tensor) {
          return axesAlong(tensor, tensor < inputs ? window.operand : window.result) == axes;
        };
        const auto [first, last] = othersAlong(op, window);
        auto print = stablehlo::getFootprint(op, window, partsOf(all[0], window.operand, mesh));
        if (print && llvm::all_of(llvm::seq(0u, inputs), isAlike) && llvm::all_of(llvm::seq(first, last), isAlike))
          found.emplace_back(window, *print);
      }
    });
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    for (auto &[window, print] : found) {
      for (unsigned i = 0; i < inputs; ++i) {
        ArrayRef<sdy::AxisRefAttr> axes = all[i].getDimShardings()[window.operand].getAxes();
        Value value =
            window.kind == stablehlo::WindowKind::Mirror ? collectives.mirrored(builder, op->getOperand(i), axes)
            : !print.segments.empty()
                ? collectives.assembled(builder, op->getOperand(i), window.operand, print.segments, window.stride, axes)
                : collectives.window(builder, op->getOperand(i), window.operand, print, getWindowFill(op, i), axes);
        all[i] = withWhole(all[i], window.operand);
        // Windows that end at the ends of parts take a part unchanged, and other ops see a part in it.
        if (value != op->getOperand(i))
          shardings[value] = all[i];
        op->setOperand(i, value);
      }
      const auto [first, last] = othersAlong(op, window);
      for (sdy::TensorShardingAttr &sharding : all.slice(first, last - first))
        sharding = withWhole(sharding, window.result);
      setWindow(op, window, print);
    }
  }
  /// The tensors, operands first, that have `window.result`.
  static std::pair<unsigned, unsigned> othersAlong(Operation *op, const stablehlo::WindowedDim &window) {
    if (window.kind == stablehlo::WindowKind::Contraction)
      return {1, 2};
    return {op->getNumOperands(), op->getNumOperands() + op->getNumResults()};
  }
  sdy::TensorShardingAttr withWhole(sdy::TensorShardingAttr sharding, int64_t dim) const {
    auto lists = axesOf(sharding);
    lists[dim].clear();
    return withAxes(sharding, lists);
  }

  /// The types of operands are already local, those of results are not.
  LogicalResult check(Operation *op, ArrayRef<sdy::TensorShardingAttr> all) {
    if (op->hasTrait<trait::RunsFunctions>() || isa<func::CallOp>(op))
      return op->emitOpError() << "is a call, which cannot be computed in parts; inline it first";
    if (isa<sdy::NamedComputationOp>(op))
      return op->emitOpError() << "cannot be computed in parts; run stablehlo-inline-calls first";
    if (failed(checkFactors(op, all, mesh)))
      return failure();
    if (!op->hasAttr("sdy.sharding_rule") && !op->hasTrait<OpTrait::Elementwise>() &&
        !op->hasTrait<trait::ForwardsValues>())
      return op->emitOpError() << "cannot be computed in parts: it has no sharding rule; run "
                                  "sdy-populate-op-sharding-rules first, or gather its operands";
    const SmallVector<SmallVector<int64_t>> dims = wholeOf(op);
    for (auto [index, whole] : llvm::enumerate(dims))
      for (int64_t dim : whole)
        if (partsOf(all[index], dim, mesh) > 1) {
          const bool isResult = index >= op->getNumOperands();
          return op->emitOpError() << "cannot be computed in parts: " << (isResult ? "result " : "operand ")
                                   << (isResult ? index - op->getNumOperands() : index) << " is split along dimension "
                                   << dim << " by " << all[index]
                                   << ", and each device needs elements of others; run replicate-non-splittable-values "
                                      "first";
        }
    if (isPointwise(op))
      for (auto [index, sharding] : llvm::enumerate(ArrayRef(all).drop_back(op->getNumResults())))
        if (cast<RankedTensorType>(op->getOperand(index).getType()).getRank() > 0 && !alike(sharding, all.back()))
          return op->emitOpError() << "cannot be computed in parts: operand " << index << " has " << text(sharding)
                                   << " and the result " << text(all.back())
                                   << "; run sdy-insert-explicit-reshards first";
    return success();
  }

  /// `wholeDims` looks at global types.
  SmallVector<SmallVector<int64_t>> wholeOf(Operation *op) {
    SmallVector<SmallVector<int64_t>> dims;
    withGlobalOperands(op, [&] { dims = wholeDims(op); });
    return dims;
  }

  void withGlobalOperands(Operation *op, function_ref<void()> look) {
    OpBuilder builder(op);
    SmallVector<Operation *> temporary;
    SmallVector<Value> operands(op->getOperands());
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = globalType(operand.get());
      if (type == operand.get().getType())
        continue;
      auto cast = UnrealizedConversionCastOp::create(builder, op->getLoc(), type, operand.get());
      temporary.push_back(cast);
      operand.set(cast.getResult(0));
    }
    look();
    op->setOperands(operands);
    for (Operation *cast : temporary)
      cast->erase();
  }

  Type globalType(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    sdy::TensorShardingAttr sharding = shardings.lookup(value);
    if (!type || !sharding)
      return value.getType();
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, size] : llvm::enumerate(shape))
      size *= partsOf(sharding, static_cast<int64_t>(dim), mesh);
    return type.clone(shape);
  }

  /// Attributes that state sizes of dimensions of which the device has a part.
  LogicalResult adjust(Operation *op, ArrayRef<sdy::TensorShardingAttr> all) {
    std::optional<Factors> factors;
    withGlobalOperands(op, [&] { factors = getFactors(op); });
    for (const Factors::SizeAttribute &attribute :
         factors ? factors->sizeAttributes() : std::span<const Factors::SizeAttribute>()) {
      StringRef name(attribute.name);
      auto sizes = llvm::to_vector(op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef());
      for (auto [dim, size, whole] : llvm::enumerate(sizes, factors->tensor(attribute.tensor)))
        if (size == whole)
          size /= partsOf(all[attribute.tensor], static_cast<int64_t>(dim), mesh);
      op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), sizes));
    }
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
      auto dims = convolution.getDimensionNumbers();
      const auto groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
      auto size = [&](unsigned operand, int64_t dim) {
        return cast<RankedTensorType>(op->getOperand(operand).getType()).getDimSize(dim);
      };
      if (groups > 1) {
        const int64_t in = size(0, dims.getInputFeatureDimension()),
                      per = size(1, dims.getKernelInputFeatureDimension());
        if (per == 0 || in % per != 0)
          return op->emitOpError() << "has " << in << " input features on a device; expected a multiple of the " << per
                                   << " of a group";
        convolution.setFeatureGroupCount(static_cast<uint64_t>(in / per));
      }
    }
    return success();
  }

  /// Blocks of loops and branches: values that a loop carries are split like its operands.
  LogicalResult localizeRegions(Operation *op) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
      for (Region *region : {&loop.getCond(), &loop.getBody()}) {
        for (auto [argument, operand] : llvm::zip_equal(region->getArguments(), loop->getOperands())) {
          shardings[argument] = shardings.lookup(operand);
          argument.setType(operand.getType());
        }
        if (failed(localizeBlock(region->front())))
          return failure();
      }
      for (auto [index, value] : llvm::enumerate(loop.getBody().front().getTerminator()->getOperands()))
        if (!alike(shardings.lookup(value), shardings.lookup(loop->getResult(index))) ||
            !alike(shardings.lookup(loop->getOperand(index)), shardings.lookup(loop->getResult(index))))
          return op->emitOpError() << "carries value " << index << ", which is " << text(shardings.lookup(value))
                                   << " after a turn and " << text(shardings.lookup(loop->getOperand(index)))
                                   << " before; expected the same";
      return success();
    }
    if (!op->hasTrait<trait::ControlsFlow>())
      return success(); // computations of elements
    for (Region &region : op->getRegions()) {
      if (failed(localizeBlock(region.front())))
        return failure();
      for (auto [index, value] : llvm::enumerate(region.front().getTerminator()->getOperands()))
        if (!alike(shardings.lookup(value), shardings.lookup(op->getResult(index))))
          return op->emitOpError() << "has result " << index << " with " << text(shardings.lookup(op->getResult(index)))
                                   << ", and a branch gives " << text(shardings.lookup(value)) << "; expected the same";
    }
    return success();
  }

  sdy::MeshAttr mesh;
  CollectiveLowering collectives;
  DenseMap<Value, sdy::TensorShardingAttr> shardings;
};

struct UpdateGlobalToLocalShapes : shlo::impl::UpdateGlobalToLocalShapesBase<UpdateGlobalToLocalShapes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<sdy::MeshOp> mesh = shlo::findMesh(module);
    if (failed(mesh))
      return signalPassFailure();
    if (!*mesh)
      return markAllAnalysesPreserved();
    if (hasGspmdAnnotations(module)) {
      emitWarning(module.getLoc()) << "update-global-to-local-shapes: left as it is: it is annotated by " << gspmdName;
      return;
    }
    // What JAX needs to know of values whose shardings are removed; annotate-xla-shardings writes it as text.
    module.walk([](stablehlo::CustomCallOp op) {
      if (op.getCallTargetName() == "InspectSharding" && op.getNumOperands() == 1)
        if (sdy::TensorShardingAttr sharding = shardingOf(op.getOperand(0)))
          op->setDiscardableAttr(gspmdName, sharding);
    });
    Localizer localizer(module, mesh->getMesh());
    SmallVector<sdy::ManualComputationOp> computations;
    module.walk<WalkOrder::PreOrder>([&](sdy::ManualComputationOp op) {
      computations.push_back(op);
      return WalkResult::skip();
    });
    for (sdy::ManualComputationOp op : computations)
      if (failed(op.getManualAxes().getValue().empty() ? localizer.run(op) : Localizer::checkLocal(op)))
        return signalPassFailure();
    module.walk([](Operation *op) { op->removeDiscardableAttr("sdy.sharding_rule"); });
    removeShardings(module);
  }
};
} // namespace
