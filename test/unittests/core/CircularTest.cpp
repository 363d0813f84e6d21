//===- CircularTest.cpp - circular buffers by their rules -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../ttnn/OpTest.h"

using namespace tt;
using namespace tt::ttnn;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, bfp8 = DataType::BFP_BFloat8;
using Named = ttnn::test::Named;

TensorSpec placed(DataType type, Shape shape, BufferType buffer = BufferType::DRAM, Layout layout = Layout::Tile) {
  TensorSpec spec{type, std::move(shape), layout, {}, false};
  spec.memory = {buffer, MemoryLayout::Interleaved, {}, {}};
  return spec;
}

TensorSpec sharded(DataType type, Shape shape, std::vector<int64_t> shard) {
  TensorSpec spec = placed(type, std::move(shape), BufferType::L1);
  spec.memory = {BufferType::L1, MemoryLayout::BlockSharded, {8, 8}, std::move(shard)};
  return spec;
}

int64_t bytesOf(const std::string &op, std::vector<TensorSpec> ins, TensorSpec out, Named attributes = {}) {
  OpCall call{op, {}, {std::move(out)}, Attributes(op, std::move(attributes)), {1, 1}, {}};
  for (TensorSpec &in : ins)
    call.ins.emplace_back(std::move(in));
  return circularBytes(sim::chip(Arch::WormholeB0), *findOp(call.name), call);
}

Attribute blocks(int64_t inner, int64_t rows, int64_t columns) {
  return {StructAttribute{"ttnn.matmul_multi_core_reuse_multi_cast_program_config",
                          {{"in0_block_w", ttnn::test::integer(inner)},
                           {"per_core_m", ttnn::test::integer(rows)},
                           {"per_core_n", ttnn::test::integer(columns)}}}};
}

Attribute accumulatingIn(bool wide) {
  return {StructAttribute{"ttnn.device_compute_kernel_config", {{"fp32_dest_acc_en", ttnn::test::flag(wide)}}}};
}

TEST(CircularBuffers, OfElementwiseOpsAreTwoTilesOfEachTensor) {
  const Shape shape{256, 256};
  EXPECT_EQ(bytesOf("ttnn.add", {placed(bf16, shape), placed(f32, shape)}, placed(f32, shape)),
            2 * (2048 + 4096 + 4096));
  EXPECT_EQ(bytesOf("ttnn.exp", {placed(bfp8, shape)}, placed(bfp8, shape)), 4 * 1088);
  // A shard is its own buffer.
  const TensorSpec shard = sharded(bf16, shape, {32, 32});
  EXPECT_EQ(bytesOf("ttnn.add", {shard, placed(bf16, shape)}, shard), 2 * 2048);
  TensorSpec host = placed(bf16, shape, BufferType::SystemMemory);
  EXPECT_EQ(bytesOf("ttnn.exp", {host}, host), 0);
}

TEST(CircularBuffers, OfProductsFollowTheBlocksOfTheConfig) {
  const TensorSpec a = placed(bf16, {1024, 1024}), wide = placed(f32, {1024, 1024});
  const Named config = {{"matmul_program_config", blocks(2, 4, 8)}};
  // Two blocks of 4x2 and 2x8 tiles, and 4x8 of results, in which partial sums of their format lie, too.
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, config), 2 * 2 * 4 * 2048 + 2 * 2 * 8 * 2048 + 32 * 2048);
  const Named accumulated = {config[0], {"compute_config", accumulatingIn(true)}};
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, accumulated),
            2 * 2 * 4 * 2048 + 2 * 2 * 8 * 2048 + 32 * 2048 + 32 * 4096);
  EXPECT_EQ(bytesOf("ttnn.linear", {wide, wide, placed(f32, {1024})}, wide, config),
            (2 * 2 * 4 + 2 * 2 * 8 + 32 + 8) * 4096);
  StructAttribute parts = std::get<StructAttribute>(blocks(2, 4, 8).value);
  parts.fields.push_back({"out_block_h", ttnn::test::integer(2)});
  parts.fields.push_back({"out_block_w", ttnn::test::integer(4)});
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, {{"matmul_program_config", {parts}}}),
            (2 * 2 * 2 + 2 * 2 * 4 + 2 * 4) * 2048);
  // The library's choice: an eighth of K of 4x4 tiles of the result.
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a), 2 * (4 * 4 + 4 * 4) * 2048 + 16 * 2048);
  // It has less room where a tensor lies in L1, and takes a block of half the depth.
  const TensorSpec large = placed(bf16, {4096, 4096}), held = placed(bf16, {4096, 4096}, BufferType::L1);
  EXPECT_EQ(bytesOf("ttnn.matmul", {large, large}, large), 2 * 2 * (16 + 16) * 2048 + 256 * 2048);
  EXPECT_EQ(bytesOf("ttnn.matmul", {held, large}, large), 2 * 2 * (8 + 16) * 2048 + 128 * 2048);
}

TEST(CircularBuffers, OfRowsFollowTheirWidthUntilTheyAreStreamed) {
  const Named exact = {{"numericStable", ttnn::test::flag(true)}};
  const TensorSpec row = placed(bf16, {32, 1024}); // 32 tiles
  // Blocks of four tiles, exponentials, factors, and sums of 32 bits; with maxima, the row itself.
  EXPECT_EQ(bytesOf("ttnn.softmax", {row}, row), (8 + 8 + 32 + 3) * 2048 + 4096);
  EXPECT_EQ(bytesOf("ttnn.softmax", {row}, row, exact), (32 + 8 + 32 + 3) * 2048 + 2 * 4096);
  const TensorSpec longRow = placed(bf16, {32, 131072});
  EXPECT_EQ(bytesOf("ttnn.softmax", {longRow}, longRow), (8 + 8 + 80 + 3) * 2048 + 4096);
  const TensorSpec weight = placed(bf16, {1024});
  EXPECT_EQ(bytesOf("ttnn.layer_norm", {row, weight, weight}, row),
            (32 + 8 + 4 + 64) * 2048 + (2 * 32 + 12 + 8) * 4096);
  EXPECT_EQ(bytesOf("ttnn.rms_norm", {longRow}, longRow), (112 + 16 + 112 + 2 + 4 + 8 + 1) * 2048);
  const TensorSpec rows = placed(bf16, {64, 96}, BufferType::DRAM, Layout::RowMajor);
  EXPECT_EQ(bytesOf("ttnn.to_layout", {rows}, placed(bf16, {64, 96})), 6 * 2048);
}

Named windowOf(int64_t size, int64_t channels, int64_t kernel, int64_t padding, std::string_view name = "channels") {
  auto numbers = [](int64_t value) { return Attribute{std::vector<int64_t>{value, value}}; };
  return {{"batch_size", ttnn::test::integer(1)},
          {std::string(name), ttnn::test::integer(channels)},
          {"input_height", ttnn::test::integer(size)},
          {"input_width", ttnn::test::integer(size)},
          {"kernel_size", numbers(kernel)},
          {"stride", numbers(1)},
          {"padding", numbers(padding)},
          {"dilation", numbers(1)}};
}

TensorSpec rowsOnCores(DataType type, int64_t rows, int64_t columns, Layout layout) {
  TensorSpec spec = placed(type, {1, 1, rows, columns}, BufferType::L1, layout);
  spec.memory = {BufferType::L1, MemoryLayout::HeightSharded, {64, 1}, {rows / 64, columns}};
  return spec;
}

TEST(CircularBuffers, OfConvolutionsAreBlocksOfWindows) {
  // 64x64 pixels of 32 channels: a core has 2 rows of 2 tiles of the result; a block has 3 pixels of a window.
  const TensorSpec image = rowsOnCores(bf16, 4096, 32, Layout::RowMajor),
                   out = rowsOnCores(bfp8, 4096, 64, Layout::Tile);
  const TensorSpec weights = placed(bfp8, {64, 32, 3, 3}), bias = placed(bfp8, {1, 1, 1, 64});
  Named attributes = windowOf(64, 32, 3, 1, "in_channels");
  attributes.push_back({"out_channels", ttnn::test::integer(64)});
  attributes.push_back({"groups", ttnn::test::integer(1)});
  const int64_t weightBlock = 2 * 3 * 1088, block = 2 * 3;
  EXPECT_EQ(bytesOf("ttnn.conv2d", {image, weights, bias}, out, attributes),
            weightBlock + block * (2048 + 1088) + 2 * 1088 + 64);
  auto configured = [&](std::vector<NamedAttribute> fields) {
    Named all = attributes;
    all.push_back({"conv2d_config", {StructAttribute{"ttnn.conv2d_config", std::move(fields)}}});
    return bytesOf("ttnn.conv2d", {image, weights}, out, all);
  };
  // Of one row of tiles at a time, the weights of a whole window stay.
  EXPECT_EQ(configured({{"act_block_h_override", ttnn::test::integer(32)}}), 3 * weightBlock + 3 * (2048 + 1088) + 64);
  EXPECT_EQ(configured({{"enable_act_double_buffer", ttnn::test::flag(true)},
                        {"enable_weights_double_buffer", ttnn::test::flag(true)}}),
            2 * weightBlock + block * (2 * 2048 + 1088) + 64);
  // Partial sums of another format than the result's have room of their own, when the packer adds them.
  Named added = attributes;
  added.push_back(
      {"compute_config",
       {StructAttribute{"ttnn.device_compute_kernel_config",
                        {{"fp32_dest_acc_en", ttnn::test::flag(true)}, {"packer_l1_acc", ttnn::test::flag(true)}}}}});
  EXPECT_EQ(bytesOf("ttnn.conv2d", {image, weights}, out, added), weightBlock + block * (2048 + 1088) + 4 * 4096 + 64);
  // In pages, the library takes all rows of tiles that a core will have, of two readers.
  const TensorSpec pages = placed(bf16, {1, 1, 4096, 32}), made = placed(bfp8, {1, 1, 4096, 64});
  EXPECT_EQ(bytesOf("ttnn.conv2d", {pages, weights}, made, attributes), weightBlock + block * (2048 + 1088) + 64);
  // Where all channels of the rows of a core are too many, it has one of eight blocks of them.
  Named wide = windowOf(160, 256, 3, 1, "in_channels");
  wide.push_back({"out_channels", ttnn::test::integer(256)});
  wide.push_back({"groups", ttnn::test::integer(1)});
  const TensorSpec photos = placed(f32, {1, 1, 25600, 256});
  EXPECT_EQ(bytesOf("ttnn.conv2d", {photos, placed(f32, {256, 256, 3, 3})}, photos, wide),
            3 * 4096 + 25 * 3 * (2048 + 4096) + 64); // 25 of its 100 rows of tiles fit at a time
  // A window of a pixel is a product.
  Named pixel = windowOf(64, 32, 1, 0, "in_channels");
  pixel.push_back({"out_channels", ttnn::test::integer(64)});
  pixel.push_back({"groups", ttnn::test::integer(1)});
  EXPECT_EQ(bytesOf("ttnn.conv2d", {image, placed(bfp8, {64, 32, 1, 1})}, out, pixel), 0);
}

TEST(CircularBuffers, OfPoolsAreWindowsOfTwoReaders) {
  const TensorSpec image = rowsOnCores(bf16, 4096, 64, Layout::RowMajor);
  TensorSpec out = rowsOnCores(bf16, 4096, 64, Layout::RowMajor);
  Named attributes = windowOf(64, 64, 3, 1);
  attributes.push_back({"ceil_mode", ttnn::test::flag(false)});
  // 9 rows of two tiles of channels are a tile; factors twice, and what windows begin with.
  EXPECT_EQ(bytesOf("ttnn.max_pool2d", {image}, out, attributes), (2 + 1 + 4) * 2048);
  out.layout = Layout::Tile;
  EXPECT_EQ(bytesOf("ttnn.max_pool2d", {image}, out, attributes), (2 + 1 + 4 + 2) * 2048);
  // Means over what lies in the image have a factor of their own for each reader.
  Named inside = attributes;
  inside.push_back({"count_include_pad", ttnn::test::flag(false)});
  EXPECT_EQ(bytesOf("ttnn.avg_pool2d", {image}, out, inside), (4 + 1 + 4 + 2) * 2048);
  EXPECT_EQ(bytesOf("ttnn.avg_pool2d", {image}, out, attributes), (2 + 1 + 4 + 2) * 2048);
}

TEST(CircularBuffers, OfAttentionAreChunks) {
  const TensorSpec query = placed(bf16, {1, 8, 256, 64}), key = placed(bfp8, {1, 8, 256, 64});
  const Named causal = {{"is_causal", ttnn::test::flag(true)}}, whole = {{"is_causal", ttnn::test::flag(false)}};
  // A core has a chunk of 32 rows; keys and values twice, 2 tiles each.
  const int64_t common = 2 * 2048 + 2 * 2 * 2 * 1088 + (3 + 1 + 2 * 2 + 5) * 2048 + 2 * 2 * 2048;
  EXPECT_EQ(bytesOf("ttnn.scaled_dot_product_attention", {query, key, key}, query, whole), common);
  EXPECT_EQ(bytesOf("ttnn.scaled_dot_product_attention", {query, key, key}, query, causal),
            common + 2 * 2048 + 2 * 2048);
  EXPECT_EQ(
      bytesOf("ttnn.scaled_dot_product_attention", {query, key, key, placed(bf16, {1, 1, 256, 256})}, query, whole),
      common + 2 * 2048);
  Named chunked = whole;
  chunked.push_back(
      {"program_config",
       {StructAttribute{"ttnn.sdpa_program_config",
                        {{"q_chunk_size", ttnn::test::integer(64)}, {"k_chunk_size", ttnn::test::integer(128)}}}}});
  EXPECT_EQ(bytesOf("ttnn.scaled_dot_product_attention", {query, key, key}, query, chunked),
            4 * 2048 + 2 * 2 * 4 * 2 * 1088 + (3 + 8 + 2 * 4 + 5 * 2) * 2048 + 2 * 4 * 2048);
}

TEST(CircularBuffers, OfDecodingHaveRoomForWhatOtherCoresSend) {
  // 2 users, 32 heads to 8 of 512 keys: 4 cores for each.
  const TensorSpec query = placed(bf16, {1, 2, 32, 64}), key = placed(bfp8, {2, 8, 512, 64});
  const int64_t found = bytesOf("ttnn.scaled_dot_product_attention_decode", {query, key, key}, query,
                                {{"is_causal", ttnn::test::flag(true)}});
  const int64_t keys = 2 * 16 * 2 * 1088;
  EXPECT_EQ(found, 2 * 2 * 2048 + 2 * keys + 2 * 16 * 2048 + 3 * 2048 + 11 * 2048 + 4 * 2 * 2048 + (2 + 2) * 3 * 2048 +
                       2 * 2048);
}

} // namespace
