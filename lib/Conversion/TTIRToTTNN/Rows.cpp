//===- Rows.cpp - table of ops with other names in TTNN -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"
#include "ttmlir/Dialect/TTNN/IR/TTNNOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

std::optional<RegisteredOperationName> ttnn::sameName(StringRef name, MLIRContext *context) {
  std::optional<RegisteredOperationName> found = RegisteredOperationName::lookup(("ttnn." + name).str(), context);
  return found && found->hasTrait<tt::trait::Unpublished>() ? std::nullopt : found;
}

SmallVector<NamedAttribute> ttnn::passedOn(Operation *op) {
  return llvm::filter_to_vector(op->getAttrs(), [&](NamedAttribute each) { return isPassedOn(op, each.getName()); });
}

namespace {
/// Attribute `from` of the TTIR op becomes `to` of the TTNN op, converted if needed. Without `to` it is dropped; with a
/// conversion, only if that returns null.
struct AttributeChange {
  StringRef from, to;
  Attribute (*convert)(Attribute) = nullptr;
};

/// Differences other than the name. `onDevice`: the TTNN op takes a device after its operands if its result is on one.
/// `without`: an operand that the TTNN op lacks, a tensor that TTIR names as the destination of the result, with no
/// operands or only single ones before it.
struct Row {
  StringRef from, to;
  std::vector<AttributeChange> attributes = {};
  bool onDevice = false;
  std::optional<unsigned> without = std::nullopt;
};

template <class From, class To>
Row row(std::vector<AttributeChange> attributes = {}, bool onDevice = false,
        std::optional<unsigned> without = std::nullopt) {
  return {From::getOperationName(), To::getOperationName(), std::move(attributes), onDevice, without};
}

/// Replaces an op by one with the same results; refuses attributes that the new op lacks.
LogicalResult replaceBy(OperationName to, Operation *op, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                        ConversionPatternRewriter &rewriter) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes) {
    if (!attribute.getName().strref().contains('.') && !isInherent(to, attribute.getName()))
      return notifyMatchFailure(rewriter, op,
                                to.getStringRef() + " has no attribute '" + attribute.getName().strref() + "'");
    kept.push_back(attribute);
  }
  OperationState state(op->getLoc(), to, operands, op->getResultTypes(), kept);
  rewriter.replaceOp(op, rewriter.create(state));
  return success();
}

bool isOnDevice(Value value) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType());
  return !layout || layout.isOnDevice();
}

/// Lowers to the op of the row, each attribute under its own name.
class LowerByRow : public ConversionPattern {
public:
  LowerByRow(MLIRContext *context, Row row)
      : ConversionPattern(row.from, /*benefit=*/1, context, row.to), row(std::move(row)), to(this->row.to, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> given,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> operands(given);
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op->getAttrs()) {
      const AttributeChange *entry = changeOf(attribute.getName());
      if ((entry || isPassedOn(op, attribute.getName())) && succeeded(change(attribute, entry)))
        attributes.push_back(attribute);
    }
    if (row.without)
      operands.erase(operands.begin() + *row.without);
    if (row.onDevice && isOnDevice(op->getResult(0))) {
      operands.push_back(findDevice(rewriter, op));
      if (!operands.back())
        return failure();
    }
    return replaceBy(to, op, operands, attributes, rewriter);
  }

private:
  const AttributeChange *changeOf(StringRef name) const {
    auto found = llvm::find_if(row.attributes, [&](const AttributeChange &each) { return each.from == name; });
    return found == row.attributes.end() ? nullptr : &*found;
  }

  /// Fails where the attribute is dropped.
  LogicalResult change(NamedAttribute &attribute, const AttributeChange *entry) const {
    if (row.without && attribute.getName() == "operandSegmentSizes") {
      SmallVector<int32_t> segments(cast<DenseI32ArrayAttr>(attribute.getValue()).asArrayRef());
      segments.erase(segments.begin() + *row.without);
      attribute.setValue(DenseI32ArrayAttr::get(attribute.getValue().getContext(), segments));
    }
    if (!entry)
      return success();
    if (entry->to.empty())
      return success(entry->convert && entry->convert(attribute.getValue()));
    attribute = {StringAttr::get(getContext(), entry->to),
                 entry->convert ? entry->convert(attribute.getValue()) : attribute.getValue()};
    return success();
  }

  Row row;
  OperationName to;
};

/// Every op without a pattern of its own becomes the op of its name. This is a single pattern, not one per op: creating
/// all of them would take as long as converting a small program.
class LowerByName : public ConversionPattern {
public:
  LowerByName(MLIRContext *context, llvm::SmallDenseSet<OperationName> others)
      : ConversionPattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), others(std::move(others)) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_present<ttir::TTIRDialect>(op->getDialect()) || others.contains(op->getName()))
      return failure();
    std::optional<RegisteredOperationName> to = sameName(op->getName().stripDialect(), getContext());
    if (!to)
      return op->hasTrait<tt::trait::Unpublished>()
                 ? notifyMatchFailure(rewriter, op,
                                      "what its records of tokens hold is described in ways that contradict each other")
                 : notifyMatchFailure(rewriter, op, "there is no ttnn." + op->getName().stripDialect());
    return replaceBy(*to, op, operands, passedOn(op), rewriter);
  }

private:
  llvm::SmallDenseSet<OperationName> others;
};
} // namespace

/// Returns null for `true`, which TTNN's op implies.
static Attribute nullIfTrue(Attribute attr) {
  auto value = dyn_cast<BoolAttr>(attr);
  return value && value.getValue() ? Attribute() : attr;
}

/// array<i32: ...>, array<i64: ...> and [2 : i32, ...] as a #ttnn.shape.
static Attribute toShape(Attribute attr) {
  SmallVector<int64_t> shape;
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    llvm::append_range(shape, array.asArrayRef());
  else if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    llvm::append_range(shape, array.asArrayRef());
  else
    for (Attribute size : cast<ArrayAttr>(attr))
      shape.push_back(cast<IntegerAttr>(size).getValue().getSExtValue());
  return ttnn::ShapeAttr::get(attr.getContext(), shape);
}

template <unsigned width> static Attribute toSigned(Attribute attr) {
  auto type = IntegerType::get(attr.getContext(), width, IntegerType::Signed);
  return IntegerAttr::get(type, cast<IntegerAttr>(attr).getValue().getSExtValue());
}

static std::vector<Row> rows() {
  constexpr bool onDevice = true;
  return {
      row<ttir::BitwiseNotOp, ttnn::BitwiseNotOp>(),
      row<ttir::BroadcastOp, ttnn::RepeatOp>({{"broadcast_dimensions", "repeat_dims", toShape}}),
      row<ttir::ChunkedScaledDotProductAttentionOp, ttnn::ChunkedScaledDotProductAttentionOp>({}, false,
                                                                                              /*without=*/5),
      row<ttir::ConstantOp, ttnn::ConstantOp>({}, onDevice),
      row<ttir::CumProdOp, ttnn::CumProdOp>({{"dim", "dim", toSigned<32>}}),
      row<ttir::CumSumOp, ttnn::CumSumOp>({{"dim", "dim", toSigned<32>}}),
      row<ttir::DequantizeUnrolledOp, ttnn::DequantizeOp>(),
      row<ttir::DivOp, ttnn::DivideOp>(),
      row<ttir::EmbeddingBackwardOp, ttnn::EmbeddingBackwardOp>(),
      row<ttir::FullOp, ttnn::FullOp>({{"shape", "shape", toShape}}, onDevice),
      row<ttir::GatherOp, ttnn::GatherOp>({{"dim", "dim", toSigned<32>}}),
      row<ttir::OnesOp, ttnn::OnesOp>({{"shape", "shape", toShape}}, onDevice),
      row<ttir::PagedScaledDotProductAttentionDecodeOp, ttnn::PagedScaledDotProductAttentionDecodeOp>({}, false,
                                                                                                      /*without=*/4),
      row<ttir::PowOp, ttnn::PowTensorOp>(),
      row<ttir::QuantizeUnrolledOp, ttnn::QuantizeOp>(),
      row<ttir::RandOp, ttnn::RandOp>({{"size", "size", toShape}}, onDevice),
      row<ttir::RepeatOp, ttnn::RepeatOp>({{"repeat_dimensions", "repeat_dims", toShape}}),
      row<ttir::RequantizeUnrolledOp, ttnn::RequantizeOp>(),
      row<ttir::ScatterOp, ttnn::ScatterOp>({{"dim", "dim", toSigned<32>}}),
      row<ttir::SliceStaticOp, ttnn::SliceStaticOp>(),
      row<ttir::SortOp, ttnn::SortOp>({{"dim", "dim", toSigned<8>}}),
      row<ttir::TopKOp, ttnn::TopKOp>({{"dim", "dim", toSigned<32>}}),
      row<ttir::TypecastOp, ttnn::TypecastOp>({{"conservative_folding", ""}}),
      row<ttir::Upsample2dOp, ttnn::UpsampleOp>({{"channel_last", "", nullIfTrue}}),
      row<ttir::ZerosOp, ttnn::ZerosOp>({{"shape", "shape", toShape}}, onDevice),
  };
}

void ttnn::addRows(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Row &row : rows())
    patterns.add(std::make_unique<LowerByRow>(context, std::move(row)));
  llvm::SmallDenseSet<OperationName> others;
  for (std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns())
    others.insert(*pattern->getRootKind());
  patterns.add(std::make_unique<LowerByName>(context, std::move(others)));
}
