//===- Matmul.cpp - products as generics ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Composites/Shapes.h"
#include "Generics.h"
#include "Patterns.h"
#include "TileExpressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalLeftShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalRightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>
#include <optional>
#include <type_traits>

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t tileSize = 32;
/// Bytes of L1 per core that the circular buffers for operands of a product may take.
static constexpr int64_t ringLimit = 512 << 10;
static constexpr int64_t f32TileBytes = 4096;

/// All dimensions but the last two.
static ArrayRef<int64_t> batchOf(RankedTensorType type) { return type.getShape().drop_back(2); }

/// The index of a matrix among those of an operand, from the index of the result's matrix.
static AffineExpr batchExpr(AffineExpr number, ArrayRef<int64_t> result, ArrayRef<int64_t> operand) {
  AffineExpr batch = getAffineConstantExpr(0, number.getContext());
  int64_t behind = 1, stride = 1;
  for (size_t i = 0; i < operand.size(); ++i) {
    const int64_t size = result[result.size() - 1 - i];
    if (operand[operand.size() - 1 - i] != 1) {
      batch = batch + (number.floorDiv(behind) % size) * stride;
      stride *= size;
    }
    behind *= size;
  }
  return batch;
}

/// Whether all matrices of a batch are multiplied by the same matrix, so that their rows form one product.
static bool isOneProduct(RankedTensorType a, RankedTensorType b, RankedTensorType out) {
  return ShapedType::getNumElements(batchOf(b)) == 1 &&
         ShapedType::getNumElements(batchOf(a)) == ShapedType::getNumElements(batchOf(out));
}

namespace {
struct LowerMatmul : TilePattern<ttir::MatmulOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(ttir::MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType a = op.getA().getType(), b = op.getB().getType(), out = op.getType();
    const auto isFloat = [](RankedTensorType type) { return isa<FloatType>(type.getElementType()); };
    if (isFloat(a) != isFloat(b) || isFloat(a) != isFloat(out))
      return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
        reason << "it multiplies " << a.getElementType() << " and " << b.getElementType() << " to "
               << out.getElementType() << "; expected floats, or integers";
      });
    if (a.getRank() < 2 || b.getRank() < 2) {
      multiplyMatrices(op, rewriter);
      return success();
    }
    if (!isFloat(out)) {
      rewriter.replaceOp(op, multiplyIntegers(op, rewriter));
      return success();
    }
    if (alignOperands(op, rewriter))
      return success();

    MLIRContext *context = op.getContext();
    Placement target = placeOf(types, out), left = placeOf(types, a);
    const int64_t bDim = b.getRank() - 2;
    const int64_t inner = llvm::divideCeil(a.getShape().back(), tileSize);
    const int64_t outer = b.getDimSize(op.getTransposeB() ? bDim : bDim + 1);
    const int64_t rows = llvm::divideCeil(out.getDimSize(out.getRank() - 2), tileSize);
    const int64_t bBatch = ShapedType::getNumElements(batchOf(b));
    const bool isFlat = isOneProduct(a, b, out);
    Product product;
    int64_t blockRows = isFlat ? target.tiles[0] : std::gcd(target.tiles[0], rows);
    int64_t blockColumns = target.tiles[1];
    const auto tileBytes = static_cast<int64_t>(left.tile().getSizeBytes());
    // The L1 that the parts of the operands and of the result leave.
    const auto partBytes = [](const Placement &placed) {
      return placed.tiles[0] * placed.tiles[1] * static_cast<int64_t>(placed.tile().getSizeBytes());
    };
    const int64_t coreBytes = types.options.coreBytes, mostRingBytes = std::min(ringLimit, coreBytes / 5 * 2);
    int64_t room = coreBytes - partBytes(left) - partBytes(placeOf(types, b)) - partBytes(target);
    const int64_t ringBytes = types.options.blocks == d2m::BufferSizePolicy::Max ? coreBytes : mostRingBytes;
    if (room < mostRingBytes / 4) // then parts lie in DRAM
      room = coreBytes / 2;
    if ((blockRows + blockColumns) * inner * tileBytes > std::min(room, ringBytes)) {
      // Sums of several blocks of K are kept in f32, for as many rows at a time as leave room for the operands.
      // Registers add a block's products to the sums of a buffer, and write to a second one.
      const int64_t sumCount = types.options.accumulatesInL1 ? 1 : 3;
      const auto sumBytes = [&] { return blockRows * blockColumns * f32TileBytes * sumCount; };
      for (int64_t rowsThere = blockRows; sumBytes() > room / 2 && blockRows > 1;)
        do
          --blockRows;
        while (rowsThere % blockRows);
      if (sumBytes() > room)
        while (sumBytes() > room / 2 && blockColumns > 1)
          do
            --blockColumns;
          while (target.tiles[1] % blockColumns);
      room -= sumBytes();
    }
    if (types.options.blocks == d2m::BufferSizePolicy::Min)
      blockRows = blockColumns = 1;
    const int64_t blockInner = types.options.blocks == d2m::BufferSizePolicy::Min
                                   ? 1
                                   : innerBlock(inner, (blockRows + blockColumns) * tileBytes,
                                                std::clamp<int64_t>(room, 0, ringBytes), types.options.streamBuffers);
    product.steps = inner / blockInner;
    product.transposeB = op.getTransposeB();
    product.isShared = isFlat;
    product.columnsFirst = types.options.columnsFirst;
    product.accumulatesInL1 = types.options.accumulatesInL1;

    const auto dim = [&](unsigned number) { return getAffineDimExpr(number, context); };
    AffineExpr aRow = dim(0) * blockRows + dim(2);
    if (!isFlat)
      aRow = batchExpr(aRow.floorDiv(rows), batchOf(out), batchOf(a)) * rows + aRow % rows;
    product.a = {adaptor.getA(),
                 {target.grid[0] * target.tiles[0] / blockRows, product.steps},
                 {blockRows, blockInner},
                 AffineMap::get(4, 0, {aRow, dim(1) * blockInner + dim(3)}, context)};
    AffineExpr bRow = dim(0) * blockInner + dim(2), bColumn = dim(1) * blockColumns + dim(3);
    if (op.getTransposeB()) {
      bRow = dim(0).floorDiv(product.steps) * llvm::divideCeil(outer, tileSize) + bColumn;
      bColumn = dim(0) % product.steps * blockInner + dim(2);
    }
    product.b = {adaptor.getB(),
                 {bBatch * product.steps, target.grid[1] * target.tiles[1] / blockColumns},
                 {blockInner, blockColumns},
                 AffineMap::get(4, 0, {bRow, bColumn}, context)};
    AffineExpr number = (dim(0) * blockRows).floorDiv(rows);
    product.bRow = AffineMap::get(2, 0, batchExpr(number, batchOf(out), batchOf(b)) * product.steps + dim(1), context);
    product.a.buffers = product.b.buffers = types.options.streamBuffers;
    Value output = memref::AllocOp::create(rewriter, op.getLoc(), target.tiled);
    createMatmul(rewriter, op.getLoc(), product, output);
    rewriter.replaceOp(op, output);
    return success();
  }

private:
  /// Returns a product of integers, modulo 2^bits: the sum of the shifted products of pieces. One fidelity phase
  /// multiplies 7 bits of the left operand by 5 of the right one, so that the result is the same in any fidelity; f32
  /// holds the sums of 4096 such products.
  Value multiplyIntegers(ttir::MatmulOp op, OpBuilder &builder) const {
    constexpr int64_t exactSteps = 4096, leftBits = 7, rightBits = 5;
    TileExpressions e(builder, op.getLoc(), types);
    const auto bitsOf = [](Type element) { return static_cast<int64_t>(element.getIntOrFloatBitWidth()); };
    const auto shifted = [&](auto tag, Tensor x, int64_t bits) {
      using Op = typename decltype(tag)::type;
      if (bits == 0)
        return x;
      return e(Op::create(builder, e.loc, x.type(), x.value, e.full(static_cast<double>(bits), x).value));
    };
    const auto lowBits = [&](Tensor x, int64_t bits) {
      const double mask = static_cast<double>((int64_t(1) << bits) - 1);
      return e(ttir::BitwiseAndOp::create(builder, e.loc, x.type(), x.value, e.full(mask, x).value));
    };
    const Type out = op.getType().getElementType();
    const int64_t outBits = out.isInteger(1) ? 32 : bitsOf(out); // true for any sum but 0
    const Type word = bitsOf(out) == 32 ? out : Type(builder.getI32Type());
    const auto piecesOf = [&](Tensor x, int64_t pieceBits) {
      const int64_t bits = bitsOf(x.type().getElementType());
      if (bits < 32)
        x = x.as(builder.getI32Type());
      SmallVector<Tensor> pieces;
      for (int64_t first = 0; first < std::min(outBits, bits); first += pieceBits)
        pieces.push_back(lowBits(shifted(std::type_identity<ttir::LogicalRightShiftOp>(), x, first), pieceBits)
                             .as(builder.getF32Type()));
      return pieces;
    };
    // The pieces of both operands, and where K is.
    const SmallVector<Tensor> a = piecesOf(e(op.getA()), leftBits), b = piecesOf(e(op.getB()), rightBits);
    const int64_t aDim = a.front().rank() - (op.getTransposeA() ? 2 : 1);
    const int64_t bDim = b.front().rank() - (op.getTransposeB() ? 1 : 2);
    const int64_t inner = a.front().shape()[static_cast<size_t>(aDim)];
    std::optional<Tensor> result;
    for (int64_t place = 0; place < outBits; ++place) {
      std::optional<Tensor> sum;
      for (auto [i, left] : llvm::enumerate(a)) {
        const int64_t number = (place - static_cast<int64_t>(i) * leftBits) / rightBits;
        if (static_cast<int64_t>(i) * leftBits + number * rightBits != place || number < 0 ||
            number >= static_cast<int64_t>(b.size()))
          continue;
        Tensor right = b[static_cast<size_t>(number)];
        for (int64_t k = 0; k < inner; k += exactSteps) {
          const int64_t end = std::min(inner, k + exactSteps);
          const bool isWhole = end - k == inner;
          Tensor x = isWhole ? left : left.slice(aDim, k, end, 1), y = isWhole ? right : right.slice(bDim, k, end, 1);
          Tensor product = e(ttir::MatmulOp::create(builder, e.loc, op.getType().clone(builder.getF32Type()), x.value,
                                                    y.value, op.getTransposeA(), op.getTransposeB()));
          product = product.as(word);
          sum = sum ? *sum + product : product;
        }
      }
      if (!sum)
        continue;
      Tensor term = shifted(std::type_identity<ttir::LogicalLeftShiftOp>(), *sum, place);
      result = result ? *result + term : term;
    }
    if (!result) // no steps
      result = e.full(0, {op, &e});
    return (outBits < 32 ? lowBits(result->as(word), outBits) : *result).as(out).value;
  }

  /// The largest number of tiles of K, of `bytes` each in both operands, for which circular buffers have room.
  static int64_t innerBlock(int64_t inner, int64_t bytes, int64_t room, int64_t buffers) {
    // Either all of K is one block, or there is room for the next blocks, too.
    const int64_t fitting = room / bytes;
    int64_t block = fitting >= inner ? inner : std::clamp<int64_t>(fitting / buffers, 1, inner);
    while (inner % block)
      --block;
    return block;
  }

  /// A vector is a matrix of one row, or of one column; the result lacks this dimension.
  static void multiplyMatrices(ttir::MatmulOp op, ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    RankedTensorType a = op.getA().getType(), b = op.getB().getType();
    Value left = op.getA(), right = op.getB();
    SmallVector<int64_t> shape(op.getType().getShape());
    const bool isRow = a.getRank() < 2, isColumn = b.getRank() < 2;
    if (isRow) {
      left = reshaped(rewriter, loc, left, {1, a.getNumElements()});
      shape.insert(shape.end() - (isColumn ? 0 : 1), 1);
    }
    if (isColumn) {
      right = reshaped(rewriter, loc, right, {b.getNumElements(), 1});
      shape.push_back(1);
    }
    Value product = ttir::MatmulOp::create(rewriter, loc, op.getType().clone(shape), left, right,
                                           !isRow && op.getTransposeA(), !isColumn && op.getTransposeB());
    rewriter.replaceOp(op, reshaped(rewriter, loc, product, op.getType().getShape()));
  }

  /// Converts a product to one of whole tiles: elements beyond K are zero, and each matrix of a batch begins with a
  /// tile.
  static bool alignOperands(ttir::MatmulOp op, ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    Value a = op.getA(), b = op.getB();
    RankedTensorType out = op.getType();
    if (op.getTransposeA())
      a = swapLast(rewriter, loc, a);
    const auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
    const bool isBatch = !isOneProduct(cast<RankedTensorType>(a.getType()), op.getB().getType(), out);
    a = alignedTo(rewriter, loc, a, shapeOf(a).size() - 1);
    if (isBatch)
      a = alignedTo(rewriter, loc, a, shapeOf(a).size() - 2);
    b = alignedTo(rewriter, loc, b, shapeOf(b).size() - (op.getTransposeB() ? 1 : 2));
    if (op.getTransposeB() && isBatch)
      b = alignedTo(rewriter, loc, b, shapeOf(b).size() - 2);
    if (a == op.getA() && b == op.getB())
      return false;
    SmallVector<int64_t> shape(out.getShape());
    shape[shape.size() - 2] = shapeOf(a)[shapeOf(a).size() - 2];
    shape.back() = shapeOf(b)[shapeOf(b).size() - (op.getTransposeB() ? 2 : 1)];
    Value product =
        ttir::MatmulOp::create(rewriter, loc, out.clone(shape), a, b, /*transpose_a=*/false, op.getTransposeB());
    rewriter.replaceOp(op, firstOf(rewriter, loc, product, out));
    return true;
  }
};

struct LowerLinear : TilePattern<ttir::LinearOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::LinearOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType a = op.getA().getType(), b = op.getB().getType(), out = op.getType();
    // A bias may have more dimensions than the product, or larger ones.
    SmallVector<int64_t> shape;
    const int64_t rank = std::max(a.getRank(), b.getRank());
    for (int64_t dim = rank; dim > 2; --dim)
      shape.push_back(std::max(dim <= a.getRank() ? a.getDimSize(static_cast<unsigned>(a.getRank() - dim)) : 1,
                               dim <= b.getRank() ? b.getDimSize(static_cast<unsigned>(b.getRank() - dim)) : 1));
    if (a.getRank() >= 2)
      shape.push_back(a.getDimSize(static_cast<unsigned>(a.getRank() - (op.getTransposeA() ? 1 : 2))));
    if (b.getRank() >= 2)
      shape.push_back(b.getDimSize(static_cast<unsigned>(b.getRank() - (op.getTransposeB() ? 2 : 1))));
    Value product = ttir::MatmulOp::create(rewriter, op.getLoc(), out.clone(shape), op.getA(), op.getB(),
                                           op.getTransposeA(), op.getTransposeB());
    if (op.getBias())
      product = ttir::AddOp::create(rewriter, op.getLoc(), out, product, op.getBias());
    rewriter.replaceOp(op, product);
    return success();
  }
};
} // namespace

void tt::addMatmulPatterns(RewritePatternSet &patterns, const TileTypes &types) {
  patterns.add<LowerLinear, LowerMatmul>(types, patterns.getContext());
}
