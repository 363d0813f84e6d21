//===- FusingGelu.cpp - recognition of decomposed tanh gelu ---------------===//

#include "Fusing.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The one value of a constant, or nothing.
static std::optional<double> numberIn(Value value) {
  Attribute number;
  if (auto constant = value.getDefiningOp<ttnn::ConstantOp>()) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense && dense.isSplat())
      number = dense.getSplatValue<Attribute>();
  } else if (auto full = value.getDefiningOp<FullOp>()) {
    number = full.getFillValue();
  } else if (value.getDefiningOp<OnesOp>()) {
    return 1.0;
  }
  auto real = dyn_cast_or_null<FloatAttr>(number);
  return real ? std::optional<double>(real.getValueAsDouble()) : std::nullopt;
}

/// Equal as far as bf16 tells numbers apart.
static bool isAbout(double number, double wanted) { return std::abs(number - wanted) <= wanted / 128; }

namespace {
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), where x is a product of matrices.
class GeluMatcher {
public:
  explicit GeluMatcher(const ttcore::ObservedSources &observed) : observed(observed) {}

  /// x, if `root` is that and nothing else uses what is computed on the way; else null.
  Value match(Operation *root) {
    if (!matchRoot(root))
      return {};
    auto isInside = [&](Operation *user) { return user == root || llvm::is_contained(inside, user); };
    return llvm::all_of(x.getUsers(), isInside) ? x : Value();
  }
  /// Erases what computed it, users first.
  void erase(Operation *root) {
    SmallVector<Operation *> ops = {root};
    llvm::append_range(ops, inside);
    SmallVector<Value> numbers;
    for (Operation *op : ops) {
      llvm::append_range(numbers, op->getOperands());
      llvm::erase_if(numbers,
                     [&](Value value) { return value == x || llvm::is_contained(ops, value.getDefiningOp()); });
      op->erase();
    }
    SetVector<Operation *> makers;
    for (Value number : numbers)
      makers.insert(number.getDefiningOp());
    for (Operation *maker : makers)
      if (maker->use_empty())
        maker->erase();
  }

private:
  struct Product {
    double number = 1;
    SmallVector<Value> factors;
  };

  /// The op that makes a value for the pattern alone.
  template <class Op> Op take(Value value) {
    auto op = value.getDefiningOp<Op>();
    if (!op || !value.hasOneUse() || observed.contains(op))
      return {};
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

  const ttcore::ObservedSources &observed;
  Value x;
  SmallVector<Operation *> inside; // users before what they use
};
} // namespace

bool ttnn::fuseGelu(Operation *multiply, const ttcore::ObservedSources &observed) {
  GeluMatcher matcher(observed);
  Value x = matcher.match(multiply);
  if (!x || x.getType() != multiply->getResult(0).getType() || !takesActivation(x.getDefiningOp()) ||
      observed.contains(x.getDefiningOp()))
    return false;
  Operation *product = x.getDefiningOp();
  product->setAttr("activation", StringAttr::get(product->getContext(), "gelu_tanh"));
  forgetSource(product, product->getLoc());
  product->setLoc(multiply->getLoc());
  multiply->getResult(0).replaceAllUsesWith(x);
  matcher.erase(multiply);
  return true;
}
