//===- attention.cpp - a layer of a transformer, by hand ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Self-attention of a few tokens on a simulated chip, with the functions of
// TTNN: weights are made once and lie in DRAM, what is between lies in L1.
//
//===----------------------------------------------------------------------===//

#include <ttnn/ttnn.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

constexpr int64_t length = 32, width = 64, heads = 4;

/// Numbers that look random and are the same every time.
ttnn::Tensor weight(const ttnn::Shape &shape, int64_t seed, const ttnn::Device &device) {
  return ttnn::rand(shape, device, ttnn::DataType::BFLOAT16, ttnn::Layout::TILE, ttnn::DRAM_MEMORY_CONFIG,
                    /*low=*/-0.1, /*high=*/0.1, seed);
}

class Attention {
public:
  explicit Attention(const ttnn::Device &device)
      : input(weight({width, 3 * width}, 1, device)), output(weight({width, width}, 2, device)) {}

  ttnn::Tensor operator()(const ttnn::Tensor &x) const {
    const auto [query, key, value] = ttnn::transformer::split_query_key_value_and_split_heads(
        ttnn::matmul(x, input), {}, heads, {}, /*transpose_key=*/false, {}, ttnn::L1_MEMORY_CONFIG);
    const auto attended =
        ttnn::transformer::scaled_dot_product_attention(query, key, value, {}, {}, /*is_causal=*/true);
    return x + ttnn::matmul(ttnn::transformer::concatenate_heads(attended), output);
  }

private:
  ttnn::Tensor input, output;
};

void run() {
  const ttnn::Device device = ttnn::open_device();
  const Attention attention(device);
  const ttnn::Tensor x = ttnn::ones({1, length, width}, ttnn::DataType::BFLOAT16, ttnn::Layout::TILE, device);
  const std::vector<float> values = ttnn::to_vector(attention(x));
  std::printf("first values: %g %g %g\n", values[0], values[1], values[2]);
  const auto totals = device->totals();
  std::printf("%lld ops, %lld cycles of the chip\n", static_cast<long long>(totals.ops),
              static_cast<long long>(totals.cycles));
  ttnn::close_device(device);
}

} // namespace

int main() try { run(); } catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
