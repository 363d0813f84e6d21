//===- Elementwise.cpp - expressions of elementwise ops -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

namespace {
using X = ArrayRef<Value>;
using Code = Value (*)(Scalars &, X);

/// The type of an op's arithmetic.
enum class Domain {
  Operands, // integers, if all operands are
  Floats,
  Integers, // all operands are, or the op is refused
  Result,   // integers, if operands and result are
  Select,   // operand 0 is a condition of any type; the others decide
};

struct Row {
  StringLiteral name;
  Domain domain;
  Code code;
  StringLiteral attributes[2] = {"", ""};
};
} // namespace

template <class Op> static Value call(Scalars &s, X x) { return Op::create(s.b, s.loc, x); }
template <class Op> static Value pair(Scalars &s, X x) { return Op::create(s.b, s.loc, x[0], x[1]); }

static Value sigmoid(Scalars &s, Value x) {
  Value e = call<math::ExpOp>(s, arith::NegFOp::create(s.b, s.loc, x).getResult());
  return arith::DivFOp::create(s.b, s.loc, s.number(1), s.add(s.number(1), e));
}
static Value divide(Scalars &s, Value x, Value y) {
  if (s.isFloat)
    return arith::DivFOp::create(s.b, s.loc, x, y);
  // x / 0 is -1. The divisor of the branch that is not taken must not be 0 either.
  Value isZero = s.equal(y, s.number(0));
  Value quotient = arith::DivSIOp::create(s.b, s.loc, x, s.select(isZero, s.number(1), y));
  return s.select(isZero, s.number(-1), quotient);
}
/// Has the sign of the divisor; x mod 0 is x for integers.
static Value remainder(Scalars &s, X x) {
  Value isZero = s.isFloat ? Value() : s.equal(x[1], s.number(0));
  Value divisor = s.isFloat ? x[1] : s.select(isZero, s.number(1), x[1]);
  Value rest = s.isFloat ? arith::RemFOp::create(s.b, s.loc, x[0], divisor).getResult()
                         : arith::RemSIOp::create(s.b, s.loc, x[0], divisor).getResult();
  Value differ = arith::XOrIOp::create(s.b, s.loc, s.less(rest, s.number(0)), s.less(divisor, s.number(0)));
  Value shifted = s.select(arith::AndIOp::create(s.b, s.loc, differ, s.isSet(rest)), s.add(rest, divisor), rest);
  return s.isFloat ? shifted : s.select(isZero, x[0], shifted);
}
/// Shifts 32 bits; a distance of 32 or more, or below 0, returns 0.
template <class Op> static Value shift(Scalars &s, X x) {
  Value inside = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ult, x[1], s.number(32));
  Value bits = arith::AndIOp::create(s.b, s.loc, x[0], s.number(4294967295.0));
  Value distance = arith::AndIOp::create(s.b, s.loc, x[1], s.number(31));
  return s.select(inside, Op::create(s.b, s.loc, bits, distance), s.number(0));
}
template <class Op> static Value logical(Scalars &s, X x) {
  return s.truth(Op::create(s.b, s.loc, s.isSet(x[0]), s.isSet(x[1])));
}
static Value clamp(Scalars &s, Value x, Value low, Value high) { return s.minimum(s.maximum(x, low), high); }
static Value expm1Branch(Scalars &s, Value x) {
  return s.mul(s.number(s.attributes[0] * s.attributes[1]), call<math::ExpM1Op>(s, x));
}

static constexpr auto O = Domain::Operands;
static constexpr auto F = Domain::Floats;
static constexpr auto I = Domain::Integers;

static const Row rows[] = {
    {"ttir.abs", O,
     [](Scalars &s, X x) {
       if (s.isFloat)
         return call<math::AbsFOp>(s, x);
       return s.select(s.less(x[0], s.number(0)), s.sub(s.number(0), x[0]), x[0]);
     }},
    {"ttir.acos", F, call<math::AcosOp>},
    {"ttir.asin", F, call<math::AsinOp>},
    {"ttir.asinh", F, call<math::AsinhOp>},
    {"ttir.atan", F, call<math::AtanOp>},
    {"ttir.atanh", F, call<math::AtanhOp>},
    {"ttir.bitwise_not", I, [](Scalars &s, X x) { return s.sub(s.number(-1), x[0]); }},
    {"ttir.cbrt", F, call<math::CbrtOp>},
    {"ttir.ceil", F, call<math::CeilOp>},
    {"ttir.clamp_scalar",
     O,
     [](Scalars &s, X x) { return clamp(s, x[0], s.number(s.attributes[0]), s.number(s.attributes[1])); },
     {"min", "max"}},
    {"ttir.cos", F, call<math::CosOp>},
    {"ttir.erf", F, call<math::ErfOp>},
    {"ttir.erfc", F, call<math::ErfcOp>},
    {"ttir.exp", F, call<math::ExpOp>},
    {"ttir.exp2", F, call<math::Exp2Op>},
    {"ttir.expm1", F, call<math::ExpM1Op>},
    {"ttir.floor", F, call<math::FloorOp>},
    {"ttir.frac", F, [](Scalars &s, X x) { return s.sub(x[0], call<math::TruncOp>(s, x)); }},
    {"ttir.gelu", F,
     [](Scalars &s, X x) {
       Value tail = call<math::ErfcOp>(s, s.mul(x[0], s.number(-0.70710678118654752)));
       return s.mul(s.mul(s.number(0.5), x[0]), tail);
     }},
    {"ttir.hardsigmoid", F,
     [](Scalars &s, X x) {
       return divide(s, clamp(s, s.add(x[0], s.number(3)), s.number(0), s.number(6)), s.number(6));
     }},
    {"ttir.isfinite", O, [](Scalars &s, X x) { return s.truth(s.equal(s.sub(x[0], x[0]), s.number(0))); }},
    {"ttir.leaky_relu",
     F,
     [](Scalars &s, X x) { return s.select(s.less(s.number(0), x[0]), x[0], s.mul(x[0], s.number(s.attributes[0]))); },
     {"parameter", ""}},
    {"ttir.log", F, call<math::LogOp>},
    {"ttir.log1p", F, call<math::Log1pOp>},
    {"ttir.log2", F, call<math::Log2Op>},
    {"ttir.logical_not", O, [](Scalars &s, X x) { return s.truth(s.equal(x[0], s.number(0))); }},
    {"ttir.mish", F,
     [](Scalars &s, X x) {
       // log1p(e^x) is x if e^x overflows.
       Value soft = call<math::Log1pOp>(s, call<math::ExpOp>(s, x));
       Value wide = s.select(s.less(s.number(60), x[0]), x[0], soft);
       return s.mul(x[0], call<math::TanhOp>(s, wide));
     }},
    {"ttir.neg", O,
     [](Scalars &s, X x) {
       return s.isFloat ? arith::NegFOp::create(s.b, s.loc, x[0]).getResult() : s.sub(s.number(0), x[0]);
     }},
    {"ttir.reciprocal", F, [](Scalars &s, X x) { return divide(s, s.number(1), x[0]); }},
    {"ttir.relu", O, [](Scalars &s, X x) { return s.maximum(x[0], s.number(0)); }},
    {"ttir.relu6", O, [](Scalars &s, X x) { return clamp(s, x[0], s.number(0), s.number(6)); }},
    {"ttir.rsqrt", F, [](Scalars &s, X x) { return divide(s, s.number(1), call<math::SqrtOp>(s, x)); }},
    {"ttir.selu",
     F,
     [](Scalars &s, X x) {
       return s.select(s.less(s.number(0), x[0]), s.mul(s.number(s.attributes[0]), x[0]), expm1Branch(s, x[0]));
     },
     {"scale", "alpha"}},
    {"ttir.sigmoid", F, [](Scalars &s, X x) { return sigmoid(s, x[0]); }},
    {"ttir.sign", O,
     [](Scalars &s, X x) { return s.sub(s.truth(s.less(s.number(0), x[0])), s.truth(s.less(x[0], s.number(0)))); }},
    {"ttir.silu", F, [](Scalars &s, X x) { return s.mul(x[0], sigmoid(s, x[0])); }},
    {"ttir.sin", F, call<math::SinOp>},
    {"ttir.softsign", F, [](Scalars &s, X x) { return divide(s, x[0], s.add(s.number(1), call<math::AbsFOp>(s, x))); }},
    {"ttir.sqrt", F, call<math::SqrtOp>},
    {"ttir.square", O, [](Scalars &s, X x) { return s.mul(x[0], x[0]); }},
    {"ttir.tan", F, call<math::TanOp>},
    {"ttir.tanh", F, call<math::TanhOp>},
    {"ttir.trunc", F, call<math::TruncOp>},
    {"ttir.typecast", O, [](Scalars &, X x) { return x[0]; }},

    {"ttir.add", O, [](Scalars &s, X x) { return s.add(x[0], x[1]); }},
    {"ttir.atan2", F, pair<math::Atan2Op>},
    {"ttir.bitwise_and", I, pair<arith::AndIOp>},
    {"ttir.bitwise_or", I, pair<arith::OrIOp>},
    {"ttir.bitwise_xor", I, pair<arith::XOrIOp>},
    {"ttir.div", Domain::Result, [](Scalars &s, X x) { return divide(s, x[0], x[1]); }},
    {"ttir.eq", O, [](Scalars &s, X x) { return s.truth(s.equal(x[0], x[1])); }},
    {"ttir.ge", O, [](Scalars &s, X x) { return s.add(s.truth(s.less(x[1], x[0])), s.truth(s.equal(x[0], x[1]))); }},
    {"ttir.gt", O, [](Scalars &s, X x) { return s.truth(s.less(x[1], x[0])); }},
    {"ttir.le", O, [](Scalars &s, X x) { return s.add(s.truth(s.less(x[0], x[1])), s.truth(s.equal(x[0], x[1]))); }},
    {"ttir.logical_and", O, logical<arith::AndIOp>},
    {"ttir.logical_left_shift", I, shift<arith::ShLIOp>},
    {"ttir.logical_or", O, logical<arith::OrIOp>},
    {"ttir.logical_right_shift", I, shift<arith::ShRUIOp>},
    {"ttir.logical_xor", O, logical<arith::XOrIOp>},
    {"ttir.lt", O, [](Scalars &s, X x) { return s.truth(s.less(x[0], x[1])); }},
    {"ttir.maximum", O, [](Scalars &s, X x) { return s.maximum(x[0], x[1]); }},
    {"ttir.minimum", O, [](Scalars &s, X x) { return s.minimum(x[0], x[1]); }},
    {"ttir.multiply", O, [](Scalars &s, X x) { return s.mul(x[0], x[1]); }},
    {"ttir.ne", O, [](Scalars &s, X x) { return s.truth(s.invert(s.equal(x[0], x[1]))); }},
    {"ttir.pow", F, pair<math::PowFOp>},
    {"ttir.remainder", O, remainder},
    {"ttir.subtract", O, [](Scalars &s, X x) { return s.sub(x[0], x[1]); }},

    {"ttir.clamp_tensor", O, [](Scalars &s, X x) { return clamp(s, x[0], x[1], x[2]); }},
    {"ttir.where", Domain::Select, [](Scalars &s, X x) { return s.select(s.isSet(x[0]), x[1], x[2]); }},
};

static double numberOf(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  return static_cast<double>(cast<IntegerAttr>(attribute).getValue().getSExtValue());
}

static LogicalResult lowerRow(const Row &row, Lowering &lowering) {
  Operation *op = lowering.op;
  RankedTensorType result = lowering.result();
  auto isWhole = [](Type type) { return isa<IntegerType>(cast<RankedTensorType>(type).getElementType()); };
  auto decide = llvm::drop_begin(op->getOperandTypes(), row.domain == Domain::Select ? 1 : 0);
  bool integers = row.domain != Domain::Floats && llvm::all_of(decide, isWhole);
  if (row.domain == Domain::Integers && !integers)
    return lowering.refuse("its operands are not all integers");
  if (row.domain == Domain::Result)
    integers = integers && isWhole(result);
  // NumPy's rules: aligned at the last dimension, and a size of 1 is repeated.
  SmallVector<AffineMap> maps;
  for (Type type : op->getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<AffineExpr> places;
    const int64_t shift = result.getRank() - tensor.getRank();
    for (int64_t d = 0; d < tensor.getRank(); ++d)
      places.push_back(tensor.getDimSize(d) == 1 && result.getDimSize(d + shift) != 1
                           ? lowering.b.getAffineConstantExpr(0)
                           : lowering.dim(d + shift));
    maps.push_back(AffineMap::get(result.getRank(), 0, places, op->getContext()));
  }
  maps.push_back(lowering.b.getMultiDimIdentityMap(result.getRank()));
  Type element = result.getElementType();
  Value init = lowering.empty(result.getShape(), hostElement(element));
  if (result.getNumElements() == 0)
    return lowering.give(init);
  return lowering.give(lowering.generic(
      lowering.operands, maps, init, SmallVector<utils::IteratorType>(result.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Scalars scalars(b, loc, !integers);
        for (unsigned i = 0; i < 2 && !row.attributes[i].empty(); ++i)
          scalars.attributes[i] = numberOf(op->getAttr(row.attributes[i]));
        SmallVector<Value> x;
        for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
          x.push_back(scalars.from(arguments[index], cast<RankedTensorType>(type).getElementType()));
        return scalars.to(row.code(scalars, x), element);
      }));
}

void host::addElementwiseRules(Rules &rules) {
  for (const Row &row : rows)
    rules[row.name] = Rules::mapped_type([&row](Lowering &lowering) { return lowerRow(row, lowering); });
}
