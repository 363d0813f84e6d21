//===- CustomCalls.cpp - ops of TTIR that front ends call by name ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch/XLA has no op for attention over a cache and its like: a custom call
// `tt.NAME` stands for one, with attributes as text in `mhlo.frontend_attributes`.
//
//===----------------------------------------------------------------------===//

#include "../Expand/Expressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GreaterThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// An operand of a call. Absent ones are optional by position (`?`), or said to be there by an attribute.
struct Given {
  StringRef name;
  StringRef when = ""; // "?", or the name of the attribute
};

enum class Kind { Bool, I32, UI32, F32 };
struct Number {
  StringRef name;
  Kind kind;
  StringRef otherwise = ""; // what is taken without one; "!": it is required, "": it is left out
};

/// Several ops, of the operands and attributes by name. Null, and why, where they do not fit.
using Make = Value (*)(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands, const NamedAttrList &attributes,
                       RankedTensorType type, std::string &problem);

struct Row {
  StringRef target, op;
  SmallVector<Given> operands;
  SmallVector<StringRef> order; // of the op's operands; "output" is made
  SmallVector<Number> numbers;
  bool writes = false; // its first operand, which is the result
  Make make = nullptr; // in place of one op
};

std::string textOf(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

/// Where column > row + start, of [1, 1, rows, columns].
Value isLater(ImplicitLocOpBuilder &builder, int64_t rows, int64_t columns, int64_t start) {
  auto type = RankedTensorType::get({1, 1, rows, columns}, builder.getI32Type());
  auto counted = [&](int64_t dimension, int64_t from) -> Value {
    SmallVector<int64_t> shape = {1, 1, 1, 1};
    shape[dimension] = type.getDimSize(dimension);
    Value line = ttir::ArangeOp::create(builder, type.clone(shape), from, from + shape[dimension], /*step=*/1,
                                        static_cast<uint64_t>(dimension));
    return broadcast(builder, line, type.getShape());
  };
  return make<ttir::GreaterThanOp>(builder, type.clone(builder.getI1Type()), {counted(3, 0), counted(2, start)});
}

Value filled(ImplicitLocOpBuilder &builder, RankedTensorType type, double value) {
  auto number = builder.getFloatAttr(type.getElementType(), value);
  return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, number));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Attention whose values are the first features of the keys, where there are none.
Value makeFlashPrefill(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands, const NamedAttrList &attributes,
                       RankedTensorType type, std::string &problem) {
  Value query = operands.lookup("query"), key = operands.lookup("key"), value = operands.lookup("value");
  Value mask = operands.lookup("attention_mask");
  for (Value each : {query, key})
    if (typeOf(each).getRank() != 4 || !isa<FloatType>(typeOf(each).getElementType()))
      return problem = "operands are not of floating-point numbers in four dimensions", Value();
  SmallVector<int64_t> shape(typeOf(key).getShape());
  const auto size = cast<IntegerAttr>(attributes.get("head_dim_v")).getValue().getSExtValue();
  if (size < 1 || (!value && size > shape.back()))
    return problem = ("head_dim_v is " + Twine(size) + "; expected 1 to " + Twine(shape.back())).str(), Value();
  SmallVector<int64_t> expected(typeOf(query).getShape());
  const int64_t rows = expected[2], columns = shape[2];
  expected.back() = size;
  if (type.getShape() != ArrayRef(expected))
    return problem = "the result has shape " + textOf(type.getShape()) + "; expected " + textOf(expected), Value();
  if (!value) {
    shape.back() = size;
    value = ttir::SliceStaticOp::create(builder, typeOf(key).clone(shape), key, builder.getI32ArrayAttr({0, 0, 0, 0}),
                                        builder.getI32ArrayAttr(narrow(shape)), builder.getI32ArrayAttr({1, 1, 1, 1}));
  }
  bool isCausal = cast<BoolAttr>(attributes.get("is_causal")).getValue();
  if (mask && isCausal) {
    // The attention of TTIR has one or the other.
    RankedTensorType given = typeOf(mask), later = RankedTensorType::get({1, 1, rows, columns}, given.getElementType());
    if (given.getRank() != 4)
      return problem = "the mask has rank " + std::to_string(given.getRank()) + "; expected 4", Value();
    Value hidden = make<ttir::WhereOp>(
        builder, later,
        {isLater(builder, rows, columns, columns - rows), filled(builder, later, -infinity), zeros(builder, later)});
    SmallVector<int64_t> whole(given.getShape());
    whole[2] = rows, whole[3] = columns;
    for (int64_t dimension : {2, 3})
      if (given.getDimSize(dimension) != 1 && given.getDimSize(dimension) != whole[dimension])
        return problem = "the mask has shape " + textOf(given.getShape()) + "; expected it to end with " +
                         textOf(ArrayRef(whole).take_back(2)),
               Value();
    mask = make<ttir::AddOp>(builder, given.clone(whole),
                             {broadcast(builder, mask, whole), broadcast(builder, hidden, whole)});
    isCausal = false;
  }
  return ttir::ScaledDotProductAttentionOp::create(builder, type, query, key, value, mask, /*attention_sink=*/Value(),
                                                   builder.getBoolAttr(isCausal),
                                                   cast_if_present<FloatAttr>(attributes.get("scale")),
                                                   /*sliding_window_size=*/IntegerAttr());
}

/// Sums over heads of the positive scores of each position, by weights; later positions than the query's have -inf.
Value makeIndexerScore(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands, const NamedAttrList &attributes,
                       RankedTensorType type, std::string &problem) {
  Value query = operands.lookup("query"), key = operands.lookup("key"), weights = operands.lookup("weights");
  RankedTensorType q = typeOf(query), k = typeOf(key);
  if (q.getRank() != 4 || k.getRank() != 4 || !isa<FloatType>(q.getElementType()))
    return problem = "query and key are not of floating-point numbers in four dimensions", Value();
  const int64_t batch = q.getDimSize(0), heads = q.getDimSize(1), rows = q.getDimSize(2), columns = k.getDimSize(2);
  const std::pair<Value, SmallVector<int64_t>> expected[] = {{key, {batch, 1, columns, q.getDimSize(3)}},
                                                             {weights, {batch, heads, rows, 1}}};
  for (const auto &[operand, shape] : expected)
    if (typeOf(operand).getShape() != ArrayRef(shape) || typeOf(operand).getElementType() != q.getElementType())
      return problem = (operand == key ? "key has shape " : "weights have shape ") +
                       textOf(typeOf(operand).getShape()) + "; expected " + textOf(shape) +
                       " of the elements of the query",
             Value();
  auto total = q.clone(ArrayRef<int64_t>({batch, 1, rows, columns}));
  if (type.getShape() != total.getShape())
    return problem = "the result has shape " + textOf(type.getShape()) + "; expected " + textOf(total.getShape()),
           Value();
  const auto start = cast<IntegerAttr>(attributes.get("chunk_start_idx")).getInt();
  if (start < 0 || start > std::numeric_limits<int32_t>::max() - rows)
    return problem = "chunk_start_idx is " + std::to_string(start) + "; expected a position", Value();
  auto each = q.clone(ArrayRef<int64_t>({batch, heads, rows, columns}));
  Value keys = broadcast(builder, key, {batch, heads, columns, q.getDimSize(3)});
  Value scores = ttir::MatmulOp::create(builder, each, query, keys, /*transpose_a=*/false, /*transpose_b=*/true);
  scores = make<ttir::ReluOp>(builder, each, scores);
  scores = make<ttir::MultiplyOp>(builder, each, {scores, broadcast(builder, weights, each.getShape())});
  Value sum = ttir::SumOp::create(builder, total, scores, /*keep_dim=*/true, builder.getI32ArrayAttr({1}));
  Value later = broadcast(builder, isLater(builder, rows, columns, start), total.getShape());
  return typecast(builder, make<ttir::WhereOp>(builder, total, {later, filled(builder, total, -infinity), sum}),
                  type.getElementType());
}

ArrayRef<Row> table() {
  static const Number causal{"is_causal", Kind::Bool, "true"}, scale{"scale", Kind::F32},
      window{"sliding_window_size", Kind::UI32};
  static const Given mask{"attention_mask", "has_attention_mask"}, sink{"attention_sink", "has_attention_sink"},
      position{"cur_pos_tensor", "has_cur_pos_tensor"};
  static const SmallVector<Row> rows = {
      {"tt.fill_cache",
       "ttir.fill_cache",
       {{"cache"}, {"input"}},
       {"cache", "input"},
       {{"batch_offset", Kind::I32, "!"}},
       true},
      {"tt.update_cache",
       "ttir.update_cache",
       {{"cache"}, {"input"}, {"update_index"}},
       {"cache", "input", "update_index"},
       {{"batch_offset", Kind::I32, "!"}},
       true},
      {"tt.paged_update_cache",
       "ttir.paged_update_cache",
       {{"cache"}, {"input"}, {"update_index"}, {"page_table", "?"}},
       {"cache", "input", "update_index", "page_table"},
       {{"share_cache", Kind::Bool, "false"}},
       true},
      {"tt.paged_fill_cache",
       "ttir.paged_fill_cache",
       {{"cache"}, {"input"}, {"page_table"}, {"batch_idx_tensor", "?"}},
       {"cache", "input", "page_table", "batch_idx_tensor"},
       {},
       true},
      {"tt.scaled_dot_product_attention",
       "ttir.scaled_dot_product_attention",
       {{"query"}, {"key"}, {"value"}, mask, sink},
       {"query", "key", "value", "attention_mask", "attention_sink"},
       {causal, scale, window}},
      {"tt.scaled_dot_product_attention_decode",
       "ttir.scaled_dot_product_attention_decode",
       {{"query"}, {"key"}, {"value"}, {"cur_pos_tensor"}, mask, sink},
       {"query", "key", "value", "attention_mask", "cur_pos_tensor", "attention_sink"},
       {causal, scale}},
      {"tt.paged_scaled_dot_product_attention_decode",
       "ttir.paged_scaled_dot_product_attention_decode",
       {{"query"}, {"key"}, {"value"}, {"page_table"}, mask, position, sink},
       {"query", "key", "value", "page_table", "output", "attention_mask", "cur_pos_tensor", "attention_sink"},
       {causal, scale, window}},
      {"tt.chunked_scaled_dot_product_attention",
       "ttir.chunked_scaled_dot_product_attention",
       {{"query"}, {"key"}, {"value"}, {"page_table"}, {"chunk_start_idx"}},
       {"query", "key", "value", "page_table", "chunk_start_idx", "output"},
       {scale}},
      {"tt.paged_flash_mla_decode",
       "ttir.paged_flash_multi_latent_attention_decode",
       {{"query"}, {"key"}, {"value", "has_value"}, {"page_table"}, mask, position, sink},
       {"query", "key", "value", "page_table", "attention_mask", "cur_pos_tensor", "attention_sink"},
       {{"head_dim_v", Kind::UI32, "!"}, causal, scale}},
      {"tt.flash_mla_prefill",
       "",
       {{"query"}, {"key"}, {"value", "has_value"}, mask},
       {},
       {{"head_dim_v", Kind::UI32, "!"}, causal, scale},
       false,
       makeFlashPrefill},
      {"tt.indexer_score_dsa",
       "",
       {{"query"}, {"key"}, {"weights"}},
       {},
       {{"chunk_start_idx", Kind::I32, "0"}},
       false,
       makeIndexerScore},
  };
  return rows;
}

StringRef kindName(Kind kind) {
  switch (kind) {
  case Kind::Bool:
    return "true or false";
  case Kind::F32:
    return "a number";
  case Kind::I32:
  case Kind::UI32:
    break;
  }
  return "an integer of 32 bits";
}

/// The attribute that a text stands for, or null.
Attribute parseNumber(OpBuilder &builder, Kind kind, StringRef text) {
  switch (kind) {
  case Kind::Bool:
    if (text.equals_insensitive("true") || text.equals_insensitive("false"))
      return builder.getBoolAttr(text.equals_insensitive("true"));
    return {};
  case Kind::I32: {
    int32_t value = 0;
    return text.getAsInteger(10, value) ? Attribute() : builder.getI32IntegerAttr(value);
  }
  case Kind::UI32: {
    uint32_t value = 0;
    return text.getAsInteger(10, value) ? Attribute() : builder.getUI32IntegerAttr(value);
  }
  case Kind::F32: {
    double value = 0;
    return text.getAsDouble(value) ? Attribute() : builder.getF32FloatAttr(static_cast<float>(value));
  }
  }
  return {};
}

std::string whyUnknown(stablehlo::CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (isLapack(target))
    return lapackRefusal(target);
  std::string text = ("no custom call '" + target + "' is known").str();
  // Those that are have been expanded.
  if (target.starts_with("tenstorrent.")) {
    text += " with these operands and results";
    if (auto attributes = op->getAttrOfType<DictionaryAttr>("tt.composite_attributes"))
      llvm::raw_string_ostream(text) << " and the attributes " << attributes;
  }
  return text;
}

struct LowerCustomCall : OpConversionPattern<stablehlo::CustomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Row *row = llvm::find_if(table(), [&](const Row &each) { return each.target == op.getCallTargetName(); });
    if (row == table().end())
      return notifyMatchFailure(rewriter, op, whyUnknown(op));
    auto refuse = [&](const Twine &text) { return notifyMatchFailure(rewriter, op, row->target + ": " + text); };
    auto given = op->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
    auto textOf = [&](StringRef name) -> std::optional<StringRef> {
      auto text = given ? given.getAs<StringAttr>(name) : StringAttr();
      return text ? std::optional(text.getValue()) : std::nullopt;
    };
    if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()))
      return refuse("has " + Twine(op.getNumResults()) + " results; expected one tensor");

    llvm::StringMap<Value> operands;
    if (failed(nameOperands(*row, adaptor.getOperands(), textOf, refuse, operands)))
      return failure();
    NamedAttrList attributes;
    for (const Number &number : row->numbers) {
      std::optional<StringRef> text = textOf(number.name);
      if (!text && number.otherwise == "!")
        return refuse("has no " + number.name + " in mhlo.frontend_attributes; expected " + kindName(number.kind));
      if (!text && number.otherwise.empty())
        continue;
      Attribute value = parseNumber(rewriter, number.kind, text.value_or(number.otherwise));
      if (!value)
        return refuse(number.name + " is '" + *text + "'; expected " + kindName(number.kind));
      attributes.append(number.name, value);
    }
    // What is written in place is nobody else's.
    if (row->writes && !op.getOperand(0).hasOneUse())
      return refuse("writes its first operand in place, which others use, too");

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (row->make) {
      std::string problem;
      Value made = row->make(builder, operands, attributes, typeOf(op.getResult(0)), problem);
      return made ? replace(rewriter, op, made) : refuse(problem);
    }
    OperationState state(op.getLoc(), row->op);
    SmallVector<int32_t> segments;
    for (StringRef name : row->order) {
      Value value = operands.lookup(name);
      if (name == "output")
        value = ttir::EmptyOp::create(builder, op.getResult(0).getType());
      if (value)
        state.operands.push_back(value);
      segments.push_back(value ? 1 : 0);
    }
    if (RegisteredOperationName::lookup(row->op, getContext())->hasTrait<OpTrait::AttrSizedOperandSegments>())
      attributes.append("operandSegmentSizes", rewriter.getDenseI32ArrayAttr(segments));
    state.addAttributes(attributes);
    if (!row->writes)
      state.addTypes(op.getResultTypes());
    Operation *made = rewriter.create(state);
    rewriter.replaceOp(op, row->writes ? adaptor.getOperands()[0] : made->getResult(0));
    return success();
  }

private:
  /// Operands by name; which of them are there is said by attributes, or follows from their number.
  static LogicalResult nameOperands(const Row &row, ValueRange values,
                                    function_ref<std::optional<StringRef>(StringRef)> textOf,
                                    function_ref<LogicalResult(const Twine &)> refuse,
                                    llvm::StringMap<Value> &operands) {
    const auto always = static_cast<size_t>(llvm::count_if(row.operands, [](Given each) { return each.when.empty(); }));
    const bool hasFlags =
        llvm::any_of(row.operands, [&](Given each) { return !each.when.empty() && textOf(each.when).has_value(); });
    size_t next = 0, optional = values.size() > always ? values.size() - always : 0;
    for (const Given &each : row.operands) {
      bool isThere = each.when.empty();
      if (!isThere && hasFlags)
        isThere = textOf(each.when).value_or("false").equals_insensitive("true");
      else if (!isThere && optional) {
        isThere = true;
        --optional;
      }
      if (!isThere)
        continue;
      if (next == values.size())
        return refuse("has " + Twine(values.size()) + " operands; expected " + each.name + " as another");
      operands[each.name] = values[next++];
    }
    if (next != values.size())
      return refuse("has " + Twine(values.size()) + " operands; expected " + Twine(next) +
                    (hasFlags ? ", as its attributes say" : ""));
    return success();
  }
};
} // namespace

void hlo::addCustomCallPatterns(RewritePatternSet &patterns) { patterns.add<LowerCustomCall>(patterns.getContext()); }
