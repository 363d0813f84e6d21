//===- ShapeDialect.cpp - shapes as tensors of StableHLO ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A size is a scalar of i32, a shape a row of them, and a witness an assertion in its original position.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_SHAPELEGALIZETOSTABLEHLO
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
/// Numbers of i32, as scalars.
class Sizes {
public:
  explicit Sizes(ImplicitLocOpBuilder &builder) : builder(builder) {}

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getI32Type()); }
  Value number(int64_t value) {
    return stablehlo::ConstantOp::create(
        builder, DenseElementsAttr::get(type({}), builder.getI32IntegerAttr(static_cast<int32_t>(value))));
  }
  Value extent(Value tensor, int64_t dimension) {
    auto ranked = cast<RankedTensorType>(tensor.getType());
    if (!ranked.isDynamicDim(dimension))
      return number(ranked.getDimSize(dimension));
    return stablehlo::GetDimensionSizeOp::create(builder, type({}), tensor, static_cast<uint64_t>(dimension));
  }
  Value row(ArrayRef<Value> sizes) {
    const auto count = static_cast<int64_t>(sizes.size());
    if (sizes.empty())
      return stablehlo::ConstantOp::create(builder, DenseIntElementsAttr::get(type({0}), ArrayRef<int32_t>()));
    SmallVector<Value> parts;
    for (Value size : sizes)
      parts.push_back(stablehlo::ReshapeOp::create(builder, type({1}), size));
    return count == 1 ? parts.front()
                      : Value(stablehlo::ConcatenateOp::create(builder, type({count}), parts, uint64_t{0}));
  }
  SmallVector<Value> of(Value row) {
    SmallVector<Value> sizes;
    for (int64_t i = 0, count = cast<RankedTensorType>(row.getType()).getDimSize(0); i < count; ++i) {
      Value part = stablehlo::SliceOp::create(builder, type({1}), row, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{i + 1},
                                              ArrayRef<int64_t>{1});
      sizes.push_back(stablehlo::ReshapeOp::create(builder, type({}), part));
    }
    return sizes;
  }
  template <class OpT> Value apply(Value a, Value b) { return OpT::create(builder, a.getType(), ValueRange{a, b}); }
  Value isEqual(Value a, Value b) {
    return stablehlo::CompareOp::create(builder, type({}).clone(builder.getI1Type()), a, b,
                                        stablehlo::ComparisonDirection::EQ, stablehlo::ComparisonTypeAttr());
  }
  Value truth() {
    return stablehlo::ConstantOp::create(
        builder, DenseElementsAttr::get(type({}).clone(builder.getI1Type()), builder.getBoolAttr(true)));
  }

  /// Extents of 1 yield to the other size; if ranks differ, ones are added in front.
  Value broadcast(ArrayRef<Value> shapes) {
    SmallVector<SmallVector<Value>> all = aligned(shapes);
    SmallVector<Value> result = all.front();
    for (ArrayRef<Value> other : ArrayRef(all).drop_front())
      for (auto [a, b] : llvm::zip_equal(result, other))
        a = stablehlo::SelectOp::create(builder, a.getType(), isEqual(a, number(1)), b, a);
    return row(result);
  }
  Value areBroadcastable(ArrayRef<Value> shapes) {
    SmallVector<SmallVector<Value>> all = aligned(shapes);
    Value result = truth();
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i + 1; j < all.size(); ++j)
        for (auto [a, b] : llvm::zip_equal(all[i], all[j])) {
          Value isOne = apply<stablehlo::OrOp>(isEqual(a, number(1)), isEqual(b, number(1)));
          result = apply<stablehlo::AndOp>(result, apply<stablehlo::OrOp>(isEqual(a, b), isOne));
        }
    return result;
  }
  Value areEqual(ArrayRef<Value> shapes) {
    Value result = truth();
    SmallVector<Value> first = of(shapes.front());
    for (Value shape : shapes.drop_front()) {
      SmallVector<Value> other = of(shape);
      if (other.size() != first.size())
        return apply<stablehlo::XorOp>(truth(), truth());
      for (auto [a, b] : llvm::zip_equal(first, other))
        result = apply<stablehlo::AndOp>(result, isEqual(a, b));
    }
    return result;
  }
  void require(Value holds, StringRef message) {
    const NamedAttribute attributes[] = {
        builder.getNamedAttr("call_target_name", builder.getStringAttr("shape_assertion")),
        builder.getNamedAttr("has_side_effect", builder.getBoolAttr(true)),
        builder.getNamedAttr("error_message", builder.getStringAttr(message))};
    stablehlo::CustomCallOp::create(builder, TypeRange(), ValueRange{holds}, attributes);
  }

private:
  SmallVector<SmallVector<Value>> aligned(ArrayRef<Value> shapes) {
    SmallVector<SmallVector<Value>> all = llvm::map_to_vector(shapes, [&](Value shape) { return of(shape); });
    size_t rank = 0;
    for (const SmallVector<Value> &shape : all)
      rank = std::max(rank, shape.size());
    for (SmallVector<Value> &shape : all)
      while (shape.size() < rank)
        shape.insert(shape.begin(), number(1));
    return all;
  }

  ImplicitLocOpBuilder &builder;
};

struct ShapeLegalize : shlo::impl::ShapeLegalizeToStablehloBase<ShapeLegalize> {
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<shape::ShapeDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>())
        found.push_back(op);
    });
    if (found.empty())
      return markAllAnalysesPreserved();
    // The body of a region that assumes something comes first.
    for (Operation *op : found) {
      ImplicitLocOpBuilder builder(op->getLoc(), op);
      if (failed(convert(builder, op)))
        return signalPassFailure();
    }
    for (Operation *op : llvm::reverse(found))
      replace(op);
  }

private:
  /// The tensor of a size or shape, or null if its rank is not known.
  Value tensorOf(ImplicitLocOpBuilder &builder, Value value) {
    if (Value known = converted.lookup(value))
      return known;
    IntegerAttr number;
    if (matchPattern(value, m_Constant(&number)))
      return Sizes(builder).number(number.getInt());
    Type type = value.getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getElementType().isInteger(32))
      return value;
    RankedTensorType into;
    if (type.isIndex() || isa<shape::SizeType>(type))
      into = Sizes(builder).type({});
    else if (tensor && tensor.getElementType().isIndex() && tensor.getRank() == 1 && tensor.hasStaticShape())
      into = Sizes(builder).type(tensor.getShape());
    if (!into)
      return {};
    return UnrealizedConversionCastOp::create(builder, TypeRange(into), value).getResult(0);
  }

  static std::optional<int64_t> constantOf(Value value) {
    IntegerAttr number;
    if (matchPattern(value, m_Constant(&number)))
      return number.getInt();
    return std::nullopt;
  }

  LogicalResult convert(ImplicitLocOpBuilder &builder, Operation *op) {
    Sizes sizes(builder);
    if (isa<shape::AssumingOp, shape::AssumingAllOp, shape::ConstWitnessOp>(op))
      return success();
    auto refuse = [&](StringRef why) { return op->emitOpError("is not expressed in StableHLO: ") << why; };
    if (auto constant = dyn_cast<shape::ConstShapeOp>(op)) {
      converted[constant] = sizes.row(llvm::map_to_vector(
          constant.getShape().getValues<APInt>(), [&](APInt size) { return sizes.number(size.getSExtValue()); }));
      return success();
    }
    if (auto constant = dyn_cast<shape::ConstSizeOp>(op)) {
      converted[constant] = sizes.number(constant.getValue().getSExtValue());
      return success();
    }
    if (isa<shape::ShapeOfOp, shape::DimOp>(op)) {
      auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      if (!type)
        return refuse("its operand is no ranked tensor");
      if (isa<shape::ShapeOfOp>(op)) {
        converted[op->getResult(0)] = sizes.row(llvm::map_to_vector(
            llvm::seq(type.getRank()), [&](int64_t d) { return sizes.extent(op->getOperand(0), d); }));
        return success();
      }
      std::optional<int64_t> index = constantOf(op->getOperand(1));
      if (!index || *index < 0 || *index >= type.getRank())
        return refuse("its index is no constant below the rank");
      converted[op->getResult(0)] = sizes.extent(op->getOperand(0), *index);
      return success();
    }
    if (auto require = dyn_cast<shape::CstrRequireOp>(op)) {
      auto type = RankedTensorType::get({}, builder.getI1Type());
      Value holds = converted.lookup(require.getPred());
      if (!holds)
        holds = UnrealizedConversionCastOp::create(builder, TypeRange(type), require.getPred()).getResult(0);
      sizes.require(holds, require.getMsg());
      return success();
    }

    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tensorOf(builder, operand));
    if (operands.empty() && !isa<shape::FromExtentsOp>(op))
      return refuse("there is no lowering for it");
    if (llvm::is_contained(operands, Value()))
      return refuse("the rank of a shape is not known");
    Value result =
        TypeSwitch<Operation *, Value>(op)
            .Case<shape::ToExtentTensorOp, shape::FromExtentTensorOp, shape::SizeToIndexOp, shape::IndexToSizeOp,
                  shape::ValueAsShapeOp>([&](Operation *) { return operands.front(); })
            .Case([&](shape::FromExtentsOp) { return sizes.row(operands); })
            .Case([&](shape::RankOp) {
              return sizes.number(cast<RankedTensorType>(operands.front().getType()).getDimSize(0));
            })
            .Case([&](shape::NumElementsOp) {
              Value product = sizes.number(1);
              for (Value size : sizes.of(operands.front()))
                product = sizes.apply<stablehlo::MulOp>(product, size);
              return product;
            })
            .Case([&](shape::GetExtentOp) -> Value {
              std::optional<int64_t> index = constantOf(op->getOperand(1));
              SmallVector<Value> all = sizes.of(operands.front());
              return index && *index >= 0 && *index < static_cast<int64_t>(all.size()) ? all[*index] : Value();
            })
            .Case([&](shape::ConcatOp) {
              SmallVector<Value> both = sizes.of(operands[0]);
              llvm::append_range(both, sizes.of(operands[1]));
              return sizes.row(both);
            })
            .Case([&](shape::BroadcastOp) { return sizes.broadcast(operands); })
            .Case<shape::IsBroadcastableOp, shape::CstrBroadcastableOp>(
                [&](Operation *) { return sizes.areBroadcastable(operands); })
            .Case<shape::ShapeEqOp, shape::CstrEqOp>([&](Operation *) { return sizes.areEqual(operands); })
            .Case([&](shape::AddOp) { return sizes.apply<stablehlo::AddOp>(operands[0], operands[1]); })
            .Case([&](shape::MulOp) { return sizes.apply<stablehlo::MulOp>(operands[0], operands[1]); })
            .Case([&](shape::DivOp) { return sizes.apply<stablehlo::DivOp>(operands[0], operands[1]); })
            .Case([&](shape::MinOp) { return sizes.apply<stablehlo::MinOp>(operands[0], operands[1]); })
            .Case([&](shape::MaxOp) { return sizes.apply<stablehlo::MaxOp>(operands[0], operands[1]); })
            .Default(Value());
    if (!result)
      return refuse("there is no lowering for it");
    if (isa<shape::CstrBroadcastableOp>(op))
      sizes.require(result, "Shapes cannot be broadcast to a common one");
    else if (isa<shape::CstrEqOp>(op))
      sizes.require(result, "Shapes are not equal");
    else
      converted[op->getResult(0)] = result;
    return success();
  }

  /// Removes the op; users in other dialects see its type, unless they accept any integers.
  void replace(Operation *op) {
    if (auto assuming = dyn_cast<shape::AssumingOp>(op)) {
      Block &body = assuming.getDoRegion().front();
      Operation *terminator = body.getTerminator();
      op->replaceAllUsesWith(terminator->getOperands());
      terminator->erase();
      op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
      op->erase();
      return;
    }
    if (op->getNumResults() == 1 && !op->use_empty()) {
      Value result = op->getResult(0);
      if (Value tensor = converted.lookup(result)) {
        Value back;
        for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
          if (isa<stablehlo::StablehloDialect>(use.getOwner()->getDialect()) &&
              isa<RankedTensorType>(result.getType())) {
            use.set(tensor);
            continue;
          }
          if (!back) {
            OpBuilder builder(op);
            back = UnrealizedConversionCastOp::create(builder, op->getLoc(), TypeRange(result.getType()), tensor)
                       .getResult(0);
          }
          use.set(back);
        }
      }
    }
    // Ops that were removed before use witnesses.
    if (op->use_empty())
      op->erase();
  }

  DenseMap<Value, Value> converted;
};
} // namespace
