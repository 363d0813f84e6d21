//===- Expressions.h - formulas of StableHLO ops ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that are expressed by others are written as formulas: `(x & 1) == 0`. Numbers take the type of the tensor
// operand.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_EXPRESSIONS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_EXPRESSIONS_H

#include "../Patterns.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tt::hlo {

class Expr {
public:
  Expr(ImplicitLocOpBuilder &builder, Value value) : builder(&builder), tensor(value) {}

  Value value() const { return tensor; }
  ImplicitLocOpBuilder &build() const { return *builder; }
  RankedTensorType type() const { return typeOf(tensor); }
  Type element() const { return type().getElementType(); }
  ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  int64_t size(int64_t dimension) const { return type().getDimSize(dimension); }
  bool isFloat() const { return isa<FloatType>(element()); }

  /// A number of this element type, with this shape.
  Expr number(double value) const {
    if (auto complex = dyn_cast<ComplexType>(element()); complex && isa<FloatType>(complex.getElementType())) {
      Attribute parts[] = {builder->getFloatAttr(complex.getElementType(), value),
                           builder->getFloatAttr(complex.getElementType(), 0)};
      return create<stablehlo::ConstantOp>(DenseElementsAttr::get(type(), Attribute(builder->getArrayAttr(parts))));
    }
    Attribute attr =
        isFloat() ? Attribute(builder->getFloatAttr(element(), value))
                  : Attribute(IntegerAttr::get(element(), APInt(element().getIntOrFloatBitWidth(),
                                                                static_cast<uint64_t>(static_cast<int64_t>(value)),
                                                                /*isSigned=*/false,
                                                                /*implicitTrunc=*/true)));
    return create<stablehlo::ConstantOp>(DenseElementsAttr::get(type(), attr));
  }

  template <class OpT> Expr apply() const { return create<OpT>(type(), tensor); }
  template <class OpT> Expr apply(Expr other) const { return create<OpT>(type(), ValueRange{tensor, other.tensor}); }

  friend Expr operator+(Expr a, Expr b) { return a.apply<stablehlo::AddOp>(b); }
  friend Expr operator-(Expr a, Expr b) { return a.apply<stablehlo::SubtractOp>(b); }
  friend Expr operator*(Expr a, Expr b) { return a.apply<stablehlo::MulOp>(b); }
  friend Expr operator/(Expr a, Expr b) { return a.apply<stablehlo::DivOp>(b); }
  friend Expr operator&(Expr a, Expr b) { return a.apply<stablehlo::AndOp>(b); }
  friend Expr operator|(Expr a, Expr b) { return a.apply<stablehlo::OrOp>(b); }
  friend Expr operator^(Expr a, Expr b) { return a.apply<stablehlo::XorOp>(b); }
  friend Expr operator+(Expr a, double b) { return a + a.number(b); }
  friend Expr operator-(Expr a, double b) { return a - a.number(b); }
  friend Expr operator*(Expr a, double b) { return a * a.number(b); }
  friend Expr operator/(Expr a, double b) { return a / a.number(b); }
  friend Expr operator&(Expr a, double b) { return a & a.number(b); }
  friend Expr operator-(double a, Expr b) { return b.number(a) - b; }
  friend Expr operator/(double a, Expr b) { return b.number(a) / b; }
  Expr operator~() const { return apply<stablehlo::NotOp>(); }
  Expr operator-() const { return apply<stablehlo::NegOp>(); }
  Expr shl(int bits) const { return apply<stablehlo::ShiftLeftOp>(number(bits)); }
  Expr shr(int bits) const { return apply<stablehlo::ShiftRightLogicalOp>(number(bits)); } // zeros come in

  Expr compare(stablehlo::ComparisonDirection direction, Expr other) const {
    return create<stablehlo::CompareOp>(type().clone(builder->getI1Type()), tensor, other.tensor, direction,
                                        stablehlo::ComparisonTypeAttr());
  }
  friend Expr operator<(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::LT, b); }
  friend Expr operator>(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::GT, b); }
  friend Expr operator<=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::LE, b); }
  friend Expr operator>=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::GE, b); }
  friend Expr operator==(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::EQ, b); }
  friend Expr operator!=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::NE, b); }
  friend Expr operator<(Expr a, double b) { return a < a.number(b); }
  friend Expr operator>(Expr a, double b) { return a > a.number(b); }
  friend Expr operator>=(Expr a, double b) { return a >= a.number(b); }
  friend Expr operator==(Expr a, double b) { return a == a.number(b); }
  friend Expr operator!=(Expr a, double b) { return a != a.number(b); }

  /// Selects one of two values by this condition.
  Expr select(Expr onTrue, Expr onFalse) const {
    return create<stablehlo::SelectOp>(onTrue.type(), tensor, onTrue.tensor, onFalse.tensor);
  }
  Expr convert(Type element) const {
    return element == this->element() ? *this : create<stablehlo::ConvertOp>(type().clone(element), tensor);
  }
  Expr bitcast(Type element) const { return bitcast(type().clone(element)); }
  Expr bitcast(RankedTensorType to) const {
    return to == type() ? *this : create<stablehlo::BitcastConvertOp>(to, tensor);
  }

  //===- Shapes -----------------------------------------------------------===//

  Expr reshape(ArrayRef<int64_t> to) const {
    return to == shape() ? *this : create<stablehlo::ReshapeOp>(type().clone(to), tensor);
  }
  /// This value's dimensions become `dimensions` of the new shape.
  Expr broadcast(ArrayRef<int64_t> to, ArrayRef<int64_t> dimensions) const {
    return create<stablehlo::BroadcastInDimOp>(type().clone(to), tensor, dimensions);
  }
  /// A scalar broadcast to a shape.
  Expr spread(ArrayRef<int64_t> to) const { return broadcast(to, {}); }
  Expr slice(ArrayRef<int64_t> starts, ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) const;
  /// A slice of one dimension.
  Expr slice(int64_t dimension, int64_t start, int64_t limit, int64_t stride = 1) const;
  Expr concat(ArrayRef<Expr> others, int64_t dimension) const;
  Expr transpose(ArrayRef<int64_t> permutation) const;
  /// Pads with `low` and `high` elements at the edges and `interior` ones between; negative edges are cut off.
  Expr pad(Expr with, ArrayRef<int64_t> low, ArrayRef<int64_t> high, ArrayRef<int64_t> interior) const;
  /// Each element is its index along a dimension.
  static Expr iota(ImplicitLocOpBuilder &builder, RankedTensorType type, int64_t dimension) {
    return {builder, stablehlo::IotaOp::create(builder, type, static_cast<uint64_t>(dimension))};
  }

private:
  template <class OpT, class... Args> Expr create(Args &&...args) const {
    return {*builder, OpT::create(*builder, std::forward<Args>(args)...)->getResult(0)};
  }

  ImplicitLocOpBuilder *builder;
  Value tensor;
};

/// Applies the ops of a region of scalars to tensors, element by element. `isElementwise` has returned that this is
/// possible.
SmallVector<Expr> applyRegion(Block &body, ArrayRef<Expr> arguments);
bool isElementwise(Region &region);

inline Expr abs(Expr x) { return x.apply<stablehlo::AbsOp>(); }
inline Expr atan2(Expr y, Expr x) { return y.apply<stablehlo::Atan2Op>(x); }
inline Expr cos(Expr x) { return x.apply<stablehlo::CosineOp>(); }
inline Expr exp(Expr x) { return x.apply<stablehlo::ExpOp>(); }
inline Expr floor(Expr x) { return x.apply<stablehlo::FloorOp>(); }
inline Expr log(Expr x) { return x.apply<stablehlo::LogOp>(); }
inline Expr log1p(Expr x) { return x.apply<stablehlo::Log1pOp>(); }
inline Expr pow(Expr x, Expr y) { return x.apply<stablehlo::PowOp>(y); }
inline Expr sin(Expr x) { return x.apply<stablehlo::SineOp>(); }
inline Expr sqrt(Expr x) { return x.apply<stablehlo::SqrtOp>(); }

/// A nonnegative number with the sign of another one, including that of -0; NaN if either is NaN.
inline Expr withSign(Expr magnitude, Expr sign) {
  // The maximum is 0, -0 or NaN, like the sign if it is not positive.
  return (sign > 0).select(magnitude, sign.apply<stablehlo::MaxOp>(sign.number(-0.0)) - magnitude);
}

// Along a dimension, which stays with size 1: of numbers, of floats, and of i32.
Expr sum(Expr x, int64_t dimension);
Expr greatest(Expr x, int64_t dimension);
Expr least(Expr x, int64_t dimension);

/// [..., n, k] * [..., k, m]
Expr matrixProduct(Expr a, Expr b);

/// Backwards along these dimensions.
Expr reversed(Expr x, ArrayRef<int64_t> dimensions);

/// The index of each element's row (-2) or column (-1).
inline Expr position(Expr x, int64_t fromEnd) {
  ImplicitLocOpBuilder &builder = x.build();
  return Expr::iota(builder, x.type().clone(builder.getI32Type()), x.rank() + fromEnd);
}

inline Expr like(Expr x, Expr other) {
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq(x.rank()));
  return x.shape() == other.shape() ? x : x.broadcast(other.shape(), dimensions);
}

inline Expr transposed(Expr x) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(x.rank()));
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return x.transpose(order);
}

/// Returns whether the call only describes its operands and returns them unchanged.
bool passesOn(stablehlo::CustomCallOp op);

/// Returns `potrf` for `lapack_spotrf_ffi`, likewise with d, c and z, and nothing for other calls.
StringRef lapackFunction(StringRef target);
inline bool isLapack(StringRef target) { return target.starts_with("lapack_"); }
/// Returns why a call of LAPACK is left, and what the user can do.
std::string lapackRefusal(StringRef target);

/// Iterates from `start` with `step(values)` while `goesOn(values)`, a scalar, holds.
template <class F, class G> SmallVector<Expr> repeatedWhile(ArrayRef<Expr> start, F goesOn, G step) {
  ImplicitLocOpBuilder &builder = start.front().build();
  const auto values = [](ArrayRef<Expr> all) {
    return llvm::map_to_vector(all, [](Expr value) { return value.value(); });
  };
  const auto all = [&](ValueRange parts) {
    return llvm::map_to_vector(parts, [&](Value value) { return Expr(builder, value); });
  };
  const SmallVector<Value> first = values(start);
  const SmallVector<Type> types(ValueRange(first).getTypes());
  const SmallVector<Location> locations(types.size(), builder.getLoc());
  auto loop = stablehlo::WhileOp::create(builder, types, first);
  OpBuilder::InsertionGuard guard(builder);
  Block *cond = builder.createBlock(&loop.getCond(), {}, types, locations);
  stablehlo::ReturnOp::create(builder, goesOn(ArrayRef<Expr>(all(cond->getArguments()))).value());
  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  stablehlo::ReturnOp::create(builder, values(step(ArrayRef<Expr>(all(body->getArguments())))));
  return all(loop->getResults());
}

/// Iterates from `start` with `step(number, values)`, `turns` times.
template <class F> SmallVector<Expr> repeated(ArrayRef<Expr> start, int64_t turns, F step) {
  ImplicitLocOpBuilder &builder = start.front().build();
  auto counter = RankedTensorType::get({}, builder.getI32Type());
  SmallVector<Expr> first = {
      Expr(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(counter, int32_t(0))))};
  llvm::append_range(first, start);
  SmallVector<Expr> found = repeatedWhile(
      first, [&](ArrayRef<Expr> values) { return values.front() < static_cast<double>(turns); },
      [&](ArrayRef<Expr> values) {
        SmallVector<Expr> next = {values.front() + 1};
        llvm::append_range(next, step(values.front(), values.drop_front()));
        return next;
      });
  return SmallVector<Expr>(ArrayRef(found).drop_front());
}

/// Likewise for one value.
template <class F> Expr repeated(Expr start, int64_t turns, F step) {
  return repeated(ArrayRef(start), turns,
                  [&](Expr number, ArrayRef<Expr> values) { return SmallVector<Expr>{step(number, values.front())}; })
      .front();
}

/// Whether TTIR has an op for this reduction, so that it needs no expansion.
bool isKnownReduction(stablehlo::ReduceOp op);
bool isKnownReduction(stablehlo::ReduceWindowOp op);
bool isArgReduction(stablehlo::ReduceOp op);

/// Distinguishes the ops of a module that create random numbers.
inline constexpr llvm::StringLiteral rngNumberAttr = "tt.rng_number";

/// Adds all of the following, for the ops that they expand.
void addExpansions(RewritePatternSet &patterns);
void addBitExpansions(RewritePatternSet &patterns);
void addCallExpansions(RewritePatternSet &patterns);
void addCollectiveExpansions(RewritePatternSet &patterns);
void addConvolutionExpansions(RewritePatternSet &patterns);
void addLapackExpansions(RewritePatternSet &patterns);
void addDeprecatedExpansions(RewritePatternSet &patterns);
void addFunctionExpansions(RewritePatternSet &patterns);
void addLinearAlgebraExpansions(RewritePatternSet &patterns);
void addReflectionExpansions(RewritePatternSet &patterns);
void addScanExpansions(RewritePatternSet &patterns);
void addScatterExpansions(RewritePatternSet &patterns);
void addSpecialExpansions(RewritePatternSet &patterns);
void addTenstorrentExpansions(RewritePatternSet &patterns);
void addTridiagonalExpansions(RewritePatternSet &patterns);
void addWindowExpansions(RewritePatternSet &patterns);

/// Expands, in StableHLO, the functions of CHLO that have TTIR ops; the lowering keeps these as ops.
void addChloExpansions(RewritePatternSet &patterns);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_EXPRESSIONS_H
