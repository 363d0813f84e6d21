//===- Decompositions.cpp - decompositions of ops without a TTNN equivalent -===//
// SPDX-License-Identifier: Apache-2.0
//
// Products over any dimensions, bits and truth values.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "../Complement.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SignbitOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTLangOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/BitcastConvertOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/BitwiseNotOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LessThanOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LogicalRightShiftOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/NotEqualOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/WhereOp.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// One side of a product; its dimensions are grouped by their role.
struct ProductSide {
  ProductSide(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted)
      : value(value), shape(shapeOf(value)), batch(batch), contracted(contracted) {
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
        free.push_back(dim);
  }

  int64_t size(ArrayRef<int64_t> dims) const {
    return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                           [&](int64_t product, int64_t dim) { return product * shape[dim]; });
  }
  static bool inOrder(ArrayRef<int64_t> first, ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
    int64_t next = 0;
    for (ArrayRef<int64_t> dims : {first, second, third})
      for (int64_t dim : dims)
        if (dim != next++)
          return false;
    return true;
  }
  /// [batch, rows, columns], or [rows, columns] without a batch.
  Value matrices(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) const {
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, rows);
    llvm::append_range(order, columns);
    return reshape(builder, permute(builder, value, order), matrixShape(size(rows), size(columns)));
  }
  SmallVector<int64_t> matrixShape(int64_t rows, int64_t columns) const {
    return batch.empty() ? SmallVector<int64_t>{rows, columns} : SmallVector<int64_t>{size(batch), rows, columns};
  }

  Value value;
  ArrayRef<int64_t> shape, batch, contracted;
  SmallVector<int64_t> free;
};

/// A matmul of matrices whose rows and columns are the folded free dimensions.
struct LowerDotGeneral : OpConversionPattern<ttir::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    ProductSide lhs(adaptor.getLhs(), op.getBatchDimsLhs(), op.getContractDimsLhs());
    ProductSide rhs(adaptor.getRhs(), op.getBatchDimsRhs(), op.getContractDimsRhs());
    // A matrix that is stored transposed is read as such instead of being moved.
    bool transposeA = ProductSide::inOrder(lhs.batch, lhs.contracted, lhs.free);
    bool transposeB = ProductSide::inOrder(rhs.batch, rhs.free, rhs.contracted);
    Value a =
        transposeA ? lhs.matrices(builder, lhs.contracted, lhs.free) : lhs.matrices(builder, lhs.free, lhs.contracted);
    Value b =
        transposeB ? rhs.matrices(builder, rhs.free, rhs.contracted) : rhs.matrices(builder, rhs.contracted, rhs.free);
    RankedTensorType type = typeLike(op.getResult(), lhs.matrixShape(lhs.size(lhs.free), rhs.size(rhs.free)));
    auto product = MatmulOp::create(builder, type, a, b, transposeA, transposeB, /*matmul_program_config=*/nullptr,
                                    /*activation=*/nullptr, /*compute_config=*/nullptr);
    ttcore::passAnnotationsOn(op, product);
    rewriter.replaceOp(op, reshape(builder, product, typeOf(op.getResult())));
    return success();
  }
};

/// TTNN's bias broadcasts to the product. If the product broadcasts to the bias, the bias is added afterwards.
struct LowerLinear : OpConversionPattern<ttir::LinearOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::LinearOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    ttir::MatmulOp::Properties properties{op.getTransposeAAttr(), op.getTransposeBAttr()};
    if (failed(ttir::MatmulOp::inferReturnTypes(op.getContext(), op.getLoc(), {op.getA(), op.getB()}, {}, &properties,
                                                {}, types)))
      return notifyMatchFailure(rewriter, op, "its operands make no product");
    ArrayRef<int64_t> shape = cast<RankedTensorType>(types.front()).getShape();
    RankedTensorType result = typeOf(op.getResult());
    if (!op.getBias() || shape == result.getShape()) {
      rewriter.replaceOpWithNewOp<LinearOp>(op, TypeRange(result), adaptor.getOperands(), passedOn(op));
      return success();
    }
    // Floats are rounded once, after the sum.
    RankedTensorType type = isa<FloatType>(result.getElementType())
                                ? typeLike(op.getResult(), shape, ttcore::DataType::Float32)
                                : typeLike(op.getResult(), shape);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto product = MatmulOp::create(builder, type, adaptor.getA(), adaptor.getB(), op.getTransposeAAttr(),
                                    op.getTransposeBAttr(), /*matmul_program_config=*/nullptr,
                                    /*activation=*/nullptr, /*compute_config=*/nullptr);
    ttcore::passAnnotationsOn(op, product);
    rewriter.replaceOp(op, make<AddOp>(builder, result, {product, adaptor.getBias()}));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Bits and truth values
//===----------------------------------------------------------------------===//

static Value as(ImplicitLocOpBuilder &builder, Value value, ttcore::DataType type) {
  return TypecastOp::create(builder, typeLike(value, shapeOf(value), type), value,
                            ttcore::DataTypeAttr::get(builder.getContext(), type));
}

/// value < 0 as f32; the compared value must be exact in f32 up to its sign.
static Value isNegative(ImplicitLocOpBuilder &builder, Value device, Value value, RankedTensorType type) {
  Value zero = scalar(builder, device, 0, shapeOf(value).size(), value);
  return make<LessThanOp>(builder, type, {as(builder, value, ttcore::DataType::Float32), zero});
}

namespace {
/// The sign bit of the f32, which -0 and NaN have as well.
struct LowerSignbit : OpConversionPattern<ttir::SignbitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::SignbitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value x = adaptor.getInput();
    if (!typeOf(x).getElementType().isF32())
      x = as(builder, x, ttcore::DataType::Float32);
    Value bits =
        make<BitcastConvertOp>(builder, typeLike(op.getInput(), shapeOf(x), ttcore::DataType::Int32), ValueRange(x));
    rewriter.replaceOp(op, isNegative(builder, device, bits, typeOf(op.getResult())));
    return success();
  }
};

/// Shifts in copies of the sign: negative numbers are inverted before and after.
struct LowerRightShift : OpConversionPattern<ttir::RightShiftOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::RightShiftOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value x = adaptor.getLhs(), distance = adaptor.getRhs();
    RankedTensorType type = typeOf(op.getResult());
    Value negative = isNegative(builder, device, x, typeLike(x, shapeOf(x), ttcore::DataType::Float32));
    Value inverted = make<BitwiseNotOp>(builder, typeOf(x), x);
    Value shifted = make<BitwiseNotOp>(builder, type, make<LogicalRightShiftOp>(builder, type, {inverted, distance}));
    Value plain = make<LogicalRightShiftOp>(builder, type, {x, distance});
    rewriter.replaceOp(op, make<WhereOp>(builder, type, {negative, shifted, plain}));
    return success();
  }
};

/// The minimum, or maximum, of 0 for false and 1 for true.
template <class From, class To> struct LowerTruth : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value x = adaptor.getInput();
    if (llvm::is_contained(shapeOf(x), 0)) {
      // Over no elements, `all` is true and `any` is false; their extremes are infinities.
      const float truth = std::is_same_v<From, ttir::ReduceAndOp> ? 1 : 0;
      rewriter.replaceOpWithNewOp<FullOp>(op, op.getType(), device,
                                          ShapeAttr::get(op.getContext(), shapeOf(op.getResult())),
                                          rewriter.getF32FloatAttr(truth), /*dtype=*/nullptr);
      return success();
    }
    Value zero = scalar(builder, device, 0, shapeOf(x).size(), x);
    Value truth = make<NotEqualOp>(builder, typeLike(x, shapeOf(x), ttcore::DataType::Float32), {x, zero});
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), truth, op.getKeepDimAttr(), op.getDimArgAttr(),
                                    /*compute_config=*/nullptr);
    return success();
  }
};
} // namespace

void ttnn::addDecompositionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDotGeneral, LowerRightShift, LowerSignbit, LowerTruth<ttir::ReduceAndOp, MinOp>,
               LowerTruth<ttir::ReduceOrOp, MaxOp>>(patterns.getContext());
  patterns.add(std::make_unique<NoLowering>(patterns.getContext(), ttir::TTLangOp::getOperationName(),
                                            "kernels of tt-lang are source, which nothing here compiles"));
  patterns.addWithLabel<NegateBoolean>({BitwiseNotOp::getOperationName()}, patterns.getContext());
  patterns.addWithLabel<LowerLinear>({LinearOp::getOperationName()}, patterns.getContext());
}
