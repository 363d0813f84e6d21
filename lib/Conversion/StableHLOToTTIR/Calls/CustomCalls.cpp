//===- CustomCalls.cpp - ops of TTIR that front ends call by name ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch/XLA has no op for attention over a cache and similar operations: a custom call `tt.NAME` represents one, with
// attributes as text in `mhlo.frontend_attributes`.
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// An operand of a call. Absent ones are optional by position (`?`), or an attribute states that they are present.
struct Given {
  StringRef name;
  StringRef when = ""; // "?", or the name of the attribute
};

enum class Kind { Bool, I32, UI32, I64, F32 };
struct Number {
  StringRef name;
  Kind kind;
  StringRef otherwise = ""; // what is taken without one; "!": it is required, "": it is left out
};

struct Row {
  StringRef target, op;
  SmallVector<Given> operands;
  SmallVector<StringRef> order; // of the op's operands; "output" is created
  SmallVector<Number> numbers;
  bool writes = false;     // its first operand, which is the result
  MakeCall make = nullptr; // in place of one op
  unsigned results = 1;
};

ArrayRef<Row> table() {
  static const Number causal{"is_causal", Kind::Bool, "true"}, scale{"scale", Kind::F32},
      window{"sliding_window_size", Kind::UI32}, devices{"num_devices", Kind::I64, "1"},
      axis{"cluster_axis", Kind::I64, "0"};
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
      {"tt.sampling",
       "ttir.sampling",
       {{"input_values"}, {"input_indices"}, {"k"}, {"p"}, {"temp"}},
       {"input_values", "input_indices", "k", "p", "temp"},
       {{"seed", Kind::UI32}}},
      {"tt.sparse_matmul",
       "ttir.sparse_matmul",
       {{"a"}, {"b"}, {"sparsity"}},
       {"a", "b", "sparsity"},
       {{"is_input_a_sparse", Kind::Bool, "false"}, {"is_input_b_sparse", Kind::Bool, "true"}, {"nnz", Kind::I64}}},
      {"tt.all_to_all_dispatch",
       "ttir.all_to_all_dispatch",
       {{"input_tensor"}, {"expert_indices"}, {"expert_mapping"}},
       {"input_tensor", "expert_indices", "expert_mapping"},
       {devices, axis},
       false,
       nullptr,
       2},
      {"tt.all_to_all_combine",
       "",
       {{"input_tensor"}, {"expert_metadata"}, {"expert_mapping"}},
       {},
       {devices, axis, {"num_experts_per_tok", Kind::I64, "2"}, {"output_shard_dim", Kind::I64, "2"}},
       false,
       makeCombine},
      {"tt.moe_expert_token_remap",
       "ttir.moe_expert_token_remap",
       {{"topk_tensor"}, {"expert_mapping"}, {"expert_metadata"}},
       {"topk_tensor", "expert_mapping", "expert_metadata"},
       {{"reduction_size", Kind::I64, "16"}},
       false,
       nullptr,
       2},
  };
  return rows;
}

StringRef kindName(Kind kind) {
  switch (kind) {
  case Kind::Bool:
    return "true or false";
  case Kind::F32:
    return "a number";
  case Kind::I64:
    return "an integer of 64 bits";
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
  case Kind::I64: {
    int64_t value = 0;
    return text.getAsInteger(10, value) ? Attribute() : builder.getI64IntegerAttr(value);
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
    if (op.getNumResults() != row->results || !llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return refuse("has " + Twine(op.getNumResults()) + " results; expected " +
                    (row->results == 1 ? "one tensor" : Twine(row->results) + " tensors"));

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
    // No other op uses a value that is written in place.
    if (row->writes && !op.getOperand(0).hasOneUse())
      return refuse("writes its first operand in place, which others use, too");

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (row->make) {
      std::string problem;
      Value created = row->make(builder, operands, attributes, typeOf(op.getResult(0)), problem);
      return created ? replace(rewriter, op, created) : refuse(problem);
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
    Operation *created = rewriter.create(state);
    if (row->writes)
      rewriter.replaceOp(op, adaptor.getOperands()[0]);
    else
      rewriter.replaceOp(op, created->getResults());
    return success();
  }

private:
  /// Operands by name; attributes state which of them are present, or their number implies it.
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
