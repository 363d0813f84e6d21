//===- Elementwise.cpp - decompositions of elementwise ops ----------------===//
//
// Each is an equation of ops that TTNN has. What is computed on the way is
// f32, so that the result is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// Values of an equation in one unknown.
class Equation {
public:
  explicit Equation(Lowering &lowering) : lowering(lowering), unknown(lowering.op->getOperand(0)) {}

  Value x() const { return unknown; }
  Value constant(double value) { return lowering.scalar(value, lowering.shapeOf(unknown).size(), unknown); }
  Value operator()(StringRef name, ValueRange operands) {
    return lowering.make(name, operands,
                         lowering.typeLike(unknown, lowering.shapeOf(unknown), ttcore::DataType::Float32));
  }
  double parameter(StringRef name) const { return cast<FloatAttr>(lowering.op->getAttr(name)).getValueAsDouble(); }
  /// The last op of the equation makes the result's type.
  LogicalResult result(StringRef name, ValueRange operands) {
    return lowering.replace(lowering.make(name, operands, lowering.resultType()));
  }

private:
  Lowering &lowering;
  Value unknown;
};
} // namespace

/// sign(x) * floor(|x|)
static Value trunc(Equation &e) { return e("multiply", {e("sign", e.x()), e("floor", e("abs", e.x()))}); }

void ttnn::addElementwiseRules(Rules &rules) {
  auto add = [&](StringRef name, LogicalResult (*equation)(Equation &)) {
    rules[name] = [equation](Lowering &lowering) {
      // Every constant of an equation is made on a device.
      if (!lowering.device())
        return lowering.refuse("there is no device to make its constants on");
      Equation e(lowering);
      return equation(e);
    };
  };
  add("exp2", [](Equation &e) { return e.result("pow_tensor", {e.constant(2), e.x()}); });
  add("frac", [](Equation &e) { return e.result("subtract", {e.x(), trunc(e)}); });
  add("selu", [](Equation &e) {
    Value negative = e("multiply", {e.constant(e.parameter("alpha")), e("expm1", e.x())});
    Value both = e("where", {e("gt", {e.x(), e.constant(0)}), e.x(), negative});
    return e.result("multiply", {e.constant(e.parameter("scale")), both});
  });
  add("softsign", [](Equation &e) { return e.result("divide", {e.x(), e("add", {e("abs", e.x()), e.constant(1)})}); });
  add("square", [](Equation &e) { return e.result("multiply", {e.x(), e.x()}); });
  add("trunc", [](Equation &e) { return e.result("multiply", {e("sign", e.x()), e("floor", e("abs", e.x()))}); });
}
