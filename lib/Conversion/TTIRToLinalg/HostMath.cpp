//===- HostMath.cpp - ops of math that the C library lacks ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace mlir::tt {
#define GEN_PASS_DEF_LOWERHOSTMATH
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Functions of the library in f32 and f64.
static constexpr StringLiteral ofLibrary[] = {
    "absf", "acos", "acosh", "asin", "asinh", "atan",  "atan2", "atanh", "cbrt",  "ceil",     "cos",
    "cosh", "erf",  "erfc",  "exp",  "exp2",  "expm1", "floor", "fma",   "log",   "log10",    "log1p",
    "log2", "powf", "round", "sin",  "sinh",  "sqrt",  "tan",   "tanh",  "trunc", "roundeven"};

using X = ValueRange;

static Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}
template <class Op> static Value intrinsic(ImplicitLocOpBuilder &b, X x) {
  // Neither the least number nor 0 gives poison.
  return Op::create(b, x[0].getType(), x[0], /*is_poison=*/false);
}
template <arith::CmpFPredicate predicate> static Value sizeToInfinity(ImplicitLocOpBuilder &b, X x) {
  Value size = math::AbsFOp::create(b, x[0]);
  return arith::CmpFOp::create(b, predicate, size, number(b, x[0].getType(), std::numeric_limits<double>::infinity()));
}

namespace {
struct Row {
  StringLiteral name;
  bool isOfIntegers;
  Value (*lower)(ImplicitLocOpBuilder &, X);
};
} // namespace

static const Row rows[] = {
    {"absi", true, intrinsic<LLVM::AbsOp>},
    {"ctlz", true, intrinsic<LLVM::CountLeadingZerosOp>},
    {"ctpop", true,
     [](ImplicitLocOpBuilder &b, X x) -> Value { return LLVM::CtPopOp::create(b, x[0].getType(), x[0]); }},
    {"cttz", true, intrinsic<LLVM::CountTrailingZerosOp>},
    {"copysign", false,
     [](ImplicitLocOpBuilder &b, X x) -> Value { return LLVM::CopySignOp::create(b, x[0].getType(), x[0], x[1]); }},
    {"isfinite", false, sizeToInfinity<arith::CmpFPredicate::OLT>},
    {"isinf", false, sizeToInfinity<arith::CmpFPredicate::OEQ>},
    {"isnan", false,
     [](ImplicitLocOpBuilder &b, X x) -> Value {
       return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x[0], x[0]);
     }},
    {"rsqrt", false,
     [](ImplicitLocOpBuilder &b, X x) -> Value {
       return arith::DivFOp::create(b, number(b, x[0].getType(), 1), math::SqrtOp::create(b, x[0]));
     }},
};

namespace {
struct LowerHostMath : tt::impl::LowerHostMathBase<LowerHostMath> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() == "math" && op->getNumOperands() > 0)
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : ops)
      if (failed(lower(op)))
        return signalPassFailure();
  }

private:
  static LogicalResult lower(Operation *op) {
    StringRef name = op->getName().stripDialect();
    Type type = op->getOperand(0).getType();
    const bool isFloat = type.isF32() || type.isF64();
    if (isFloat && llvm::is_contained(ofLibrary, name))
      return success();
    for (const Row &row : rows) {
      if (row.name != name || !(row.isOfIntegers ? type.isSignlessInteger() : isFloat))
        continue;
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->getResult(0).replaceAllUsesWith(row.lower(b, op->getOperands()));
      op->erase();
      return success();
    }
    return op->emitError() << "'" << op->getName() << "' of " << type
                           << " is not lowered to LLVM: the host has no code for it";
  }
};
} // namespace
