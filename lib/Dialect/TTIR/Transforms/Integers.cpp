//===- Integers.cpp - integer types that the chip lacks -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Integers.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitcastConvertOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseXorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalRightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static IntegerType integerElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<IntegerType>(tensor.getElementType()) : IntegerType();
}

unsigned ttir::narrowWidth(Type type) {
  IntegerType integer = integerElements(type);
  if (!integer)
    return 0;
  const unsigned width = integer.getWidth();
  const bool isSmall = width == 2 || width == 4;
  return isSmall || (!integer.isUnsigned() && (width == 8 || width == 16)) ? width : 0;
}

//===----------------------------------------------------------------------===//
// Values that are known
//===----------------------------------------------------------------------===//

namespace {
/// The range of a result of integers: that of its own type, or of the 32 bits that replace 64.
struct Range {
  int64_t low, high;

  static std::optional<Range> of(Type type) {
    IntegerType integer = integerElements(type);
    if (!integer || integer.getWidth() == 1 || integer.getWidth() > 64)
      return std::nullopt;
    unsigned width = std::min(integer.getWidth(), 32u);
    int64_t half = int64_t(1) << (width - 1);
    return integer.isUnsigned() ? Range{0, 2 * half - 1} : Range{-half, half - 1};
  }
  bool holds(int64_t value) const { return low <= value && value <= high; }
  bool holds(double value) const { return static_cast<double>(low) <= value && value <= static_cast<double>(high); }
};
} // namespace

template <class Number>
static LogicalResult refuse(Operation *op, Number value, const Twine &where, const Range &range) {
  Type type = op->getResult(0).getType();
  auto diagnostic = op->emitOpError("value ") << value << where << " does not fit into " << integerElements(type);
  if (integerElements(type).getWidth() > 32)
    diagnostic << ", of which the chip holds 32 bits";
  return diagnostic << "; expected " << range.low << " to " << range.high;
}

/// Every value of `bytes`, which are integers of type T, or one for all.
template <class T> static LogicalResult checkValues(Operation *op, ArrayRef<char> bytes, const Range &range) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    // Beyond 2^63 is beyond every range.
    if (!std::in_range<int64_t>(value) || !range.holds(static_cast<int64_t>(value)))
      return refuse(op, value, " at position " + Twine(i), range);
  }
  return success();
}

static LogicalResult checkElements(Operation *op, ElementsAttr elements, const Range &range) {
  IntegerType integer = integerElements(elements.getType());
  std::optional<Range> given = Range::of(elements.getType());
  if (!given || (integer.getWidth() <= 32 && range.holds(given->low) && range.holds(given->high)))
    return success();
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(elements)) {
    bytes = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    // A resource without data is reported when the data is needed.
    if (const AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  }
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 2: // one in a byte
  case 4:
  case 8:
    return isUnsigned ? checkValues<uint8_t>(op, bytes, range) : checkValues<int8_t>(op, bytes, range);
  case 16:
    return isUnsigned ? checkValues<uint16_t>(op, bytes, range) : checkValues<int16_t>(op, bytes, range);
  case 32:
    return isUnsigned ? checkValues<uint32_t>(op, bytes, range) : checkValues<int32_t>(op, bytes, range);
  case 64:
    return isUnsigned ? checkValues<uint64_t>(op, bytes, range) : checkValues<int64_t>(op, bytes, range);
  }
  return success();
}

/// An attribute that elements of the result have as their value.
static LogicalResult checkAttribute(Operation *op, StringRef name, const Range &range) {
  Attribute attr = op->getAttr(name);
  const std::string where = (" of attribute '" + name + "'").str();
  if (auto integer = dyn_cast_if_present<IntegerAttr>(attr)) {
    const APInt &value = integer.getValue();
    bool isUnsigned = integer.getType().isUnsignedInteger();
    if (isUnsigned ? !value.isIntN(63) : !value.isSignedIntN(64))
      return refuse(op, attr, where, range);
    int64_t number = isUnsigned ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
    return range.holds(number) ? success() : refuse(op, number, where, range);
  }
  if (auto real = dyn_cast_if_present<FloatAttr>(attr)) {
    double value = std::trunc(real.getValueAsDouble());
    return range.holds(value) ? success() : refuse(op, real.getValueAsDouble(), where, range);
  }
  return success();
}

LogicalResult ttir::checkKnownIntegers(Operation *op) {
  std::optional<Range> range = op->getNumResults() == 1 ? Range::of(op->getResult(0).getType()) : std::nullopt;
  if (!range)
    return success();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return checkElements(op, constant.getValue(), *range);
  if (isa<FullOp>(op))
    return checkAttribute(op, "fill_value", *range);
  if (isa<PadOp>(op))
    return checkAttribute(op, "value", *range);
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    // The verifier has counted the values.
    int64_t count = arange.getType().getDimSize(shapes::signedInt(arange.getArangeDimension()));
    if (count == 0)
      return success();
    __int128 last = static_cast<__int128>(arange.getStart()) + static_cast<__int128>(count - 1) * arange.getStep();
    for (auto [value, where] : {std::pair<int64_t, StringRef>(arange.getStart(), " at its start"),
                                {static_cast<int64_t>(last), " at its end"}})
      if (!range->holds(value))
        return refuse(op, value, where, *range);
  }
  return success();
}

bool ttir::has64BitResults(Operation *op) {
  if (op->hasTrait<trait::Creation>())
    return false;
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    IntegerType integer = integerElements(type);
    return integer && integer.getWidth() == 64;
  });
}

//===----------------------------------------------------------------------===//
// Narrow integers
//===----------------------------------------------------------------------===//

/// Ops whose results are in the range of a narrow type if their operands are. All others are wrapped.
static bool staysInRange(Operation *op) {
  if (op->hasTrait<trait::Creation>())
    return !op->hasTrait<trait::DrawsValues>(); // their values are checked
  return op->hasTrait<trait::KeepsRange>() || op->hasTrait<trait::MovesValues>() || op->hasTrait<trait::Compares>() ||
         op->hasTrait<trait::ComputesTruth>() || op->hasTrait<trait::ReadsBits>();
}

/// Whether every value of `from` is one of `to`.
static bool includes(IntegerType to, Type from) {
  auto integer = dyn_cast<IntegerType>(from);
  if (!integer)
    return false;
  if (integer.getWidth() == 1)
    return true;
  bool isSigned = !integer.isUnsigned();
  if (to.isUnsigned())
    return !isSigned && integer.getWidth() <= to.getWidth();
  return isSigned ? integer.getWidth() <= to.getWidth() : integer.getWidth() < to.getWidth();
}

LogicalResult NarrowIntegers::collect(Operation *op) {
  if (!isa_and_nonnull<TTIRDialect>(op->getDialect()) || op->getNumResults() == 0)
    return success();
  Entry entry{op, {}, {}, {}, {}};
  if (isa<BitcastConvertOp, TypecastOp>(op)) {
    entry.from = getElementTypeOrSelf(op->getOperand(0).getType());
    entry.to = getElementTypeOrSelf(op->getResult(0).getType());
  }
  if (isa<BitcastConvertOp>(op)) {
    if (entry.from.isIntOrFloat() && entry.from.getIntOrFloatBitWidth() > 32)
      return op->emitOpError("reads the bits of ")
             << entry.from << " as " << entry.to << ", but the chip holds either in 32 bits";
    if (narrowWidth(op->getOperand(0).getType()) || narrowWidth(op->getResult(0).getType()))
      entries.push_back(entry);
    return success();
  }
  if (isa<LogicalRightShiftOp>(op)) {
    IntegerType integer = integerElements(op->getResult(0).getType());
    if (integer && integer.getWidth() == 64 && !integer.isUnsigned()) {
      wideShifts.push_back(op);
      return success();
    }
  }
  bool isInRange = staysInRange(op);
  if (auto cast = dyn_cast<TypecastOp>(op))
    isInRange = narrowWidth(op->getResult(0).getType()) && includes(::mlir::cast<IntegerType>(entry.to), entry.from);
  for (Type type : op->getResultTypes()) {
    entry.widths.push_back(isInRange ? 0 : narrowWidth(type));
    entry.isUnsigned.push_back(integerElements(type) && integerElements(type).isUnsigned());
  }
  if (llvm::any_of(entry.widths, [](unsigned width) { return width != 0; }))
    entries.push_back(entry);
  return success();
}

bool NarrowIntegers::rewrite() {
  for (const Entry &entry : entries)
    isa<BitcastConvertOp>(entry.op) ? rewriteBitcast(entry) : wrapResults(entry);
  for (Operation *op : wideShifts)
    rewriteWideShift(op);
  return !entries.empty() || !wideShifts.empty();
}

Value NarrowIntegers::constant(Value like, int64_t number) {
  auto type = cast<RankedTensorType>(like.getType());
  Block *block = like.getParentBlock();
  Value &known = constants[{block, {type.getRank(), number}}];
  if (!known) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    OpBuilder builder = OpBuilder::atBlockBegin(block);
    known = FullOp::create(builder, builder.getUnknownLoc(), RankedTensorType::get(shape, type.getElementType()),
                           builder.getDenseI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end())),
                           builder.getI32IntegerAttr(number));
  }
  return known;
}

/// x mod 2^n; for signed numbers (that xor 2^(n-1)) - 2^(n-1): the lower n bits, with copies of the highest of them
/// above.
Value NarrowIntegers::wrapped(OpBuilder &builder, Location loc, Location last, Value value, unsigned width,
                              bool isUnsigned) {
  Type type = value.getType();
  Value low =
      BitwiseAndOp::create(builder, isUnsigned ? last : loc, type, value, constant(value, (int64_t(1) << width) - 1));
  if (isUnsigned)
    return low;
  Value sign = constant(value, int64_t(1) << (width - 1));
  Value turned = BitwiseXorOp::create(builder, loc, type, low, sign);
  return SubtractOp::create(builder, last, type, turned, sign);
}

void NarrowIntegers::wrapResults(const Entry &entry) {
  Operation *op = entry.op;
  // The value of the source op is the wrapped one.
  Location last = op->getLoc(), loc = ttcore::withoutSourceNumber(last);
  op->setLoc(loc);
  OpBuilder builder(op);
  if (isa<LogicalRightShiftOp>(op)) {
    Value value = op->getOperand(0);
    Value bits = BitwiseAndOp::create(builder, loc, value.getType(), value,
                                      constant(value, (int64_t(1) << entry.widths.front()) - 1));
    op->setOperand(0, bits);
  }
  builder.setInsertionPointAfter(op);
  for (auto [result, width, isUnsigned] : llvm::zip_equal(op->getResults(), entry.widths, entry.isUnsigned)) {
    if (width == 0)
      continue;
    llvm::SmallPtrSet<Operation *, 4> own;
    Value value;
    if (entry.from && !isa<IntegerType>(entry.from)) {
      // A float is cast to the nearest value.
      int32_t high = isUnsigned ? (1 << width) - 1 : (1 << (width - 1)) - 1;
      value =
          ClampScalarOp::create(builder, last, result.getType(), result,
                                builder.getI32IntegerAttr(isUnsigned ? 0 : -high - 1), builder.getI32IntegerAttr(high));
      own.insert(value.getDefiningOp());
    } else {
      value = wrapped(builder, loc, last, result, width, isUnsigned);
      Operation *low = value.getDefiningOp();
      if (!isUnsigned)
        low = low->getOperand(0).getDefiningOp()->getOperand(0).getDefiningOp();
      own.insert(low);
    }
    result.replaceAllUsesExcept(value, own);
  }
}

/// Shifts 64 bits whose upper 32 are copies of the sign: the first 31 steps shift in copies of it, and steps beyond 32
/// zeros. A negative distance is a large one.
void NarrowIntegers::rewriteWideShift(Operation *op) {
  Location last = op->getLoc(), loc = ttcore::withoutSourceNumber(last);
  OpBuilder builder(op);
  Value x = op->getOperand(0), distance = op->getOperand(1);
  Type type = distance.getType();
  auto clamped = [&](Value value, int32_t high) {
    return ClampScalarOp::create(builder, loc, type, value, builder.getI32IntegerAttr(0),
                                 builder.getI32IntegerAttr(high));
  };
  distance =
      BitwiseAndOp::create(builder, loc, type, distance, constant(distance, std::numeric_limits<int32_t>::max()));
  Value beyond = SubtractOp::create(builder, loc, type, distance, constant(distance, 32));
  Value signs = RightShiftOp::create(builder, loc, op->getResult(0).getType(), x, clamped(distance, 31));
  auto shifted = LogicalRightShiftOp::create(builder, last, op->getResult(0).getType(), signs, clamped(beyond, 32));
  op->getResult(0).replaceAllUsesWith(shifted.getResult());
  op->erase();
}

/// Rewrites a bitcast with the unsigned type of the same width, which the chip has.
void NarrowIntegers::rewriteBitcast(const Entry &entry) {
  Operation *op = entry.op;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned width = entry.to.getIntOrFloatBitWidth();
  Type unsignedElement = IntegerType::get(op->getContext(), width, IntegerType::Unsigned);
  Location last = op->getLoc(), loc = ttcore::withoutSourceNumber(last);
  OpBuilder builder(op);
  Value value = op->getOperand(0);
  if (width < 8) { // two types of integers, of which the chip has neither
    const bool isUnsigned = cast<IntegerType>(entry.to).isUnsigned();
    if (value.getType() != op->getResult(0).getType())
      value = TypecastOp::create(builder, loc, type, value, /*conservative_folding=*/false);
    value = wrapped(builder, loc, last, value, width, isUnsigned);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return;
  }
  bool isNarrowFrom = isa<IntegerType>(entry.from) && entry.from != unsignedElement,
       isNarrowTo = isa<IntegerType>(entry.to) && entry.to != unsignedElement;
  if (!(isNarrowFrom && isNarrowTo)) {
    auto cast = [&](Location at, Type element) {
      value = TypecastOp::create(builder, at, type.clone(element), value, /*conservative_folding=*/false);
    };
    if (isNarrowFrom)
      cast(isa<IntegerType>(entry.to) ? last : loc, unsignedElement);
    if (!isa<IntegerType>(entry.to) || !isa<IntegerType>(entry.from))
      value = BitcastConvertOp::create(builder, isNarrowTo ? loc : last,
                                       isNarrowTo ? type.clone(unsignedElement) : type, value);
    if (isNarrowTo) {
      cast(loc, type.getElementType());
      value = wrapped(builder, loc, last, value, width, /*isUnsigned=*/false);
    }
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}
