//===- Indexing.cpp - indices of buffers as arithmetic --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Indexing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::tt;

/// Whether an expression subtracts: simplification may leave a term of an index negative.
static bool mayBeNegative(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto constant = dyn_cast<AffineConstantExpr>(part);
    found |= constant && constant.getValue() < 0;
  });
  return found;
}

static Value expand(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(builder, loc, binary.getLHS(), dims), rhs = expand(builder, loc, binary.getRHS(), dims);
  // Indices of kernels are unsigned: a negative dividend is shifted by multiples of the divisor, and the quotient
  // shifted back.
  constexpr int64_t moved = int64_t(1) << 24;
  const bool isMoved = (expr.getKind() == AffineExprKind::Mod || expr.getKind() == AffineExprKind::FloorDiv) &&
                       mayBeNegative(binary.getLHS());
  Value offset;
  if (isMoved) {
    offset = arith::ConstantIndexOp::create(builder, loc, moved);
    lhs = arith::AddIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, rhs, offset));
  }
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return arith::RemSIOp::create(builder, loc, lhs, rhs);
  default: {
    Value quotient = arith::DivSIOp::create(builder, loc, lhs, rhs);
    return isMoved ? arith::SubIOp::create(builder, loc, quotient, offset).getResult() : quotient;
  }
  }
}

SmallVector<Value> d2m::expand(OpBuilder &builder, Location loc, AffineMap map, ValueRange dims) {
  SmallVector<Value> results;
  for (AffineExpr expr : simplifyAffineMap(map).getResults())
    results.push_back(::expand(builder, loc, expr, dims));
  return results;
}

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// Within aligned runs of `length` values of a dimension, an expression is a multiple of `length` plus `step` times the
/// position in the run if the step is 1, and one value if it is 0.
namespace {
struct Run {
  int64_t step = 0, length = unlimited;
};
} // namespace

static Run runOf(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return {};
  const auto multiple = [](int64_t length, int64_t divisor) {
    return length == unlimited ? divisor : std::gcd(length, divisor);
  };
  if (isa<AffineDimExpr>(expr))
    return {1, unlimited};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {0, 1};
  Run run = runOf(binary.getLHS(), dim);
  auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    Run other = runOf(binary.getRHS(), dim);
    if (run.step + other.step > 1)
      return {0, 1};
    const int64_t length = std::min(run.length, other.length) == unlimited ? unlimited
                           : run.length == unlimited                       ? other.length
                           : other.length == unlimited                     ? run.length
                                                                           : std::gcd(run.length, other.length);
    if (run.step + other.step == 0)
      return {0, length};
    // An added term keeps the alignment as far as it is a multiple.
    AffineExpr base = run.step ? binary.getRHS() : binary.getLHS();
    return {1, multiple(length, base.getLargestKnownDivisor())};
  }
  case AffineExprKind::Mul:
    return run.step == 0 && rhs ? run : rhs && rhs.getValue() == 1 ? run : Run{0, 1};
  case AffineExprKind::Mod:
  case AffineExprKind::FloorDiv:
    if (!rhs)
      return {0, 1};
    if (run.step == 0)
      return run;
    return {expr.getKind() == AffineExprKind::Mod ? 1 : 0, multiple(run.length, rhs.getValue())};
  default:
    return {0, 1};
  }
}

int64_t d2m::contiguous(AffineMap map, unsigned dim, int64_t size) {
  map = simplifyAffineMap(map);
  int64_t length = unlimited;
  for (auto [number, expr] : llvm::enumerate(map.getResults())) {
    const Run run = runOf(expr, dim);
    if (run.step != (number + 1 == map.getNumResults() ? 1 : 0))
      return 1;
    length = length == unlimited ? run.length : run.length == unlimited ? length : std::gcd(length, run.length);
  }
  return length == unlimited ? size : std::gcd(length, size);
}

std::optional<int64_t> d2m::greatestOf(AffineExpr expr, ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 ? std::nullopt : std::optional(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return sizes[dim.getPosition()] - 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  const auto lhs = binary ? greatestOf(binary.getLHS(), sizes) : std::nullopt;
  const auto rhs = binary ? greatestOf(binary.getRHS(), sizes) : std::nullopt;
  if (rhs && expr.getKind() == AffineExprKind::Mod)
    return std::min(lhs.value_or(*rhs - 1), *rhs - 1);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::FloorDiv:
    return *lhs / *rhs;
  default:
    return std::nullopt;
  }
}

AffineMap d2m::rowMajor(ArrayRef<int64_t> shape, MLIRContext *context) {
  AffineExpr number = getAffineConstantExpr(0, context);
  for (auto [dim, size] : llvm::enumerate(shape))
    number = number * size + getAffineDimExpr(static_cast<unsigned>(dim), context);
  return AffineMap::get(static_cast<unsigned>(shape.size()), 0, number);
}

Value d2m::byteOffset(OpBuilder &builder, Location loc, ArrayRef<int64_t> shard, uint64_t elementBytes, Value row,
                      Value column) {
  AffineMap number = rowMajor(shard, builder.getContext());
  AffineMap bytes = AffineMap::get(2, 0, number.getResult(0) * static_cast<int64_t>(elementBytes));
  return expand(builder, loc, bytes, {row, column})[0];
}

void d2m::waitForAll(OpBuilder &builder, Location loc, DMAType direction) {
  Value transfers = NullTxOp::create(builder, loc, MemTxType::get(builder.getContext(), direction));
  DMAWaitOp::create(builder, loc, transfers);
}
