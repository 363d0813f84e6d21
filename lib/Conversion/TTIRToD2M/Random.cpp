//===- Random.cpp - random numbers on the cores ---------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a seed and what dropout keeps, the same as on target TTNN: SplitMix64 (Steele, Lea, Flood 2014) at the
// element's position. Cores have words of 32 bits, and a number of 64 is a pair of them.
//
//===----------------------------------------------------------------------===//

#include "TileExpressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseXorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DropoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalLeftShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalRightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RandOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include <limits>
#include <optional>

using namespace mlir;
using namespace mlir::tt;

namespace {
/// Words of 32 bits. Sums and products wrap around.
class Words {
public:
  Words(Expressions &e, int64_t rank) : e(e), rank(rank) {}

  /// One word for all elements. An integer splat of the whole shape would be sent by the host.
  Tensor number(uint32_t value) {
    return e.constant(RankedTensorType::get(SmallVector<int64_t>(rank, 1), e.builder.getI32Type()),
                      {static_cast<double>(static_cast<int32_t>(value))});
  }
  template <class OpT> Tensor of(Tensor x, Tensor y) {
    ArrayRef<int64_t> shape = x.type().getNumElements() < y.type().getNumElements() ? y.shape() : x.shape();
    return e(OpT::create(e.builder, e.loc, x.type().clone(shape), x.value, y.value));
  }
  Tensor left(Tensor x, uint32_t count) { return of<ttir::LogicalLeftShiftOp>(x, number(count)); }
  Tensor right(Tensor x, uint32_t count) { return of<ttir::LogicalRightShiftOp>(x, number(count)); }
  Tensor low16(Tensor x) { return of<ttir::BitwiseAndOp>(x, number(0xffff)); }
  Tensor exclusive(Tensor x, Tensor y) { return of<ttir::BitwiseXorOp>(x, y); }

  Expressions &e;
  int64_t rank;
};

struct Pair {
  Tensor low, high;
};
} // namespace

/// The upper word of a product, from products of halves.
static Tensor highProduct(Words &words, Tensor x, uint32_t number) {
  Tensor low = words.low16(x), high = words.right(x, 16);
  Tensor below = words.number(number & 0xffff), above = words.number(number >> 16);
  Tensor first = low * above, second = high * below;
  Tensor middle = words.right(low * below, 16) + words.low16(first) + words.low16(second);
  return high * above + words.right(first, 16) + words.right(second, 16) + words.right(middle, 16);
}

static Pair product(Words &words, Pair x, uint64_t number) {
  const auto low = static_cast<uint32_t>(number), high = static_cast<uint32_t>(number >> 32);
  return {x.low * words.number(low),
          highProduct(words, x.low, low) + x.low * words.number(high) + x.high * words.number(low)};
}

/// The carry is the upper bit of the sum of halves.
static Pair sum(Words &words, Pair x, uint64_t number) {
  const auto low = static_cast<uint32_t>(number), high = static_cast<uint32_t>(number >> 32);
  Tensor halves = words.right(x.low, 1) + words.number(low >> 1);
  if (low & 1)
    halves = halves + words.of<ttir::BitwiseAndOp>(x.low, words.number(1));
  return {x.low + words.number(low), x.high + words.number(high) + words.right(halves, 31)};
}

/// The exclusive or with the number shifted to the right.
static Pair mixed(Words &words, Pair x, uint32_t count) {
  Tensor shifted = words.of<ttir::BitwiseOrOp>(words.right(x.low, count), words.left(x.high, 32 - count));
  return {words.exclusive(x.low, shifted), words.exclusive(x.high, words.right(x.high, count))};
}

/// The position of each element, counted along the rows.
static Tensor positions(Words &words, ArrayRef<int64_t> shape) {
  std::optional<Tensor> sum;
  int64_t stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; stride *= shape[dim--]) {
    if (shape[dim] == 1)
      continue;
    SmallVector<int64_t> along(shape.size(), 1);
    along[dim] = shape[dim];
    SmallVector<double> values;
    for (int64_t i = 0; i < shape[dim]; ++i)
      values.push_back(static_cast<double>(i * stride));
    Tensor part = words.e.constant(RankedTensorType::get(along, words.e.builder.getI32Type()), values);
    sum = sum ? *sum + part : part;
  }
  return sum ? *sum : words.number(0);
}

/// The upper word of each element's random bits; the reason in `refusal` if the elements are too many.
static std::optional<Tensor> upperBits(Words &words, RankedTensorType type, uint64_t seed, std::string &refusal) {
  if (type.getNumElements() > std::numeric_limits<int32_t>::max()) {
    refusal = "its " + std::to_string(type.getNumElements()) + " elements have positions of more than 31 bits";
    return std::nullopt;
  }
  constexpr uint64_t step = 0x9e3779b97f4a7c15ULL;
  Pair bits = product(words, {positions(words, type.getShape()), words.number(0)}, step);
  bits = sum(words, bits, (seed + 1) * 0xd1342543de82ef95ULL + step);
  bits = product(words, mixed(words, bits, 30), 0xbf58476d1ce4e5b9ULL);
  bits = product(words, mixed(words, bits, 27), 0x94d049bb133111ebULL);
  return words.exclusive(bits.high, words.right(bits.high, 31));
}

static SmallVector<Tensor> resultsOf(ttir::RandOp op, Expressions &e, std::string &refusal) {
  RankedTensorType type = op.getType();
  const uint64_t seed = op.getSeed();
  if (seed == 0) {
    refusal = "its seed is 0, which draws other numbers in every run; cores draw those of a seed above 0";
    return {};
  }
  Words words(e, type.getRank());
  const std::optional<Tensor> upper = upperBits(words, type, seed, refusal);
  if (!upper)
    return {};
  // 24 bits, which f32 holds.
  Tensor unit = words.right(*upper, 8).as(e.builder.getF32Type()) * 0x1p-24;
  const float low = op.getLow().convertToFloat(), high = op.getHigh().convertToFloat();
  return {low == 0 && high == 1 ? unit : unit * (high - low) + low};
}

/// The elements whose upper words are below prob * 2^32 become 0.
static SmallVector<Tensor> resultsOf(ttir::DropoutOp op, Expressions &e, std::string &refusal) {
  const double probability = op.getProb().convertToFloat();
  if (!(probability >= 0 && probability <= 1)) {
    refusal = "its prob is " + std::to_string(probability) + "; expected 0 to 1";
    return {};
  }
  Tensor scaled = e(op.getInput()).wide() * op.getScale().convertToFloat();
  const auto dropped = static_cast<uint64_t>(probability * 0x1p32);
  if (dropped == 0)
    return {scaled};
  Tensor zero = e.full(0, scaled);
  if (dropped > std::numeric_limits<uint32_t>::max())
    return {zero};
  Words words(e, scaled.rank());
  const std::optional<Tensor> upper = upperBits(words, op.getType(), op.getSeed(), refusal);
  if (!upper)
    return {};
  // Unsigned words have the order of signed ones with the other upper bit.
  constexpr uint32_t sign = 0x80000000;
  Tensor limit = words.number(static_cast<uint32_t>(dropped) ^ sign);
  return {words.exclusive(*upper, words.number(sign)).less(limit).select(zero, scaled)};
}

void tt::addRandomComposites(CompositeTable &table) {
  addComposite<ttir::DropoutOp>(table, resultsOf);
  addComposite<ttir::RandOp>(table, resultsOf);
}
