//===- Rows.cpp - table of ops with other names in TTNN -------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// Attribute `from` of the TTIR op is `to` of the TTNN op, converted if need
/// be; without `to` it is dropped.
struct AttributeRow {
  StringRef from, to;
  Attribute (*convert)(Attribute) = nullptr;
};

/// Row of an op. `onDevice`: the TTNN op takes a device after its operands. `without`: an operand that it does not
/// have, a tensor that TTIR names to take the result, with none or only single ones before it.
struct OpRow {
  StringRef from, to;
  std::vector<AttributeRow> attributes = {};
  bool onDevice = false;
  std::optional<unsigned> without = std::nullopt;
};
} // namespace

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

static const std::vector<OpRow> &opRows() {
  static const std::vector<OpRow> rows = {
      {"broadcast", "repeat", {{"broadcast_dimensions", "repeat_dims", toShape}}},
      {"chunked_scaled_dot_product_attention", "chunked_scaled_dot_product_attention", {}, false, /*without=*/5},
      {"constant", "constant", {}, /*onDevice=*/true},
      {"cumprod", "cumprod", {{"dim", "dim", toSigned<32>}}},
      {"cumsum", "cumsum", {{"dim", "dim", toSigned<32>}}},
      {"dequantize_unrolled", "dequantize"},
      {"div", "divide"},
      {"embedding_backward", "embedding_bw"},
      {"full", "full", {{"shape", "shape", toShape}}, /*onDevice=*/true},
      {"gather", "gather", {{"dim", "dim", toSigned<32>}}},
      {"ones", "ones", {{"shape", "shape", toShape}}, /*onDevice=*/true},
      {"paged_scaled_dot_product_attention_decode",
       "paged_scaled_dot_product_attention_decode",
       {},
       false,
       /*without=*/4},
      {"pow", "pow_tensor"},
      {"quantize_unrolled", "quantize"},
      {"rand", "rand", {{"size", "size", toShape}}, /*onDevice=*/true},
      {"repeat", "repeat", {{"repeat_dimensions", "repeat_dims", toShape}}},
      {"requantize_unrolled", "requantize"},
      {"scatter", "scatter", {{"dim", "dim", toSigned<32>}}},
      {"sort", "sort", {{"dim", "dim", toSigned<8>}}},
      {"topk", "topk", {{"dim", "dim", toSigned<32>}}},
      {"typecast", "typecast", {{"conservative_folding", ""}}},
      {"upsample2d", "upsample"},
      {"zeros", "zeros", {{"shape", "shape", toShape}}, /*onDevice=*/true},
  };
  return rows;
}

static LogicalResult lowerWithout(Lowering &lowering, const OpRow &row, SmallVector<NamedAttribute> attrs) {
  SmallVector<Value> operands(lowering.op->getOperands());
  operands.erase(operands.begin() + *row.without);
  for (NamedAttribute &attr : attrs)
    if (attr.getName() == "operandSegmentSizes") {
      SmallVector<int32_t> segments(cast<DenseI32ArrayAttr>(attr.getValue()).asArrayRef());
      segments.erase(segments.begin() + *row.without);
      attr.setValue(lowering.attributes().getDenseI32ArrayAttr(segments));
    }
  return lowering.replaceBy(("ttnn." + row.to).str(), operands, attrs);
}

static LogicalResult lowerByRow(Lowering &lowering, const OpRow &row) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : lowering.op->getAttrs()) {
    auto found = llvm::find_if(row.attributes, [&](const AttributeRow &entry) { return attr.getName() == entry.from; });
    if (found == row.attributes.end())
      attrs.push_back(attr);
    else if (!found->to.empty())
      attrs.push_back(lowering.attr(found->to, found->convert ? found->convert(attr.getValue()) : attr.getValue()));
  }
  return row.without ? lowerWithout(lowering, row, attrs) : lowerTo(lowering, row.to, attrs, row.onDevice);
}

void ttnn::addRows(Rules &rules) {
  for (const OpRow &row : opRows())
    rules[row.from] = Rule([&row](Lowering &lowering) { return lowerByRow(lowering, row); }, ("ttnn." + row.to).str());
}
