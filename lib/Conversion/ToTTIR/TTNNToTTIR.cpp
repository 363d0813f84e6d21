//===- TTNNToTTIR.cpp - TTNN ops as those of TTIR -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Conversion/ToTTIR/Passes.h"
#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTNNTOTTIR
#include "ttmlir/Conversion/ToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
/// Attribute `from` of the TTNN op becomes `to` of the TTIR op, converted if needed.
struct AttributeChange {
  StringLiteral from, to;
  Attribute (*convert)(Builder &, Attribute);
};

/// An op that differs in more than the dialect.
struct Row {
  StringLiteral from, to;
  SmallVector<AttributeChange, 1> attributes = {};
};
} // namespace

static int64_t numberIn(Attribute attr) { return cast<IntegerAttr>(attr).getValue().getSExtValue(); }
static Attribute toI32(Builder &b, Attribute attr) { return b.getI32IntegerAttr(numberIn(attr)); }
static Attribute toI64(Builder &b, Attribute attr) { return b.getI64IntegerAttr(numberIn(attr)); }
static Attribute toSI32(Builder &b, Attribute attr) { return b.getSI32IntegerAttr(numberIn(attr)); }
static Attribute toDims(Builder &b, Attribute attr) { return b.getI32ArrayAttr(static_cast<int32_t>(numberIn(attr))); }
static Attribute toSizes32(Builder &b, Attribute attr) {
  ArrayRef<int64_t> shape = cast<ttnn::ShapeAttr>(attr).getShape();
  return b.getDenseI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end()));
}
static Attribute toSizes64(Builder &b, Attribute attr) {
  return b.getDenseI64ArrayAttr(cast<ttnn::ShapeAttr>(attr).getShape());
}
static Attribute toSizesOf32(Builder &b, Attribute attr) {
  ArrayRef<int64_t> shape = cast<ttnn::ShapeAttr>(attr).getShape();
  return b.getI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end()));
}

static ArrayRef<Row> rows() {
  static const Row table[] = {
      {"argmax", "argmax", {{"dim", "dim_arg", toDims}}},
      {"cumprod", "cumprod", {{"dim", "dim", toI64}}},
      {"cumsum", "cumsum", {{"dim", "dim", toI64}}},
      {"dequantize", "dequantize_unrolled"},
      {"divide", "div"},
      {"embedding_bw", "embedding_backward"},
      {"full", "full", {{"shape", "shape", toSizes32}}},
      {"gather", "gather", {{"dim", "dim", toI32}}},
      {"ones", "ones", {{"shape", "shape", toSizes32}}},
      {"pow_tensor", "pow"},
      {"prod", "prod", {{"dim_arg", "dim_arg", toDims}}},
      {"quantize", "quantize_unrolled"},
      {"rand", "rand", {{"size", "size", toSizesOf32}}},
      {"repeat", "repeat", {{"repeat_dims", "repeat_dimensions", toSizes64}}},
      {"requantize", "requantize_unrolled"},
      {"scatter", "scatter", {{"dim", "dim", toI32}}},
      {"sort", "sort", {{"dim", "dim", toSI32}}},
      {"topk", "topk", {{"dim", "dim", toI32}}},
      {"zeros", "zeros", {{"shape", "shape", toSizes32}}},
  };
  return table;
}

/// Attributes for how an op is computed, or where its result is, which the result type states as well.
static bool saysHow(StringRef attribute) {
  static const llvm::StringSet<> names = {"compute_config", "matmul_program_config", "program_config", "memory_config",
                                          "dtype",          "output_dtype",          "sub_device_id",  "num_links",
                                          "topology",       "use_multicore",         "layout"};
  return names.contains(attribute);
}

static bool isDevice(Value value) { return isa<ttnn::DeviceType>(value.getType()); }

/// A change of layout, into a tensor that is named for its type.
static LogicalResult lowerLayout(ToTTIR &lowering) {
  Type type = lowering.result();
  Value into = lowering.makeOne("empty", type, {});
  return lowering.replaceBy("to_layout", {lowering.operand(0), into});
}

/// x^n with the exponent as a tensor.
static LogicalResult lowerPowScalar(ToTTIR &lowering) {
  auto type =
      RankedTensorType::get(SmallVector<int64_t>(lowering.result().getRank(), 1), lowering.result().getElementType());
  auto layout = ttnn::TTNNLayoutAttr::of(lowering.result());
  if (layout)
    type = ttnn::withLayout(type, ttnn::TTNNLayoutAttr::get(type.getContext(), type.getShape(), layout.getDataType(),
                                                            layout.getLayout(), layout.getBufferType(), {}));
  SmallVector<int32_t> shape(type.getRank(), 1);
  Value exponent = lowering.makeOne("full", type, {},
                                    {lowering.named("shape", lowering.b.getDenseI32ArrayAttr(shape)),
                                     lowering.named("fill_value", lowering.op->getAttr("rhs"))});
  return lowering.replaceBy("pow", {lowering.operand(0), exponent});
}

/// Creates an op; null, with the verifier's reason, if TTIR's op accepts more or less than TTNN's.
static Operation *makeValid(ToTTIR &lowering, StringRef name, ValueRange operands,
                            ArrayRef<NamedAttribute> attributes = {}) {
  Operation *created = lowering.make(name, lowering.op->getResultTypes(), operands, attributes);
  std::string reason;
  ScopedDiagnosticHandler handler(created->getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (succeeded(verify(created)))
    return created;
  lowering.b.eraseOp(created);
  (void)lowering.refuse(reason);
  return nullptr;
}

static LogicalResult lower(ToTTIR &lowering) {
  Operation *op = lowering.op;
  StringRef name = op->getName().stripDialect();
  if (name == "deallocate") {
    lowering.b.eraseOp(op);
    return success();
  }
  if (name == "pow_scalar")
    return lowerPowScalar(lowering);
  if (name == "to_layout" || name == "to_device" || name == "from_device" || name == "to_memory_config" ||
      name == "to_tensor_spec")
    return lowerLayout(lowering);
  const Row *row = llvm::find_if(rows(), [&](const Row &each) { return each.from == name; });
  const bool listed = row != rows().end();
  StringRef to = listed ? StringRef(row->to) : name;
  if (!hasTTIROp(to, op->getContext()))
    return lowering.refuse("there is no ttir." + to);
  OperationName target(("ttir." + to).str(), op->getContext());
  SmallVector<NamedAttribute> attributes;
  StringAttr activation;
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef from = attribute.getName();
    // A note of the program's author.
    if (!isPassedOn(op, attribute.getName()))
      continue;
    const AttributeChange *change = nullptr;
    if (listed)
      for (const AttributeChange &each : row->attributes)
        if (each.from == from)
          change = &each;
    if (change)
      attributes.push_back(lowering.named(change->to, change->convert(lowering.b, attribute.getValue())));
    else if (from == "activation")
      activation = cast<StringAttr>(attribute.getValue());
    else if (llvm::is_contained(target.getAttributeNames(), attribute.getName()) || from.contains('.') ||
             from == "operandSegmentSizes")
      attributes.push_back(attribute);
    else if (!saysHow(from))
      return lowering.refuse("ttir." + to + " has no attribute '" + from + "'");
    else if (attribute.getValue()
                 .walk([](ttnn::UnaryWithParamAttr) { return WalkResult::interrupt(); })
                 .wasInterrupted())
      return lowering.refuse("its '" + from + "' has an activation, which no attribute of ttir." + to + " says");
  }
  if (name == "rms_norm" || name == "layer_norm")
    attributes.push_back(
        lowering.named("normalized_shape", lowering.b.getDenseI64ArrayAttr(lowering.result().getShape().back())));
  if (activation && !hasTTIROp(activation.getValue(), op->getContext()))
    return lowering.refuse("there is no ttir." + activation.getValue() + " for its activation");
  SmallVector<Value> operands;
  llvm::copy_if(op->getOperands(), std::back_inserter(operands), [](Value value) { return !isDevice(value); });
  Operation *created = makeValid(lowering, to, operands, attributes);
  if (created && activation) {
    Operation *before = created;
    created = makeValid(lowering, activation.getValue(), before->getResults());
    if (!created)
      lowering.b.eraseOp(before);
  }
  return created ? lowering.replaceBy(created->getResults()) : failure();
}

namespace {
struct ConvertTTNN : tt::impl::ConvertTTNNToTTIRBase<ConvertTTNN> {
  void runOnOperation() override {
    auto isGetDevice = [](Operation *op) { return op->getName().stripDialect() == "get_device"; };
    if (failed(lowerAll(getOperation(), ttnn::TTNNDialect::getDialectNamespace(), lower, isGetDevice)))
      signalPassFailure();
  }
};
} // namespace
