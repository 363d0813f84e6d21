//===- Gelu.cpp - recognition of decomposed tanh gelu ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TanhOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The one value of a constant, or nothing.
static std::optional<double> numberIn(Value value) {
  auto real = dyn_cast_or_null<FloatAttr>(folds::splatOf(value));
  return real ? std::optional<double>(real.getValueAsDouble()) : std::nullopt;
}

/// Equal up to the precision of bf16.
static bool isAbout(double number, double expected) { return std::abs(number - expected) <= expected / 128; }

namespace {
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), where x is a product of matrices.
class GeluMatcher {
public:
  explicit GeluMatcher(const ttcore::FusionState &state) : state(state) {}

  /// x, if `root` has that form and nothing else uses the intermediate values; else null.
  Value match(Operation *root) {
    if (!matchRoot(root))
      return {};
    auto isInside = [&](Operation *user) { return user == root || llvm::is_contained(inside, user); };
    auto joins = [&](Operation *op) { return ttcore::mayJoin(op, x.getDefiningOp()); };
    return llvm::all_of(x.getUsers(), isInside) && llvm::all_of(inside, joins) && joins(root) ? x : Value();
  }

private:
  struct Product {
    double number = 1;
    SmallVector<Value> factors;
  };

  /// The op that produces a value for the pattern alone.
  template <class Op> Op take(Value value) {
    auto op = state.only<Op>(value);
    if (op)
      inside.push_back(op);
    return op;
  }
  void factorsOf(Value value, Product &product) {
    if (std::optional<double> number = numberIn(value))
      product.number *= *number;
    else if (auto multiply = take<MultiplyOp>(value))
      factorsOf(multiply, product);
    else
      product.factors.push_back(value);
  }
  void factorsOf(MultiplyOp multiply, Product &product) {
    factorsOf(multiply->getOperand(0), product);
    factorsOf(multiply->getOperand(1), product);
  }
  /// The other summand of an addition.
  static Value besides(AddOp add, function_ref<bool(Value)> isSummand) {
    for (unsigned i : {0, 1})
      if (isSummand(add->getOperand(i)))
        return add->getOperand(1 - i);
    return {};
  }
  static bool isOne(Value value) { return numberIn(value) == 1.0; }

  bool matchRoot(Operation *root) {
    Product whole;
    factorsOf(cast<MultiplyOp>(root), whole);
    if (!isAbout(whole.number, 0.5) || whole.factors.size() != 2)
      return false;
    for (unsigned i : {0, 1}) {
      x = whole.factors[i];
      auto add = whole.factors[1 - i].getDefiningOp<AddOp>();
      if (isa_and_nonnull<MatmulOp, LinearOp>(x.getDefiningOp()) && add)
        return take<AddOp>(add->getResult(0)) && matchTanh(besides(add, isOne));
    }
    return false;
  }

  bool matchTanh(Value value) {
    auto tanh = value ? take<TanhOp>(value) : TanhOp();
    if (!tanh)
      return false;
    Product argument;
    factorsOf(tanh->getOperand(0), argument);
    constexpr double slope = 0.7978845608;
    if (!isAbout(argument.number, slope))
      return false;
    // slope * (x + x^3 / ...), or slope * x * (1 + x^2 / ...).
    size_t count = llvm::count(argument.factors, x);
    llvm::erase(argument.factors, x);
    auto add = argument.factors.size() == 1 && count < 2 ? take<AddOp>(argument.factors[0]) : AddOp();
    if (!add)
      return false;
    Value power = besides(add, [&](Value summand) { return count == 0 ? summand == x : isOne(summand); });
    Product cube;
    if (power)
      factorsOf(power, cube);
    constexpr double curvature = 0.044715;
    return isAbout(cube.number, curvature) && cube.factors.size() + count == 3 &&
           llvm::all_of(cube.factors, [&](Value factor) { return factor == x; });
  }

  const ttcore::FusionState &state;
  Value x;
  SmallVector<Operation *> inside;
};

/// Gelu of a product of matrices, which can compute it.
struct FuseGelu : OpRewritePattern<MultiplyOp> {
  FuseGelu(MLIRContext *context, ttcore::FusionState &state) : OpRewritePattern(context), state(state) {}

  LogicalResult matchAndRewrite(MultiplyOp multiply, PatternRewriter &rewriter) const override {
    Value x = GeluMatcher(state).match(multiply);
    Operation *product = x ? x.getDefiningOp() : nullptr;
    if (!product || x.getType() != multiply.getType() || !takesActivation(product) || state.isObserved(product))
      return rewriter.notifyMatchFailure(multiply, "does not end gelu of a product that may compute it");
    rewriter.modifyOpInPlace(product, [&] {
      StringRef name = "gelu_tanh";
      if (auto matmul = dyn_cast<MatmulOp>(product))
        matmul.setActivation(name);
      else
        cast<LinearOp>(product).setActivation(name);
    });
    forgetSource(rewriter, product, product->getLoc());
    setLocation(rewriter, product, multiply.getLoc());
    rewriter.replaceOp(multiply, x);
    return success();
  }

private:
  ttcore::FusionState &state;
};
} // namespace

void ttnn::populateGeluFusions(RewritePatternSet &patterns, ttcore::FusionState &state) {
  patterns.add<FuseGelu>(patterns.getContext(), state);
}
