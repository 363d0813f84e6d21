//===- ComplexTypes.cpp - tensors of complex numbers as real ones ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// Where they are visible outside - arguments, results, values that a loop carries - a tensor of complex numbers is a
// real one with one more dimension of size 2, the last. In between, it is two tensors.
//
//===----------------------------------------------------------------------===//

#include "Complex.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOCOMPLEXDATATYPECONVERSION
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

/// The elements of a tensor of complex numbers; null for other types.
static ComplexType complexOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
}

static RankedTensorType partType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

/// `tensor<3xcomplex<f32>>` -> `tensor<3x2xf32>`
static Type realType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !complexOf(type))
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return partType(type).clone(shape);
}

static bool hasComplex(TypeRange types) { return llvm::any_of(types, complexOf); }

namespace {
struct ConvertComplex : tt::impl::StableHLOComplexDataTypeConversionBase<ConvertComplex> {
  void runOnOperation() override {
    bool any = false;
    getOperation()->walk([&](Operation *op) {
      any = any || hasComplex(op->getResultTypes()) || hasComplex(op->getOperandTypes());
      if (auto function = dyn_cast<func::FuncOp>(op))
        any = any || hasComplex(function.getArgumentTypes());
    });
    if (!any)
      return markAllAnalysesPreserved();
    expandMeeting();
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      parts.clear(), joined.clear(), dead.clear();
      if (failed(convertRegion(function.getBody())))
        return signalPassFailure();
      for (Operation *op : llvm::reverse(dead))
        op->erase();
      function.setFunctionType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                                 function.getBody().front().getTerminator()->getOperandTypes()));
    }
  }

private:
  /// Replaces ops whose region combines real and imaginary parts by ops on tensors, and likewise linear algebra and its
  /// calls. Scatters with batches become scatters without, and a scatter of several updates becomes scatters of one.
  void expandMeeting() {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    RewritePatternSet expansions(&getContext());
    addLapackExpansions(expansions);
    addLinearAlgebraExpansions(expansions);
    addReflectionExpansions(expansions);
    addScatterExpansions(expansions);
    addTridiagonalExpansions(expansions);
    addWindowExpansions(expansions);
    const FrozenRewritePatternSet patterns(std::move(expansions));
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    config.enableFolding(false);
    for (int round = 0; round < 3; ++round) {
      SmallVector<Operation *> found;
      getOperation()->walk([&](Operation *op) {
        if (patterns.getOpSpecificNativePatterns().contains(op->getName()) && !op->hasTrait<trait::MovesValues>() &&
            hasComplex(op->getOperandTypes()) && !(op->hasTrait<trait::AppliesRegion>() && worksByPart(op)) &&
            llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic))
          found.push_back(op);
      });
      if (!found.empty())
        (void)applyOpPatternsGreedily(found, patterns, config);
    }
  }

  LogicalResult convertRegion(Region &region) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (complexOf(argument.getType()))
          takeOver(argument);
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(convert(&op)))
          return failure();
    }
    return success();
  }

  /// The value changes its type and stands for itself.
  void takeOver(Value value) {
    value.setType(cast<RankedTensorType>(realType(value.getType())));
    joined[value] = value;
  }

  LogicalResult convert(Operation *op) {
    if (!hasComplex(op->getResultTypes()) && !hasComplex(op->getOperandTypes()) &&
        !llvm::any_of(op->getOperands(), [&](Value operand) { return joined.contains(operand); }))
      return convertRegions(op);
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    // The op of that name would treat the parts as separate numbers; its decomposition does not.
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op)) {
      auto decomposed =
          func::CallOp::create(builder, composite.getDecomposition(), op->getResultTypes(), op->getOperands());
      op->replaceAllUsesWith(decomposed);
      op->erase();
      return convert(decomposed);
    }
    // Ops that carry values unchanged: the end of a region, a loop, a branch, a call.
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (op->hasTrait<OpTrait::IsTerminator>() || (call && call.getCallTargetName() == "tt.host_call") ||
        op->hasTrait<trait::ForwardsValues>() || isa<func::CallOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isComplex(operand.get()))
          operand.set(join(builder, operand.get()));
      for (Value result : op->getResults())
        if (complexOf(result.getType()))
          takeOver(result);
      return convertRegions(op);
    }
    if (auto shard = dyn_cast<ttir::MeshShardOp>(op)) {
      exchange(builder, shard);
      return success();
    }
    if (auto sort = dyn_cast<stablehlo::SortOp>(op))
      return convertSort(builder, sort);
    FailureOr<SmallVector<Complex>> results = compute(builder, op);
    if (failed(results))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      if (complexOf(result.getType()))
        parts.insert({result, value});
      else
        result.replaceAllUsesWith(value.re.value());
    dead.push_back(op);
    return success();
  }

  /// The parts are inputs of their own, and a comparator takes the parts of elements.
  LogicalResult convertSort(ImplicitLocOpBuilder &builder, stablehlo::SortOp op) {
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      if (!isComplex(input)) {
        inputs.push_back(input);
        continue;
      }
      Complex both = split(builder, input);
      inputs.append({both.re.value(), both.im.value()});
    }
    auto created =
        stablehlo::SortOp::create(builder, TypeRange(ValueRange(inputs)), inputs, op.getDimension(), op.getIsStable());
    created.getComparator().takeBody(op.getComparator());
    Block &body = created.getComparator().front();
    // Two arguments for the next input; the complex ones stay after them until nothing uses them.
    llvm::BitVector gone;
    unsigned place = 0;
    while (place < body.getNumArguments()) {
      BlockArgument first = body.getArgument(place), second = body.getArgument(place + 1);
      gone.resize(body.getNumArguments());
      if (!complexOf(first.getType())) {
        place += 2;
        continue;
      }
      auto part = [&] { return body.insertArgument(place++, partType(first.getType()), op.getLoc()); };
      Expr a(builder, part()), b(builder, part()), c(builder, part()), d(builder, part());
      parts.insert({first, {a, c}});
      parts.insert({second, {b, d}});
      gone.resize(body.getNumArguments());
      gone.set(place, place + 2);
      place += 2;
    }
    const size_t known = dead.size();
    for (Operation &inner : llvm::make_early_inc_range(body))
      if (failed(convert(&inner)))
        return failure();
    // Another value may have the address of one that was freed.
    auto forget = [&](Value value) {
      parts.erase(value);
      joined.erase(value);
    };
    for (; dead.size() > known; dead.pop_back()) {
      llvm::for_each(dead.back()->getResults(), forget);
      dead.back()->erase();
    }
    for (unsigned argument : gone.set_bits())
      forget(body.getArgument(argument));
    body.eraseArguments(gone);
    unsigned next = 0;
    for (Value result : op.getResults()) {
      if (complexOf(result.getType())) {
        parts.insert({result, {{builder, created->getResult(next)}, {builder, created->getResult(next + 1)}}});
        next += 2;
      } else {
        result.replaceAllUsesWith(created->getResult(next++));
      }
    }
    dead.push_back(op);
    return success();
  }

  LogicalResult convertRegions(Operation *op) {
    for (Region &region : op->getRegions())
      if (failed(convertRegion(region)))
        return failure();
    return success();
  }

  //===- Values -----------------------------------------------------------===//

  bool isComplex(Value value) const { return joined.contains(value) || complexOf(value.getType()); }

  Value join(ImplicitLocOpBuilder &builder, Value value) {
    if (Value known = joined.lookup(value))
      return known;
    Complex both = parts.find(value)->second;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(both.im.value());
    if (Operation *re = both.re.value().getDefiningOp();
        re && re->getBlock() == builder.getBlock() && !re->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(re);
    SmallVector<int64_t> shape(both.re.shape());
    shape.push_back(1);
    Expr re(builder, both.re.value()), im(builder, both.im.value());
    return joined[value] =
               re.reshape(shape).concat({im.reshape(shape)}, static_cast<int64_t>(shape.size()) - 1).value();
  }

  Complex split(ImplicitLocOpBuilder &builder, Value value) {
    auto known = parts.find(value);
    if (known != parts.end())
      return {{builder, known->second.re.value()}, {builder, known->second.im.value()}};
    Value whole = joined.lookup(value);
    Expr both(builder, whole);
    ArrayRef<int64_t> shape = both.shape().drop_back();
    const int64_t last = both.rank() - 1;
    return {both.slice(last, 0, 1).reshape(shape), both.slice(last, 1, 2).reshape(shape)};
  }

  //===- Ops --------------------------------------------------------------===//

  /// Between host and devices a tensor stays joined; its last dimension is not split.
  void exchange(ImplicitLocOpBuilder &builder, ttir::MeshShardOp op) {
    op->setOperand(0, join(builder, op.getInput()));
    if (op.getShardType() != ttcore::MeshShardType::Replicate) {
      SmallVector<int64_t> counts(op.getShardShape());
      counts.push_back(1);
      op.setShardShape(counts);
    }
    takeOver(op.getResult());
  }

  FailureOr<SmallVector<Complex>> compute(ImplicitLocOpBuilder &builder, Operation *op) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
      return op->emitError() << op->getName() << ": complex numbers in tensors of dynamic shape are not lowered";
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return constantOf(builder, constant);
    SmallVector<Complex> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isComplex(operand) ? split(builder, operand)
                                            : Complex{{builder, operand}, {builder, operand}});
    auto one = [](Complex value) { return SmallVector<Complex>{value}; };
    auto real = [&](Expr value) { return one({value, value}); };
    if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
      Expr re = Expr::iota(builder, partType(iota.getType()), static_cast<int64_t>(iota.getIotaDimension()));
      return one({re, re.number(0)});
    }
    if (operands.empty())
      return refuse(op);
    Complex first = operands.front();
    if (isa<stablehlo::ComplexOp>(op))
      return one({operands[0].re, operands[1].re});
    if (isa<stablehlo::RealOp>(op))
      return real(first.re);
    if (isa<stablehlo::ImagOp>(op))
      return real(first.im);
    if (isa<stablehlo::AbsOp>(op))
      return real(modulus(first));
    if (isa<stablehlo::ConvertOp>(op)) {
      auto to = complexOf(op->getResult(0).getType());
      if (!to)
        return real(first.re.convert(getElementTypeOrSelf(op->getResult(0).getType())));
      Expr re = first.re.convert(to.getElementType());
      return one({re, isComplex(op->getOperand(0)) ? first.im.convert(to.getElementType()) : re.number(0)});
    }
    if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
      Expr re = operands[0].re.compare(compare.getComparisonDirection(), operands[1].re),
           im = operands[0].im.compare(compare.getComparisonDirection(), operands[1].im);
      if (compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ)
        return real(re & im);
      if (compare.getComparisonDirection() == stablehlo::ComparisonDirection::NE)
        return real(re | im);
      return refuse(op);
    }
    if (isa<stablehlo::IsFiniteOp>(op))
      return refuse(op);
    if (auto transform = dyn_cast<stablehlo::FftOp>(op)) {
      for (int64_t length : transform.getFftLength())
        if (length > maxFourierLength || length < 1)
          return op->emitError() << op->getName() << ": transforms " << length << " elements; expected 1 to "
                                 << maxFourierLength;
      return one(fourier(transform.getFftType(), transform.getFftLength(), first));
    }
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && passesOn(call))
      return SmallVector<Complex>(operands);
    if (op->hasTrait<trait::Product>())
      return one(product(builder, op, operands));
    if (std::optional<Complex> value = complexFormula(op, operands))
      return one(*value);
    // An op that moves elements, or adds them, does so with each part.
    const bool moves = op->hasTrait<trait::MovesValues>() && op->getNumRegions() == 0;
    if (!moves && !(op->hasTrait<trait::AppliesRegion>() && worksByPart(op)))
      return refuse(op);
    Operation *re = clonePart(builder, op, llvm::map_to_vector(operands, [](Complex z) { return z.re.value(); })),
              *im = clonePart(builder, op, llvm::map_to_vector(operands, [](Complex z) { return z.im.value(); }));
    SmallVector<Complex> results;
    for (auto [a, b] : llvm::zip_equal(re->getResults(), im->getResults()))
      results.push_back({{builder, a}, {builder, b}});
    return results;
  }

  static LogicalResult refuse(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (call && isLapack(call.getCallTargetName()))
      return op->emitError() << op->getName() << ": " << lapackRefusal(call.getCallTargetName());
    InFlightDiagnostic error = op->emitError() << op->getName();
    if (call)
      error << " of '" << call.getCallTargetName() << "'";
    return error << ": complex numbers are not lowered here";
  }

  static FailureOr<SmallVector<Complex>> constantOf(ImplicitLocOpBuilder &builder, stablehlo::ConstantOp constant) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return refuse(constant);
    RankedTensorType type = partType(constant.getType());
    SmallVector<APFloat> re, im;
    for (std::complex<APFloat> value : elements.getValues<std::complex<APFloat>>()) {
      re.push_back(value.real());
      im.push_back(value.imag());
      if (elements.isSplat())
        break;
    }
    auto created = [&](ArrayRef<APFloat> values) {
      return Expr(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(type, values)));
    };
    return SmallVector<Complex>{{created(re), created(im)}};
  }

  /// The op with other operands, on the elements' real type.
  static Operation *clonePart(ImplicitLocOpBuilder &builder, Operation *op, ArrayRef<Value> operands) {
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    for (Type type : op->getResultTypes())
      state.addTypes(complexOf(type) ? Type(partType(type)) : type);
    state.addAttributes(op->getAttrs());
    for (Region &region : op->getRegions()) {
      Region *copy = state.addRegion();
      IRMapping mapping;
      region.cloneInto(copy, mapping);
      copy->walk([](Operation *inner) {
        for (Value result : inner->getResults())
          if (complexOf(result.getType()))
            result.setType(partType(result.getType()));
      });
      for (BlockArgument argument : copy->getArguments())
        if (complexOf(argument.getType()))
          argument.setType(partType(argument.getType()));
    }
    return builder.create(state);
  }

  /// Whether the region adds, or returns one of its arguments: the parts do not mix.
  static bool worksByPart(Operation *op) {
    Block &body = op->getRegion(0).front();
    return llvm::all_of(body.without_terminator(), [](Operation &inner) { return isa<stablehlo::AddOp>(inner); });
  }

  static Complex product(ImplicitLocOpBuilder &builder, Operation *op, ArrayRef<Complex> x) {
    auto created = [&](Expr a, Expr b) {
      return Expr(builder, clonePart(builder, op, {a.value(), b.value()})->getResult(0));
    };
    return {created(x[0].re, x[1].re) - created(x[0].im, x[1].im),
            created(x[0].re, x[1].im) + created(x[0].im, x[1].re)};
  }

  DenseMap<Value, Complex> parts;
  DenseMap<Value, Value> joined;
  SmallVector<Operation *> dead;
};
} // namespace
