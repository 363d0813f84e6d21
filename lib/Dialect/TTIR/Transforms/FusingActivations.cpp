//===- FusingActivations.cpp - recognition of decomposed activations ------===//

#include "Fusing.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static bool isFloat(Value value) { return isa<FloatType, ttcore::TileType>(tensorType(value).getElementType()); }

/// The operand of a commutative op whose other operand is `number` everywhere; null if there is none of the result's
/// type.
static Value besides(Operation *op, double number) {
  for (unsigned i : {0, 1})
    if (Fuser::splat(op->getOperand(i)) == number && haveSameType(op->getOperand(1 - i), op->getResult(0)) &&
        isFloat(op->getResult(0)))
      return op->getOperand(1 - i);
  return {};
}

/// max(x, 0)
static LogicalResult fuseRelu(Operation *maximum, Fuser &fuser) {
  Value x = besides(maximum, 0);
  return x ? fuser.replace(maximum, "relu", x, {}) : failure();
}

/// min(relu(x), 6)
static LogicalResult fuseRelu6(Operation *minimum, Fuser &fuser) {
  Value x = besides(minimum, 6);
  auto relu = x ? fuser.only<ReluOp>(x) : ReluOp();
  return relu && haveSameType(relu->getOperand(0), x) ? fuser.replace(minimum, "relu6", relu->getOperand(0), {})
                                                      : failure();
}

/// clamp(x, 0, 6)
static LogicalResult fuseClamp(Operation *op, Fuser &fuser) {
  auto clamp = cast<ClampScalarOp>(op);
  auto is = [](Attribute attr, double number) {
    auto real = dyn_cast<FloatAttr>(attr);
    return real && real.getValueAsDouble() == number;
  };
  Value x = op->getOperand(0);
  if (!is(clamp.getMin(), 0) || !is(clamp.getMax(), 6) || !isFloat(x) || !haveSameType(x, op->getResult(0)))
    return failure();
  return fuser.replace(op, "relu6", x, {});
}

/// x * sigmoid(x)
static LogicalResult fuseSilu(Operation *multiply, Fuser &fuser) {
  for (unsigned i : {0, 1}) {
    Value x = multiply->getOperand(1 - i);
    auto sigmoid = fuser.only<SigmoidOp>(multiply->getOperand(i));
    if (sigmoid && sigmoid->getOperand(0) == x && isFloat(x) && haveSameType(x, sigmoid->getResult(0)) &&
        haveSameType(x, multiply->getResult(0)))
      return fuser.replace(multiply, "silu", x, {});
  }
  return failure();
}

void ttir::addActivationFusions(Fusions &fusions) {
  fusions["maximum"].push_back(fuseRelu);
  fusions["minimum"].push_back(fuseRelu6);
  fusions["clamp_scalar"].push_back(fuseClamp);
  fusions["multiply"].push_back(fuseSilu);
}
