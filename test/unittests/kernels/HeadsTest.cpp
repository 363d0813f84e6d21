//===- HeadsTest.cpp - projections into heads and back --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, f16 = DataType::Float16, i32 = DataType::Int32;

/// Values of x at the places that `from` gives for each element of [a, b, c, d].
std::vector<double> gathered(const Value &x, int64_t a, int64_t b, int64_t c, int64_t d,
                             const std::function<int64_t(int64_t, int64_t, int64_t, int64_t)> &from) {
  std::vector<double> y;
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j)
      for (int64_t k = 0; k < c; ++k)
        for (int64_t l = 0; l < d; ++l)
          y.push_back(x.get(static_cast<size_t>(from(i, j, k, l))));
  return y;
}

struct Sizes {
  int64_t batch, heads, rows, size;
};

class Heads : public testing::TestWithParam<Sizes> {};

TEST_P(Heads, Concatenate) {
  const auto [batch, heads, rows, size] = GetParam();
  for (DataType type : {f32, bf16, f16, i32}) {
    const Value x = random(type, {batch, heads, rows, size}, -50, 50);
    const auto expected = gathered(x, batch, rows, heads, size, [&](int64_t b, int64_t r, int64_t h, int64_t c) {
      return ((b * heads + h) * rows + r) * size + c;
    });
    expectEqual(run("ttnn.concatenate_heads", {&x}, type, {batch, rows, heads * size}), expected);
    expectEqual(run("ttnn.nlp_concat_heads", {&x}, type, {batch, 1, rows, heads * size}), expected);
  }
  const Value x = random(f32, {batch, heads, rows, size}, -1, 1);
  const Value whole = run("ttnn.nlp_concat_heads", {&x}, f32, {batch, 1, rows, heads * size});
  expectNear(run("ttnn.nlp_concat_heads", {&x}, bf16, whole.spec.shape), whole.values(), 0x1p-8, 0);
}

TEST_P(Heads, SplitQueryKeyValue) {
  const auto [batch, heads, rows, size] = GetParam();
  for (DataType type : {f32, bf16})
    for (int64_t keyHeads : {heads, int64_t(1)})
      for (bool transposed : {false, true})
        for (bool apart : {false, true}) {
          const int64_t columns = apart ? heads * size : (heads + 2 * keyHeads) * size;
          const Value x = random(type, {batch, rows, columns}, -9, 9, 1),
                      other = random(type, {batch, rows, 2 * keyHeads * size}, -9, 9, 2);
          const Value &source = apart ? other : x;
          const int64_t width = source.spec.shape[2], first = apart ? 0 : heads * size;
          auto part = [&](const Value &from, int64_t count, int64_t line, int64_t begin, bool turned) {
            return gathered(from, batch, count, turned ? size : rows, turned ? rows : size,
                            [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                              const int64_t r = turned ? j : i, c = turned ? i : j;
                              return (b * rows + r) * line + begin + h * size + c;
                            });
          };
          const Shape key = transposed ? Shape{batch, keyHeads, size, rows} : Shape{batch, keyHeads, rows, size};
          const auto results = runAll(
              "ttnn.split_query_key_value_and_split_heads", apart ? std::vector{&x, &other} : std::vector{&x},
              {Value(type, {batch, heads, rows, size}), Value(type, key), Value(type, {batch, keyHeads, rows, size})},
              {{"num_heads", integer(heads)},
               {"num_kv_heads", integer(keyHeads)},
               {"transpose_key", flag(transposed)}});
          expectEqual(results[0], part(x, heads, columns, 0, false));
          expectEqual(results[1], part(source, keyHeads, width, first, transposed));
          expectEqual(results[2], part(source, keyHeads, width, first + keyHeads * size, false));
        }
}

TEST_P(Heads, OnePositionPerUser) {
  const auto [users, heads, unused, size] = GetParam();
  for (DataType type : {f32, bf16}) {
    // Heads are filled up to a tile's rows.
    const int64_t filled = heads + 3;
    const Value y = random(type, {1, users, filled, size});
    expectEqual(
        run("ttnn.nlp_concat_heads_decode", {&y}, type, {1, 1, users, heads * size}, {{"num_heads", integer(heads)}}),
        gathered(y, 1, users, heads, size,
                 [&](int64_t, int64_t u, int64_t h, int64_t c) { return (u * filled + h) * size + c; }));

    const int64_t columns = (heads + 2) * size;
    const Value x = random(type, {1, 1, users, columns});
    for (int64_t first = -1; first < users; ++first) { // -1: all of them
      const int64_t count = first < 0 ? users : users - first, skipped = std::max<int64_t>(first, 0);
      const Value offset(i32, {1}, {static_cast<double>(skipped)});
      Named attributes = {{"num_heads", integer(heads)}, {"num_kv_heads", integer(1)}};
      if (first >= 0)
        attributes.push_back({"slice_size", integer(count)});
      const auto results = runAll(
          "ttnn.nlp_create_qkv_heads_decode", first < 0 ? std::vector{&x} : std::vector{&x, &offset},
          {Value(type, {1, count, heads, size}), Value(type, {1, count, 1, size}), Value(type, {1, count, 1, size})},
          attributes);
      const int64_t begins[] = {0, heads, heads + 1}, counts[] = {heads, 1, 1};
      for (size_t i = 0; i < 3; ++i)
        expectEqual(results[i], gathered(x, 1, count, counts[i], size, [&](int64_t, int64_t u, int64_t h, int64_t c) {
                      return (skipped + u) * columns + (begins[i] + h) * size + c;
                    }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Heads,
                         testing::Values(Sizes{1, 1, 1, 1}, Sizes{2, 3, 5, 7}, Sizes{1, 12, 33, 64}, Sizes{3, 2, 1, 32},
                                         Sizes{1, 8, 128, 2}));

TEST(HeadsErrors, NameWhatWasExpected) {
  const Value x(f32, {2, 6, 10}), heads(f32, {2, 3, 4, 5}), decoded(f32, {1, 1, 4, 12}), far(i32, {1}, {3});
  auto split = [&](const std::vector<const Value *> &ins, int64_t count) {
    return errorOf([&] {
      runAll("ttnn.split_query_key_value_and_split_heads", ins,
             {Value(f32, {2, 2, 6, 1}), Value(f32, {2, 2, 6, 1}), Value(f32, {2, 2, 6, 1})},
             {{"num_heads", integer(count)}, {"transpose_key", flag(false)}});
    });
  };
  const std::string name = "ttnn.split_query_key_value_and_split_heads: ";
  EXPECT_EQ(split({&x}, 2), name + "the last size 10 of 'input_tensor' does not divide into 6 heads");
  EXPECT_EQ(split({&x}, 0), name + "has 0 query and 0 key heads; expected 1 or more");
  EXPECT_EQ(split({&x, &x}, 2),
            name + "operand 'kv_input_tensor' has shape [2, 6, 10]; expected [2, 6, 4] times the head size 5");
  EXPECT_EQ(errorOf([&] { run("ttnn.nlp_concat_heads", {&x}, f32, {2, 1, 6, 10}); }),
            "ttnn.nlp_concat_heads: operand 'input' has shape [2, 6, 10] and type f32; expected rank 4");
  EXPECT_EQ(errorOf([&] { run("ttnn.nlp_concat_heads", {&heads}, f32, {2, 1, 4, 14}); }),
            "ttnn.nlp_concat_heads: result 0 has shape [2, 1, 4, 14]; expected [2, 1, 4, 15]");
  EXPECT_EQ(errorOf([&] {
              run("ttnn.nlp_concat_heads_decode", {&decoded}, f32, {1, 1, 1, 60}, {{"num_heads", integer(5)}});
            }),
            "ttnn.nlp_concat_heads_decode: attribute 'num_heads' is 5; expected 1 to 4");
  auto decode = [&](const std::vector<const Value *> &ins, Named attributes) {
    attributes.push_back({"num_heads", integer(2)});
    return errorOf([&] {
      runAll("ttnn.nlp_create_qkv_heads_decode", ins,
             {Value(f32, {1, 2, 2, 2}), Value(f32, {1, 2, 2, 2}), Value(f32, {1, 2, 2, 2})}, attributes);
    });
  };
  const std::string decodeName = "ttnn.nlp_create_qkv_heads_decode: ";
  EXPECT_EQ(decode({&decoded}, {{"num_kv_heads", integer(3)}}),
            decodeName + "the last size 12 of 'input' does not divide into 8 heads");
  EXPECT_EQ(decode({&decoded}, {{"slice_size", integer(2)}}),
            decodeName + "has attribute 'slice_size' without operand 'batch_offset'");
  EXPECT_EQ(decode({&decoded, &far}, {{"slice_size", integer(5)}}),
            decodeName + "attribute 'slice_size' is 5; expected 1 to 4 users");
  EXPECT_EQ(decode({&decoded, &far}, {{"slice_size", integer(2)}}),
            decodeName + "operand 'batch_offset' is 3; expected 0 to 2");
}

} // namespace
