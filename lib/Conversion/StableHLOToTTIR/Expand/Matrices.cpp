//===- Matrices.cpp - formulas of real and complex matrices ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Matrices.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

char hlo::letterOf(stablehlo::CustomCallOp op, StringRef name) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto letter = config ? config.getAs<IntegerAttr>(name) : IntegerAttr();
  return letter ? static_cast<char>(letter.getValue().getZExtValue()) : 0;
}

bool hlo::isNumeric(Value value, int64_t rank) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < rank)
    return false;
  Type element = tensor.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return isa<FloatType>(element);
}

bool hlo::givesNumbers(stablehlo::CustomCallOp op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           (tensor.getElementType().isIntOrFloat() || isa<ComplexType>(tensor.getElementType()));
  });
}

Operation *hlo::createCall(ImplicitLocOpBuilder &builder, StringRef target, TypeRange results, ValueRange operands) {
  OperationState state(builder.getLoc(), stablehlo::CustomCallOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttribute("call_target_name", builder.getStringAttr(target));
  return builder.create(state);
}

Value hlo::zerosLike(ImplicitLocOpBuilder &builder, Value value) {
  RankedTensorType type = typeOf(value);
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    Attribute zero = builder.getZeroAttr(complex.getElementType());
    return stablehlo::ConstantOp::create(builder,
                                         DenseElementsAttr::get(type, Attribute(builder.getArrayAttr({zero, zero}))));
  }
  return stablehlo::ConstantOp::create(builder, cast<ElementsAttr>(builder.getZeroAttr(type)));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Expr hlo::complexNumber(Expr re, Expr im) {
  ImplicitLocOpBuilder &builder = re.build();
  return {builder, stablehlo::ComplexOp::create(builder, re.type().clone(ComplexType::get(re.element())), re.value(),
                                                im.value())};
}

Expr hlo::withElements(Expr x, Type element) {
  auto to = dyn_cast<ComplexType>(element);
  if (!to)
    return x.convert(element);
  return element == x.element()
             ? x
             : complexNumber(realPart(x).convert(to.getElementType()), imaginaryPart(x).convert(to.getElementType()));
}

Expr hlo::inSinglePrecision(Expr x) {
  Type single = x.build().getF32Type();
  return withElements(x, isComplex(x) ? ComplexType::get(single) : single);
}

Expr hlo::realPart(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  auto complex = dyn_cast<ComplexType>(x.element());
  return complex
             ? Expr(builder, stablehlo::RealOp::create(builder, x.type().clone(complex.getElementType()), x.value()))
             : x;
}

Expr hlo::imaginaryPart(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  auto complex = dyn_cast<ComplexType>(x.element());
  return complex
             ? Expr(builder, stablehlo::ImagOp::create(builder, x.type().clone(complex.getElementType()), x.value()))
             : x.number(0);
}

Expr hlo::conjugated(Expr x) { return isComplex(x) ? complexNumber(realPart(x), -imaginaryPart(x)) : x; }

Expr hlo::magnitude(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  auto complex = dyn_cast<ComplexType>(x.element());
  return complex ? Expr(builder, stablehlo::AbsOp::create(builder, x.type().clone(complex.getElementType()), x.value()))
                 : abs(x);
}

Expr hlo::squaredMagnitude(Expr x) {
  if (!isComplex(x))
    return x * x;
  Expr re = realPart(x), im = imaginaryPart(x);
  return re * re + im * im;
}

Expr hlo::scaled(Expr x, Expr real) {
  return isComplex(x) ? complexNumber(realPart(x) * real, imaginaryPart(x) * real) : x * real;
}

Expr hlo::divided(Expr x, Expr real) {
  return isComplex(x) ? complexNumber(realPart(x) / real, imaginaryPart(x) / real) : x / real;
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

Expr hlo::columnAt(Expr matrix, Expr number) { return partAt(matrix, matrix.rank() - 1, number); }
Expr hlo::rowAt(Expr matrix, Expr number) { return partAt(matrix, matrix.rank() - 2, number); }

static SmallVector<Value> startsOf(Expr x, int64_t dimension, Expr at) {
  SmallVector<Value> starts(x.rank(), at.number(0).value());
  starts[dimension] = at.value();
  return starts;
}

Expr hlo::partAt(Expr x, int64_t dimension, Expr at) {
  SmallVector<int64_t> shape(x.shape());
  shape[dimension] = 1;
  ImplicitLocOpBuilder &builder = x.build();
  return {builder, stablehlo::DynamicSliceOp::create(builder, x.type().clone(shape), x.value(),
                                                     startsOf(x, dimension, at), builder.getDenseI64ArrayAttr(shape))};
}

Expr hlo::withPart(Expr x, Expr part, int64_t dimension, Expr at) {
  ImplicitLocOpBuilder &builder = x.build();
  return {builder, stablehlo::DynamicUpdateSliceOp::create(builder, x.type(), x.value(), part.value(),
                                                           startsOf(x, dimension, at))};
}

Expr hlo::padded(Expr x, int64_t rows, int64_t columns) {
  SmallVector<int64_t> none(x.rank(), 0), more(none), ones(x.rank(), 1);
  more[x.rank() - 2] = rows - x.size(x.rank() - 2);
  more.back() = columns - x.size(x.rank() - 1);
  return x.pad(x.number(0).slice(none, ones, ones).reshape({}), none, more, none);
}

std::pair<Expr, Expr> hlo::ascending(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  Expr places = position(x, -1);
  auto sort =
      stablehlo::SortOp::create(builder, TypeRange{x.type(), places.type()}, ValueRange{x.value(), places.value()},
                                static_cast<uint64_t>(x.rank() - 1), /*is_stable=*/true);
  OpBuilder::InsertionGuard guard(builder);
  Type number = RankedTensorType::get({}, x.element()), place = RankedTensorType::get({}, places.element());
  Location loc = builder.getLoc();
  Block *body = builder.createBlock(&sort.getComparator(), {}, {number, number, place, place}, {loc, loc, loc, loc});
  Expr before(builder, body->getArgument(0)), after(builder, body->getArgument(1));
  stablehlo::ReturnOp::create(builder, (before < after).value());
  return {{builder, sort->getResult(0)}, {builder, sort->getResult(1)}};
}

Expr hlo::hermitian(Expr matrix, bool lower) {
  Expr rows = position(matrix, -2), columns = position(matrix, -1);
  Expr isRead = lower ? rows >= columns : rows <= columns;
  Expr full = isRead.select(matrix, adjoint(matrix));
  // The imaginary part of the diagonal is not read.
  return isComplex(full) ? (rows == columns).select(asElementOf(realPart(full), full), full) : full;
}
