//===- Scans.cpp - scans and products of groups ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
//===----------------------------------------------------------------------===//
// chlo.scan
//===----------------------------------------------------------------------===//

/// A loop that reads a slice of each input and writes a slice of each output.
struct ExpandScan : OpRewritePattern<chlo::ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::ScanOp op, PatternRewriter &rewriter) const override {
    const int64_t turns = op.getScanSize(), dimension = static_cast<int64_t>(op.getDimension());
    if (ShapedType::isDynamic(turns) || turns > INT32_MAX)
      return failure();
    Location loc = op.getLoc();
    ImplicitLocOpBuilder builder(loc, rewriter);
    auto counter = RankedTensorType::get({}, builder.getI32Type());
    SmallVector<Value> start = {stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(counter, int32_t(0)))};
    for (Value output : op.getOutputs()) {
      auto scalar = RankedTensorType::get({}, typeOf(output).getElementType());
      Attribute zero = builder.getZeroAttr(scalar.getElementType());
      if (!zero)
        return failure();
      Expr filled(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(scalar, zero)));
      start.push_back(filled.spread(typeOf(output).getShape()).value());
    }
    llvm::append_range(start, op.getInits());
    if (turns == 0) {
      rewriter.replaceOp(op, ArrayRef(start).drop_front());
      return success();
    }

    SmallVector<Type> types = llvm::to_vector(TypeRange(ValueRange(start)));
    SmallVector<Location> locations(types.size(), loc);
    auto loop = stablehlo::WhileOp::create(builder, types, start);
    Block *cond = builder.createBlock(&loop.getCond(), {}, types, locations);
    Expr number(builder, cond->getArgument(0));
    stablehlo::ReturnOp::create(builder, (number < static_cast<double>(turns)).value());

    Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
    number = Expr(builder, body->getArgument(0));
    Expr index = op.getIsReverse() ? static_cast<double>(turns - 1) - number : number;
    Value zero = index.number(0).value();
    auto startsOf = [&](RankedTensorType type) {
      SmallVector<Value> starts(type.getRank(), zero);
      starts[dimension] = index.value();
      return starts;
    };
    IRMapping mapping;
    Block &given = op.getBody().front();
    for (auto [argument, input] : llvm::zip(given.getArguments(), op.getInputs())) {
      RankedTensorType type = typeOf(input);
      SmallVector<int64_t> sizes(type.getShape());
      sizes[dimension] = 1;
      Expr slice(builder, stablehlo::DynamicSliceOp::create(builder, type.clone(sizes), input, startsOf(type), sizes));
      mapping.map(argument, slice.reshape(typeOf(argument).getShape()).value());
    }
    const size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
    for (size_t i = 0; i < op.getInits().size(); ++i)
      mapping.map(given.getArgument(inputs + i), body->getArgument(1 + outputs + i));
    for (Operation &inner : given.without_terminator())
      builder.clone(inner, mapping);
    SmallVector<Value> next = {(number + 1).value()};
    for (auto [i, value] : llvm::enumerate(given.getTerminator()->getOperands())) {
      Value result = mapping.lookup(value);
      if (i < outputs) {
        RankedTensorType type = typeOf(op.getOutputs()[i]);
        SmallVector<int64_t> sizes(type.getShape());
        sizes[dimension] = 1;
        result = stablehlo::DynamicUpdateSliceOp::create(builder, type, body->getArgument(1 + i),
                                                         Expr(builder, result).reshape(sizes).value(), startsOf(type));
      }
      next.push_back(result);
    }
    stablehlo::ReturnOp::create(builder, next);
    rewriter.replaceOp(op, loop->getResults().drop_front());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// chlo.ragged_dot
//===----------------------------------------------------------------------===//

/// Returns a mask of the elements of the ragged dimension by group: [b..., g, ragged] of sizes [b..., g].
Expr groupMask(Expr sizes, int64_t ragged) {
  ImplicitLocOpBuilder &builder = sizes.build();
  const int64_t rank = sizes.rank(), groups = sizes.size(rank - 1);
  // The end of a group is the sum of the sizes up to it: a product with a triangle of ones, exact below 2^24.
  auto triangle = RankedTensorType::get({groups, groups}, builder.getI32Type());
  Expr upTo = (Expr::iota(builder, triangle, 0) <= Expr::iota(builder, triangle, 1)).convert(builder.getF32Type());
  Expr numbers = sizes.convert(builder.getF32Type());
  auto contract = stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), {}, {}, {rank - 1}, {0});
  Expr ends(builder, stablehlo::DotGeneralOp::create(builder, numbers.type(), numbers.value(), upTo.value(), contract,
                                                     ArrayAttr(), stablehlo::DotAlgorithmAttr()));
  SmallVector<int64_t> shape(sizes.shape());
  shape.push_back(ragged);
  SmallVector<int64_t> places = llvm::to_vector(llvm::seq(rank));
  Expr first = (ends - numbers).broadcast(shape, places), last = ends.broadcast(shape, places);
  Expr position = Expr::iota(builder, first.type(), rank);
  return (position >= first) & (position < last);
}

struct ExpandRaggedDot : OpRewritePattern<chlo::RaggedDotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::RaggedDotOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr lhs(builder, op.getLhs()), sizes(builder, op.getGroupSizes());
    chlo::RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
    const int64_t ragged = numbers.getLhsRaggedDimensions().front();
    ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
    const bool isContracting = llvm::is_contained(numbers.getLhsContractingDimensions(), ragged);
    SmallVector<int64_t> lhsBatching(batching), lhsContracting(numbers.getLhsContractingDimensions()),
        rhsContracting(numbers.getRhsContractingDimensions());
    const bool isBatching = llvm::is_contained(batching, ragged);
    if (!isBatching) {
      // Sizes for all batches, or for each.
      const bool forEach = sizes.rank() == static_cast<int64_t>(batching.size()) + 1;
      if (sizes.rank() != 1 && !forEach)
        return failure();
      for (auto [i, dimension] : llvm::enumerate(batching))
        if (forEach && sizes.size(static_cast<int64_t>(i)) != lhs.size(dimension))
          return failure();
      // lhs for each group, with zeros elsewhere: the group is the first dimension.
      SmallVector<int64_t> shape = {sizes.shape().back()}, maskPlaces, lhsPlaces;
      llvm::append_range(shape, lhs.shape());
      if (forEach)
        for (int64_t dimension : batching)
          maskPlaces.push_back(dimension + 1);
      maskPlaces.push_back(0);
      maskPlaces.push_back(ragged + 1);
      for (int64_t dimension = 0; dimension < lhs.rank(); ++dimension)
        lhsPlaces.push_back(dimension + 1);
      Expr mask = groupMask(sizes, lhs.size(ragged)).broadcast(shape, maskPlaces);
      Expr spread = lhs.broadcast(shape, lhsPlaces);
      lhs = mask.select(spread, spread.number(0));
      for (SmallVector<int64_t> *list : {&lhsBatching, &lhsContracting})
        for (int64_t &dimension : *list)
          ++dimension;
      if (!isContracting) {
        lhsContracting.insert(lhsContracting.begin(), 0);
        rhsContracting.insert(rhsContracting.begin(), numbers.getRhsGroupDimensions().front());
      }
    }
    auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
        getContext(), lhsBatching, numbers.getRhsBatchingDimensions(), lhsContracting, rhsContracting);
    // dot_general places batch dimensions before the group.
    RankedTensorType type = typeOf(op.getResult());
    SmallVector<int64_t> shape(type.getShape()), order = llvm::to_vector(llvm::seq(type.getRank()));
    const auto batches = static_cast<int64_t>(batching.size());
    if (isContracting) {
      std::rotate(shape.begin(), shape.begin() + 1, shape.begin() + 1 + batches);
      std::rotate(order.begin(), order.begin() + batches, order.begin() + batches + 1);
    }
    Expr product(builder, stablehlo::DotGeneralOp::create(builder, type.clone(shape), lhs.value(), op.getRhs(),
                                                          dimensions, ArrayAttr(), stablehlo::DotAlgorithmAttr()));
    rewriter.replaceOp(op, isContracting && batches ? product.transpose(order).value() : product.value());
    return success();
  }
};
} // namespace

void hlo::addScanExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandRaggedDot, ExpandScan>(patterns.getContext());
}
