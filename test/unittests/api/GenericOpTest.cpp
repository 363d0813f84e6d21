//===- GenericOpTest.cpp - programs of kernels in C++ ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include <ttnn/generic_op.hpp>

#include "../runtime/ErrorOf.h"
#include "tt/ttnn/trace.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace tt;
using namespace tt::tt_metal;
using tt::test::errorOf;
using tt::ttnn::DataType;
using tt::ttnn::Layout;
using tt::ttnn::Tensor;

namespace {

using Floats = std::vector<float>;

const CoreRangeSet pair{.core_ranges = {{{0, 0}, {1, 0}}}};

ttnn::MemoryConfig shards() {
  return {ttnn::TensorMemoryLayout::BLOCK_SHARDED, ttnn::BufferType::L1,
          ttnn::ShardSpec(ttnn::CoreGrid{1, 2}, {32, 32})};
}

Tensor onDevice(const ttnn::Device &device, float first, const ttnn::MemoryConfig &memory = shards()) {
  Floats values(32 * 64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = first + static_cast<float>(i % 7);
  return ttnn::from_vector(values, {32, 64}, DataType::BFLOAT16, Layout::TILE, device, memory);
}

KernelDescriptor signal() {
  return {.kernel_source =
              "#include \"dataflow_api.h\"\nvoid kernel_main() {\n  for (uint32_t cb = 0; cb < 2; ++cb) {\n"
              "    cb_reserve_back(cb, 1);\n    cb_push_back(cb, 1);\n  }\n}\n",
          .source_type = KernelDescriptor::SourceType::SOURCE_CODE,
          .core_ranges = pair,
          .config = ReaderConfigDescriptor{}};
}

/// Adds the shards of two tensors on two cores; what the second argument of a core says is added OPERATION times.
ProgramDescriptor sum(const Tensor &a, const Tensor &b, const Tensor &out) {
  KernelDescriptor compute{
      .kernel_source = "#include \"compute_kernel_api.h\"\nnamespace NAMESPACE {\nvoid MAIN {\n"
                       "  constexpr uint32_t to = get_compile_time_arg_val(0);\n  binary_op_init_common(0, 1, to);\n"
                       "  add_tiles_init(0, 1);\n  cb_wait_front(0, 1);\n  cb_wait_front(1, 1);\n"
                       "  cb_reserve_back(to, 1);\n  tile_regs_acquire();\n  OPERATION(0, 1, 0, 0, 0);\n"
                       "  tile_regs_commit();\n  tile_regs_wait();\n  pack_tile(0, to);\n  tile_regs_release();\n"
                       "  cb_push_back(to, 1);\n}\n}\n",
      .source_type = KernelDescriptor::SourceType::SOURCE_CODE,
      .core_ranges = pair,
      .compile_time_args = {16},
      .defines = {{"OPERATION", "add_tiles"}},
      .config = ComputeConfigDescriptor{.math_fidelity = MathFidelity::HiFi4, .fp32_dest_acc_en = true}};
  return {.kernels = {signal(), compute},
          .cbs = {cb_descriptor_from_sharded_tensor(0, a), cb_descriptor_from_sharded_tensor(1, b, 0, 2048, pair),
                  cb_descriptor_from_sharded_tensor(16, out)}};
}

#define EXPECT_TEXT(found, text)                                                                                       \
  do {                                                                                                                 \
    const std::string value = found;                                                                                   \
    EXPECT_NE(value.find(text), std::string::npos) << value;                                                           \
  } while (false)

TEST(GenericOp, AddsShards) {
  const ttnn::Device device = ttnn::open_device();
  const Tensor a = onDevice(device, 1), b = onDevice(device, 100), out = onDevice(device, 0);
  const Floats expected = ttnn::to_vector(a + b), before = ttnn::to_vector(a);
  EXPECT_EQ(ttnn::to_vector(ttnn::generic_op({a, b, out}, sum(a, b, out))), expected);
  EXPECT_EQ(ttnn::to_vector(out), expected);
  EXPECT_EQ(ttnn::to_vector(a), before);
  ttnn::close_device(device);
}

TEST(GenericOp, ATraceRunsItAgain) {
  const ttnn::Device device = ttnn::open_device();
  const Tensor a = onDevice(device, 1), b = onDevice(device, 100), out = onDevice(device, 0);
  const auto trace = ttnn::Trace::begin(device);
  ttnn::generic_op({a, b, out}, sum(a, b, out));
  trace->end(device);
  ttnn::copyValues(onDevice(device, 50), a, "test");
  trace->execute(device);
  EXPECT_EQ(ttnn::to_vector(out), ttnn::to_vector(onDevice(device, 50) + b));
  trace->release(device);
  ttnn::close_device(device);
}

/// Arguments, semaphores and circular buffers of a program's own; the source is in a file.
TEST(GenericOp, ArgumentsAndFiles) {
  const std::string path = (std::filesystem::temp_directory_path() / "generic_op_test_kernel.cpp").string();
  std::ofstream(path) << R"(#include "dataflow_api.h"
void kernel_main() {
  const uint32_t address = get_common_arg_val<uint32_t>(0), place = get_arg_val<uint32_t>(0);
  noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t *>(get_semaphore(3)), 5);
  cb_reserve_back(2, 1);
  auto *values = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(get_write_ptr(2));
  for (uint32_t i = 0; i < 512; ++i)
    values[i] = place;
  noc_async_write(get_write_ptr(2), get_noc_addr(place, 0, address), 2048);
  noc_async_write_barrier();
}
)";
  const ttnn::Device device = ttnn::open_device();
  const Tensor out = onDevice(device, 7);
  const KernelDescriptor kernel{.kernel_source = path,
                                .core_ranges = pair,
                                .runtime_args = {{{0, 0}, {0}}, {{1, 0}, {1}}},
                                .common_runtime_args = {buffer_address(out)},
                                .config = DataMovementConfigDescriptor{.noc = NOC::NOC_1}};
  const ProgramDescriptor program{
      .kernels = {kernel},
      .semaphores = {{.id = 3, .core_ranges = pair, .initial_value = 5}},
      .cbs = {{.total_size = 2048, .core_ranges = pair, .format_descriptors = {{2, DataType::BFLOAT16, 2048}}}}};
  const Floats found = ttnn::to_vector(ttnn::generic_op({out}, program));
  std::remove(path.c_str());
  EXPECT_EQ(found[0], 0);
  EXPECT_NE(found[32], 0); // the bits of 1 as two numbers, one of which is the least that bf16 has
  EXPECT_TEXT(errorOf([&] { ttnn::generic_op({out}, program); }), "kernels[0]: kernel_source cannot be read: " + path);
  ttnn::close_device(device);
}

TEST(GenericOp, Errors) {
  const ttnn::Device device = ttnn::open_device();
  const Tensor a = onDevice(device, 1), b = onDevice(device, 2), out = onDevice(device, 0);
  const Tensor interleaved = onDevice(device, 1, ttnn::L1_MEMORY_CONFIG), host = ttnn::from_vector(Floats(4), {4});
  const auto refused = [&](auto change, std::vector<Tensor> tensors = {}) {
    return errorOf([&] {
      ProgramDescriptor program = sum(a, b, out);
      change(program);
      ttnn::generic_op(tensors.empty() ? std::vector<Tensor>{a, b, out} : tensors, program);
    });
  };
  const auto nothing = [](ProgramDescriptor &) {};
  EXPECT_TEXT(errorOf([] { ttnn::generic_op({}, {}); }), "io_tensors is empty; expected at least the result");
  EXPECT_TEXT(refused(nothing, {a, host}), "io_tensors[1] lies on the host; expected one on a device");
  EXPECT_TEXT(refused(nothing, {host, a}), "tensor 0 lies on the host");
  EXPECT_TEXT(refused(nothing, {Tensor(), a}), "io_tensors[0] is missing");
  EXPECT_TEXT(refused([](auto &p) { p.cbs[0].total_size = 100; }),
              "cbs[0] has 100 bytes; expected a multiple of page_size 2048");
  EXPECT_TEXT(refused([](auto &p) { p.cbs[1].format_descriptors[0].page_size = 0; }), "cbs[1] has 2048 bytes");
  EXPECT_TEXT(refused([](auto &p) { p.cbs[2].format_descriptors.clear(); }), "cbs[2] has no format_descriptors");
  EXPECT_TEXT(refused([](auto &p) { p.kernels[0].kernel_source = "void kernel_main() { nowhere(); }"; }), "nowhere");
  EXPECT_TEXT(refused([](auto &p) { p.kernels[1].defines.clear(); }), "OPERATION");
  EXPECT_TEXT(refused([](auto &p) { p.kernels.erase(p.kernels.begin()); }), "waits for");
  EXPECT_TEXT(refused([](auto &p) { p.kernels[0].core_ranges.core_ranges[0].end_coord.x = -1; }),
              "kernels[0] has core (-1, 0); expected the place of a core");
  EXPECT_TEXT(errorOf([&] { cb_descriptor_from_sharded_tensor(0, interleaved); }), "is not sharded in L1");
  EXPECT_TEXT(errorOf([&] { cb_descriptor_from_sharded_tensor(0, host); }), "lies on the host");
  EXPECT_TEXT(errorOf([&] { cb_descriptor_from_sharded_tensor(0, a, 32, 2048); }),
              "2048 bytes from 32 on; a shard of the tensor has 2048 bytes");
  EXPECT_TEXT(errorOf([&] { buffer_address(host); }), "lies on the host; expected one on a device");
  ttnn::close_device(device);
}

} // namespace
