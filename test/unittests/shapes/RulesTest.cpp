//===- RulesTest.cpp - shape rules by themselves ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Shapes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tt::shapes {

namespace {

using Shape = std::vector<int64_t>;

/// An op as a test writes it.
struct TestOp final : Op {
  std::vector<std::pair<std::string, std::optional<Shape>>> ins;
  std::map<std::string, Attribute, std::less<>> attributes;
  Shape chips = {};
  std::vector<Shape> outs = {};
  std::vector<Operand> list = {};
  std::vector<View> results = {};

  TestOp(std::vector<std::pair<std::string, std::optional<Shape>>> ins,
         std::map<std::string, Attribute, std::less<>> attributes, Shape chips = {}, std::vector<Shape> outs = {})
      : ins(std::move(ins)), attributes(std::move(attributes)), chips(std::move(chips)), outs(std::move(outs)) {
    for (const auto &[name, shape] : this->ins) {
      const bool isInteger = name.find("ind") == 0 || name.find("page_table") == 0 || name.find("cur_pos") == 0;
      list.push_back({name, shape ? Operand::State::Present : Operand::State::Absent, shape ? View(*shape) : View(),
                      isInteger ? Element::Integer : Element::Float});
    }
    for (const Shape &shape : this->outs)
      results.push_back(shape);
    operands = list;
    declared = results;
  }
  Attribute attribute(std::string_view name) const override {
    const auto it = attributes.find(name);
    return it == attributes.end() ? Attribute() : it->second;
  }
  View mesh() const override { return chips; }
};

Attribute number(int64_t value) { return Attribute::of(value); }
Attribute flag(bool value) { return Attribute::of(value); }
Attribute numbers(const Shape &values) { return Attribute::of(View(values)); }
Attribute rows(const Shape &values, int64_t columns) { return Attribute::of(View(values), columns); }

/// "2x3, 4" of the results, or the message.
std::string ask(std::string_view name, const TestOp &op) {
  const Rule *rule = findRule(name);
  if (!rule)
    return "no such rule";
  Results results;
  if (const auto failure = infer(*rule, op, results))
    return (failure->name.empty() ? "" : failure->name + " ") + failure->text;
  std::string text;
  for (const Sizes &shape : results)
    text += (text.empty() ? "" : ", ") + op.text(shape);
  return text;
}

struct Row {
  const char *rule;
  TestOp op;
  const char *expected;
};

TEST(Rules, ShapesAndMessages) {
  const auto decode = [](Shape query, Shape key, Shape value, Shape table) {
    return TestOp({{"query", query}, {"key", key}, {"value", value}, {"page_table", table}}, {});
  };
  const auto transposed = [](int64_t padding) {
    return TestOp({{"input", Shape{1, 1, 4, 4}}, {"weight", Shape{4, 3, 1, 1}}, {"bias", std::nullopt}},
                  {{"batch_size", number(1)},
                   {"input_height", number(2)},
                   {"input_width", number(2)},
                   {"in_channels", number(4)},
                   {"out_channels", number(3)},
                   {"kernel_size", numbers({1, 1})},
                   {"stride", numbers({1, 1})},
                   {"dilation", numbers({1, 1})},
                   {"padding", numbers({padding, 0, 0, 0})},
                   {"output_padding", numbers({0, 0})},
                   {"groups", number(1)}});
  };
  const Row table[] = {
      {"elementwise", {{{"lhs", Shape{2, 1}}, {"rhs", Shape{3}}}, {}}, "2x3"},
      {"elementwise",
       {{{"lhs", Shape{2, 2}}, {"rhs", Shape{3}}}, {}},
       "operand shapes 2x2 and 3 do not broadcast: sizes 2 and 3 in dimension 1"},
      {"elementwise",
       {{{"lhs", Shape{int64_t(1) << 62, 1}}, {"rhs", Shape{4}}}, {}},
       "a tensor of shape 4611686018427387904x4 has more elements than 64 bits count"},
      {"topk", {{{"input", Shape{2, 3}}}, {{"k", number(3)}, {"dim", number(-1)}}}, "2x3, 2x3"},
      {"topk",
       {{{"input", Shape{2, 3}}}, {{"k", number(0)}, {"dim", number(-1)}}},
       "k is 0; expected 1 to 3, the size of dimension 1"},
      {"topk",
       {{{"input", Shape{2, 3}}}, {{"k", number(1)}, {"dim", number(2)}}},
       "dim is 2; expected -2 to 1 for rank 2"},
      {"slice",
       {{{"input", Shape{5}}}, {{"begins", numbers({-4})}, {"ends", numbers({5})}, {"step", numbers({3})}}},
       "2"},
      {"slice",
       {{{"input", Shape{5}}}, {{"begins", numbers({0})}, {"ends", numbers({6})}, {"step", numbers({1})}}},
       "ends is 6 in dimension 0 of size 5"},
      {"slice",
       {{{"input", Shape{5}}}, {{"begins", numbers({INT64_MIN})}, {"ends", numbers({5})}, {"step", numbers({1})}}},
       "begins is -9223372036854775808 in dimension 0 of size 5"},
      {"reduction", {{{"input", Shape{2, 3, 4}}}, {{"dim_arg", numbers({0, -1})}, {"keep_dim", flag(true)}}}, "1x3x1"},
      {"reduction", {{{"input", Shape{2, 3}}}, {{"dim_arg", numbers({})}}}, "scalar"},
      {"argmax",
       {{{"input", Shape{2, 0}}}, {{"dim", number(1)}}},
       "input has shape 2x0, whose reduced dimension is empty"},
      {"matmul", {{{"a", Shape{5, 1, 2, 3}}, {"b", Shape{7, 3, 4}}, {"bias", Shape{4}}}, {}}, "5x7x2x4"},
      {"matmul", {{{"a", Shape{3}}, {"b", Shape{3}}}, {}}, "scalar"},
      {"linear",
       {{{"a", Shape{2, 3}}, {"b", Shape{3, 4}}, {"bias", Shape{5, 1, 4}}}, {}},
       "bias has shape 5x1x4, which does not broadcast to the product 2x4"},
      {"arange",
       {{}, {{"start", number(INT64_MIN)}, {"end", number(1)}, {"step", number(1)}}},
       "the sequence from -9223372036854775808 to 1 does not fit into 64 bits"},
      {"convTranspose2d", transposed(1), "1x1x2x3"},
      {"convTranspose2d", transposed(2), "height of the result would be 0; expected 1 or more"},
      {"quantize",
       {{{"input", Shape{2, 3}}, {"scale", Shape{2}}, {"zero_point", Shape{3}}}, {{"axis", number(1)}}},
       "scale has shape 2; expected 1 value, or 3 for the indices of dimension 1"},
      {"quantize",
       {{{"input", Shape{2, 3}}, {"scale", Shape{}}, {"zero_point", Shape{3}}}, {}},
       "zero_point has shape 3; expected 1 value without an axis"},
      {"pagedAttentionDecode", decode({1, 2, 4, 8}, {6, 2, 32, 8}, {6, 2, 32, 5}, {2, 3}), "1x2x4x5"},
      {"pagedAttentionDecode", decode({1, 2, 4, 8}, {6, 2, 32, 8}, {7, 2, 32, 8}, {2, 3}),
       "operands 'key' and 'value' have shapes 6x2x32x8 and 7x2x32x8; they may differ only in the last size"},
      {"pagedAttentionDecode", decode({1, 2, 4, 8}, {6, 2, 32, 8}, {6, 2, 32, 8}, {3, 3}),
       "batch sizes 2 of 'query' and 3 of 'key' differ"},
      {"pagedAttentionDecode", decode({1, 2, 4, 8}, {6, 0, 32, 8}, {6, 0, 32, 8}, {2, 3}),
       "4 heads of 'query' are no multiple of 0 heads of 'key'"},
      {"pagedUpdateCache",
       {{{"cache", Shape{6, 2, 8, 4}}, {"input", Shape{1, 3, 2, 4}}, {"update_index", Shape{2}}}, {}},
       "update_index has shape 2; expected one position for each of 3 users"},
      {"updateCache",
       {{{"cache", Shape{2, 2, 8, 4}}, {"input", Shape{1, 2, 2, 4}}, {"update_index", Shape{1}}},
        {{"batch_offset", number(1)}}},
       "input has a batch of 2; expected at most 1, the batches of 'cache' from 'batch_offset' on"},
      {"allReduce", {{{"input", Shape{4}}}, {{"cluster_axis", number(2)}}}, "cluster_axis is 2; expected 0 or 1"},
      {"allReduce",
       {{{"input", Shape{4}}}, {{"cluster_axis", number(1)}}, {8}},
       "cluster_axis is 1, but the mesh is 8"},
      {"allGather",
       {{{"input", Shape{4, 2}}}, {{"all_gather_dim", number(-1)}, {"cluster_axis", number(1)}}, {2, 4}},
       "4x8"},
      {"allGather",
       {{{"input", Shape{4, 2}}}, {{"all_gather_dim", number(1)}, {"cluster_axis", number(1)}}, {}, {{4, 6}}},
       "4x6"},
      {"allGather",
       {{{"input", Shape{4, 2}}}, {{"all_gather_dim", number(1)}, {"cluster_axis", number(1)}}, {}, {{4, 5}}},
       "dimension 1 has sizes 2 and 5; expected a multiple, one part per chip"},
      {"collectiveBroadcast",
       {{{"input", Shape{4}}}, {{"replica_groups", rows({0, 1, 1, 2}, 2)}}},
       "replica_groups has chip 1 twice"},
      {"collectiveBroadcast", {{{"input", Shape{4}}}, {{"replica_groups", rows({0, 1, 2, -1}, 2)}}, {1, 3}}, "4"},
      {"collectivePermute",
       {{{"input", Shape{4}}}, {{"source_target_pairs", rows({0, 1, 1, 2}, 2)}}, {1, 2}},
       "source_target_pairs has target 2; the mesh 1x2 has chips 0 to 1"},
      {"distribute",
       {{{"input", Shape{4, 6}}}, {{"mapper_config.placements", numbers({noDimension, -1})}}, {2, 3}},
       "4x2"},
      {"aggregate", {{{"input", Shape{4, 2}}}, {{"composer_config.dims", numbers({-1, 1})}}, {2, 3}}, "4x6"},
      {"gather",
       {{{"input", Shape{0, 5}}, {"index", Shape{4, 5}}}, {{"dim", number(0)}}},
       "index has shape 4x5, but dimension 0 of the input is empty"},
  };
  for (const Row &row : table)
    EXPECT_EQ(ask(row.rule, row.op), row.expected) << row.rule;
}

TEST(Rules, AreSortedAndFoundByName) {
  std::string_view before;
  for (const Rule &rule : rules()) {
    EXPECT_LT(before, rule.name);
    before = rule.name;
    EXPECT_EQ(findRule(rule.name), &rule);
  }
  EXPECT_EQ(findRule("nonesuch"), nullptr);
}

/// Whatever an op is made of, a rule gives shapes that can be, or a message.
TEST(Rules, TrustNothing) {
  constexpr std::string_view names[] = {"input",
                                        "input_tensor",
                                        "index",
                                        "source",
                                        "weight",
                                        "bias",
                                        "lhs",
                                        "rhs",
                                        "a",
                                        "b",
                                        "query",
                                        "key",
                                        "value",
                                        "page_table",
                                        "cache",
                                        "update_index",
                                        "cos_cache",
                                        "sin_cache",
                                        "trans_mat",
                                        "begins",
                                        "ends",
                                        "in_gradient",
                                        "stats",
                                        "weight_tensor",
                                        "attention_mask",
                                        "cur_pos_tensor",
                                        "operand",
                                        "chunk_start_idx"};
  constexpr std::string_view attributes[] = {"dim",
                                             "dim0",
                                             "dim1",
                                             "dimension",
                                             "axis",
                                             "k",
                                             "keep_dim",
                                             "dim_arg",
                                             "shape",
                                             "permutation",
                                             "begins",
                                             "ends",
                                             "step",
                                             "begin",
                                             "end",
                                             "length",
                                             "stride",
                                             "padding",
                                             "dilation",
                                             "groups",
                                             "kernel_size",
                                             "kernel",
                                             "repeats",
                                             "repeat_dims",
                                             "batch_size",
                                             "input_height",
                                             "input_width",
                                             "input_depth",
                                             "in_channels",
                                             "out_channels",
                                             "output_padding",
                                             "input_length",
                                             "channels",
                                             "num_heads",
                                             "num_kv_heads",
                                             "head_dim_v",
                                             "batch_offset",
                                             "cluster_axis",
                                             "all_gather_dim",
                                             "scatter_dim",
                                             "split_dim",
                                             "concat_dim",
                                             "split_count",
                                             "replica_groups",
                                             "source_target_pairs",
                                             "start",
                                             "size",
                                             "alignment",
                                             "c_in_block",
                                             "num_groups",
                                             "slice_size",
                                             "scale_factor",
                                             "normalized_shape",
                                             "arange_dimension",
                                             "token_index",
                                             "composer_config.dims",
                                             "mapper_config.placements",
                                             "sender_coord",
                                             "receiver_coord",
                                             "dimensions",
                                             "shard_shape",
                                             "shard_dims",
                                             "channel_dim",
                                             "batch_dim",
                                             "height_dim",
                                             "width_dim",
                                             "ceil_mode"};
  std::mt19937_64 random(1);
  const auto pick = [&](std::initializer_list<int64_t> values) { return values.begin()[random() % values.size()]; };
  const auto size = [&] {
    return random() % 8 ? pick({0, 1, 2, 3, 4, 8, 32}) : pick({INT32_MAX, int64_t(1) << 40, INT64_MAX});
  };
  const auto integer = [&] {
    return random() % 4 ? pick({-2, -1, 0, 1, 2, 3, 4, 8}) : pick({INT64_MIN, INT32_MIN, INT32_MAX, INT64_MAX});
  };
  size_t accepted = 0;
  for (const Rule &rule : rules())
    for (int round = 0; round < 50; ++round) {
      std::vector<std::pair<std::string, std::optional<Shape>>> ins;
      for (const std::string_view name : names) {
        Shape shape(static_cast<size_t>(pick({1, 2, 3, 4, 4, 4, 5})));
        for (int64_t &each : shape)
          each = size();
        if (random() % 16)
          ins.emplace_back(name, std::move(shape));
      }
      std::map<std::string, Attribute, std::less<>> given;
      for (const std::string_view name : attributes) {
        Shape values(random() % 5);
        for (int64_t &each : values)
          each = integer();
        if (random() % 16)
          given.emplace(name, random() % 3 == 0   ? number(integer())
                              : random() % 4 == 0 ? rows(values, values.size() % 2 ? 1 : 2)
                                                  : numbers(values));
      }
      const TestOp op(ins, given, random() % 2 ? Shape{2, 4} : Shape{},
                      random() % 2 ? std::vector<Shape>{{2, 4}} : std::vector<Shape>{});
      Results results;
      const auto failure = infer(rule, op, results);
      accepted += !failure;
      if (failure)
        EXPECT_FALSE(failure->text.empty()) << rule.name;
      else
        for (const Sizes &shape : results)
          for (const int64_t each : shape)
            EXPECT_GE(each, 0) << rule.name;
    }
  EXPECT_GT(accepted, 20u);
}

} // namespace
} // namespace tt::shapes
