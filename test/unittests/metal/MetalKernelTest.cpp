//===- MetalKernelTest.cpp - the kernel API, right and wrong --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "MetalSamples.h"
#include "tt/parallel.h"

#include <sys/resource.h>

using namespace tt;
using namespace tt::test;

namespace {

/// A program of one kernel "k" that sees `rings` row-major buffers of `pages` tiles of f32, the first of them written
/// with the input of `pages` x 1024 elements, the last of them read.
struct KernelProgram {
  MetalBuilder builder;
  MetalBuffer result;

  KernelProgram(const std::string &source, bool compute = true, uint32_t rings = 2, uint32_t pages = 2,
                std::vector<MetalBuilder::Kernel> others = {}, bool f32Dst = true, int32_t columns = 1) {
    builder.gridColumns = columns;
    const Shape shape = {32, 32 * static_cast<int64_t>(pages) * columns};
    const auto input = builder.input(shape);
    std::vector<MetalBuffer> buffers;
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < rings; ++i) {
      buffers.push_back(builder.device(shape, DataType::Float32, false));
      numbers.push_back(i);
    }
    builder.write(input, buffers.front());
    others.insert(others.begin(), {"k", source, compute, f32Dst, false, numbers, {}, numbers});
    builder.program(buffers, others);
    result = builder.alloc(shape);
    builder.read(buffers.back(), result);
  }
  std::string error(bool binaryError = false) {
    const auto binary = builder.load({result});
    const auto x = tensor(std::vector<float>(static_cast<size_t>(volume(result.shape)), 1), result.shape);
    return binaryError ? message<BinaryError>([&] { runMetal(binary, {x}); })
                       : message<Error>([&] { runMetal(binary, {x}); });
  }
  std::vector<float> run(const std::vector<float> &values) {
    return floats(runMetal(builder.load({result}), {tensor(values, result.shape)}));
  }
};

std::string computeKernel(const std::string &body) {
  return "#include \"compute_kernel_api.h\"\n#include \"compute_kernel_api/matmul.h\"\nnamespace NAMESPACE {\nvoid "
         "MAIN "
         "{\n" +
         body + "}\n}\n";
}
std::string dataKernel(const std::string &body) {
  return "#include \"dataflow_api.h\"\nvoid kernel_main() {\n" + body + "}\n";
}

#define EXPECT_TEXT(found, text)                                                                                       \
  do {                                                                                                                 \
    const std::string value = found;                                                                                   \
    EXPECT_NE(value.find(text), std::string::npos) << value;                                                           \
  } while (false)

/// Element (row, column) of a tile that lies in faces from `values` on.
float element(const std::vector<float> &values, size_t row, size_t column, size_t tile = 0) {
  return values[tile * 1024 + (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16];
}

std::vector<float> randoms(size_t n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float &value : values)
    value = uniform(random);
  return values;
}

} // namespace

TEST(MetalKernel, MovesData) {
  // Two cores; each reads the tile of the other, from the last argument's buffer to the first's.
  KernelProgram program(dataKernel(R"(
  const uint32_t from = get_arg_val<uint32_t>(0), to = get_arg_val<uint32_t>(1);
  const uint32_t other = 1 - get_absolute_logical_x();
  noc_async_read(get_noc_addr(other, my_y[0], from), to, 2048);
  noc_async_read_barrier();
  noc_async_write(from + 2048, get_noc_addr(my_x[0], my_y[0], to + 2048), 2048);
  noc_async_write_barrier();
)"),
                        false, 2, 1, {}, true, 2);
  std::vector<float> values(2048);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  const auto found = program.run(values);
  for (size_t row = 0; row < 32; ++row)
    for (size_t column = 0; column < 64; ++column)
      EXPECT_EQ(found[row * 64 + column], row < 16 ? values[row * 64 + (column + 32) % 64] : values[row * 64 + column]);
}

TEST(MetalKernel, PacksInOrderAndOutOfOrder) {
  KernelProgram program(computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  copy_tile_init(in);
  cb_wait_front(in, 4);
  cb_reserve_back(out, 4);
  tile_regs_acquire();
  for (uint32_t i = 0; i < 4; ++i)
    copy_tile(in, i, i);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile<true>(0, out, 3);
  pack_tile(1, out);
  pack_tile(2, out);
  pack_tile<true>(3, out, 2);
  tile_regs_release();
  cb_push_back(out, 4);
)"),
                        true, 2, 4, {filled(0, 4), drained(1, 4)});
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  // Shards lie in memory as they do on the host, so a page is 1024 values that follow one another.
  const auto found = program.run(values);
  const size_t from[] = {1, 2, 3, 0};
  for (size_t i = 0; i < 4096; ++i)
    EXPECT_EQ(found[i], values[from[i / 1024] * 1024 + i % 1024]) << i;
}

TEST(MetalKernel, LeavesZerosInPagesThatItDoesNotWrite) {
  // The cores write one page, each another one, and take the others from the circular buffer as they are.
  const std::string source = computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  cb_wait_front(in, 4);
  cb_reserve_back(out, 4);
  const uint32_t page = get_absolute_logical_x();
  tile_regs_acquire();
  copy_tile(in, page, 0);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile<true>(0, out, page);
  tile_regs_release();
  cb_push_back(out, 4);
  cb_wait_front(out, 4);
  tile_regs_acquire();
  for (uint32_t i = 0; i < 4; ++i)
    copy_tile(out, i, i);
  tile_regs_commit();
  tile_regs_wait();
  cb_pop_front(out, 4);
  cb_reserve_back(out, 4);
  for (uint32_t i = 1; i < 4; ++i)
    pack_tile<true>(i, out, i);
  tile_regs_release();
  cb_push_back(out, 4);
  cb_pop_front(in, 4);
)");
  KernelProgram program(source, true, 2, 4, {filled(0, 4)}, true, 4);
  // Parts of cores lie side by side: a row of the host has 128 elements of each of four cores, and a page eight rows.
  const auto binary = program.builder.load({program.result});
  std::vector<float> values(4 * 4096);
  for (int run = 0; run < 3; ++run) { // memory of earlier runs is used again
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i + 1 + static_cast<size_t>(run));
    const auto found = floats(runMetal(binary, {tensor(values, program.result.shape)}));
    for (size_t row = 0; row < 32; ++row)
      for (size_t column = 0; column < 512; ++column)
        ASSERT_EQ(found[row * 512 + column], row / 8 == column / 128 ? values[row * 512 + column] : 0)
            << run << " " << row << " " << column;
  }
}

TEST(MetalKernel, ComputesOnWhatItHasCopied) {
  // The page from which a tile was copied is given back and written again before the op.
  const std::string source = computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  cb_reserve_back(out, 1);
  tile_regs_acquire();
  cb_wait_front(in, 1);
  copy_tile(in, 0, 0);
  cb_pop_front(in, 1);
  cb_wait_front(in, 1);
  copy_tile(in, 0, 1);
  cb_pop_front(in, 1);
  cb_wait_front(in, 1);
  sub_binary_tile(0, 1, 0);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, out);
  tile_regs_release();
  cb_push_back(out, 1);
  cb_pop_front(in, 1);
)");
  // The buffer's own words are 1, then 2, then 3.
  const std::string writer = dataKernel(R"(
  for (uint32_t round = 1; round < 4; ++round) {
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < 1024; ++i)
      noc_inline_dw_write(get_noc_addr(get_write_ptr(0) + 4 * i), round == 1 ? 0x3f800000 : round == 2 ? 0x40000000 : 0);
    cb_push_back(0, 1);
  }
)");
  KernelProgram program(source, true, 2, 1, {{"w", writer, false, false, false, {0, 1}, {}, {0, 1}}, drained(1, 1)});
  EXPECT_EQ(program.run(std::vector<float>(1024, 5)), std::vector<float>(1024, -1));
}

TEST(MetalKernel, RunsAloneAsWithOthers) {
  // Two programs follow one another: cores that stay alone run both in one go, those of which one only names a function
  // that reaches others run in step. A recorded run is always in step.
  const std::string body = R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  for (uint32_t i = 0; i < 2; ++i) {
    cb_wait_front(in, 1);
    cb_reserve_back(out, 1);
    tile_regs_acquire();
    copy_tile(in, 0, 0);
    exp_tile(0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
    cb_push_back(out, 1);
    cb_pop_front(in, 1);
  }
)";
  std::vector<std::vector<float>> results;
  for (const char *more :
       {"", "  noc_async_read_barrier();\n", "/*\n#include \"dataflow_api.h\" */ noc_async_read_barrier();\n"}) {
    MetalBuilder builder;
    builder.gridColumns = 3;
    const Shape shape = {32, 3 * 64};
    const auto input = builder.input(shape);
    const MetalBuffer a = builder.device(shape, DataType::Float32, false),
                      b = builder.device(shape, DataType::Float32, false),
                      c = builder.device(shape, DataType::Float32, false);
    builder.write(input, a);
    const auto kernels = [&](const std::string &text) {
      return std::vector<MetalBuilder::Kernel>{
          {"k", computeKernel(text), true, true, false, {0, 1}, {}, {0, 1}}, filled(0, 2), drained(1, 2)};
    };
    builder.program({a, b}, kernels(body));
    builder.program({b, c}, kernels(body + more));
    const MetalBuffer result = builder.alloc(shape);
    builder.read(c, result);
    const auto binary = builder.load({result});
    const auto x = tensor(randoms(static_cast<size_t>(volume(shape))), shape);
    results.push_back(floats(runMetal(binary, {x})));
    results.push_back(floats(runMetal(binary, {x})));
  }
  for (const auto &each : results)
    EXPECT_EQ(each, results.front());
  EXPECT_NEAR(results.front()[0], std::exp(std::exp(randoms(1)[0])), 1e-4);
}

TEST(MetalKernel, MultipliesMatricesOverAnInnerLoop) {
  // [32, 96] x [96, 32]: three tiles of each in the first two thirds of port 0.
  const std::string source = computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  mm_init(in, in, out);
  cb_wait_front(in, 6);
  cb_reserve_back(out, 2);
  tile_regs_acquire();
  for (uint32_t k = 0; k < 3; ++k) {
    matmul_tiles(in, in, k, 3 + k, 0);
    matmul_tiles(in, in, k, 3 + k, 1, 1);
  }
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, out);
  pack_tile(1, out);
  tile_regs_release();
  cb_push_back(out, 2);
)");
  for (bool f32 : {true, false}) {
    KernelProgram program(source, true, 2, 6, {filled(0, 6), drained(1, 2)}, f32);
    const auto values = randoms(6144);
    const auto found = program.run(values);
    for (size_t row = 0; row < 32; ++row)
      for (size_t column = 0; column < 32; ++column) {
        double sum = 0, transposed = 0;
        for (size_t k = 0; k < 96; ++k) {
          sum += double(element(values, row, k % 32, k / 32)) * element(values, k % 32, column, 3 + k / 32);
          transposed += double(element(values, row, k % 32, k / 32)) * element(values, column, k % 32, 3 + k / 32);
        }
        EXPECT_NEAR(element(found, row, column), sum, f32 ? 1e-5 : 0.05);
        EXPECT_NEAR(element(found, row, column, 1), transposed, f32 ? 1e-5 : 0.05);
      }
  }
}

TEST(MetalKernel, MultipliesBlocksAndAddsThemInL1) {
  // Two tiles of a row, two of a column: once step by step, once as a block, and once more as a block on top of it.
  KernelProgram program(computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  cb_wait_front(in, 4);
  cb_reserve_back(out, 4);
  mm_block_init(in, in, out, 0, 1, 1, 2);
  for (uint32_t run = 0; run < 4; ++run) {
    pack_reconfig_l1_acc(run == 3);
    tile_regs_acquire();
    if (run == 0) {
      matmul_tiles(in, in, 0, 2, 0);
      matmul_tiles(in, in, 1, 3, 0);
    } else if (run == 2) {
      matmul_block(in, in, 0, 2, 0, false, 1, 1, 2);
      matmul_block(in, in, 1, 3, 0, false, 1, 1, 2);
    } else {
      experimental::matmul_block(in, in, 0, 2, 0, 0, 1, 1, 2, 1);
    }
    tile_regs_commit();
    tile_regs_wait();
    pack_tile<true>(0, out, run == 3 ? 1 : run);
    tile_regs_release();
  }
  cb_push_back(out, 4);
)"),
                        true, 2, 4, {filled(0, 4), drained(1, 4)});
  const auto found = program.run(randoms(4096));
  for (size_t i = 0; i < 1024; ++i) {
    EXPECT_EQ(found[1024 + i], 2 * found[i]);
    EXPECT_EQ(found[2048 + i], found[i]);
  }
}

TEST(MetalKernel, AddsTilesOfCircularBuffers) {
  KernelProgram program(computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  binary_op_init_common(in, in, out);
  cb_wait_front(in, 2);
  cb_reserve_back(out, 2);
  tile_regs_acquire();
  sub_tiles_init(in, in);
  sub_tiles(in, in, 0, 1, 0);
  mul_tiles_init(in, in);
  mul_tiles(in, in, 0, 1, 1);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, out);
  pack_tile(1, out);
  tile_regs_release();
  cb_push_back(out, 2);
)"),
                        true, 2, 2, {filled(0, 2), drained(1, 2)});
  const auto values = randoms(2048), found = program.run(values);
  for (size_t i = 0; i < 1024; ++i) {
    EXPECT_EQ(found[i], values[i] - values[1024 + i]);
    EXPECT_EQ(found[1024 + i], values[i] * values[1024 + i]);
  }
}

TEST(MetalKernel, ReducesTransposesAndBroadcasts) {
  KernelProgram program(computeKernel(R"(
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  cb_wait_front(in, 8);
  cb_reserve_back(out, 8);
  // The scaler's tile is the second one.
  reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, in, out);
  transpose_wh_init(in, out);
  unary_bcast_init<BroadcastType::ROW>(in, out);
  for (uint32_t half = 0; half < 2; ++half) {
    tile_regs_acquire();
    if (half == 0) {
      reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, in, 0, 1, 0);
      reduce_tile<PoolType::MAX, ReduceDim::REDUCE_COL>(in, in, 0, 1, 1);
      reduce_tile<PoolType::SUM, ReduceDim::REDUCE_SCALAR>(in, in, 0, 1, 2);
      transpose_wh_tile(in, 0, 3);
    } else {
      unary_bcast<BroadcastType::ROW>(in, 0, 0);
      unary_bcast<BroadcastType::COL>(in, 0, 1);
      unary_bcast<BroadcastType::SCALAR>(in, 0, 2);
      reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(in, in, 0, 1, 3);
      reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(in, in, 2, 1, 3);
    }
    tile_regs_commit();
    tile_regs_wait();
    for (uint32_t i = 0; i < 4; ++i)
      pack_tile(i, out);
    tile_regs_release();
  }
  reduce_uninit();
  cb_push_back(out, 8);
)"),
                        true, 2, 8, {filled(0, 8), drained(1, 8)});
  auto values = randoms(8192);
  values[1024] = 0.5f;
  const auto found = program.run(values);
  double total = 0;
  for (size_t r = 0; r < 32; ++r) {
    double row = 0;
    float column = -2, most = -2;
    for (size_t c = 0; c < 32; ++c) {
      row += element(values, r, c);
      column = std::max(column, element(values, c, r));
      most = std::max({most, element(values, r, c), element(values, r, c, 2)});
      EXPECT_EQ(element(found, r, c, 3), element(values, c, r));
      EXPECT_EQ(element(found, r, c, 4), element(values, 0, c));
      EXPECT_EQ(element(found, r, c, 5), element(values, r, 0));
      EXPECT_EQ(element(found, r, c, 6), element(values, 0, 0));
      if (c) {
        EXPECT_EQ(element(found, r, c, 0), 0);
        EXPECT_EQ(element(found, c, r, 1), 0);
      }
    }
    total += row;
    EXPECT_NEAR(element(found, r, 0, 0), row / 2, 1e-5);
    EXPECT_EQ(element(found, 0, r, 1), column / 2);
    EXPECT_EQ(element(found, r, 0, 7), most / 2);
  }
  EXPECT_NEAR(element(found, 0, 0, 2), total / 2, 1e-4);
}

TEST(MetalKernel, TellsWhoWaits) {
  KernelProgram program(computeKernel("  cb_wait_front(0, 2);\n"), true, 2, 2,
                        {{"half", dataKernel("  cb_reserve_back(0, 1);\n  cb_push_back(0, 1);\n"), false},
                         {"full",
                          dataKernel("  for (int i = 0; i < 3; ++i) {\n    cb_reserve_back(1, 1);\n"
                                     "    cb_push_back(1, 1);\n  }\n"),
                          false}},
                        true, 2);
  EXPECT_EQ(program.error(),
            "program \"main\": deadlock, every kernel that has not ended waits:\n"
            "  kernel k on core (y=0, x=0), line 5: cb_wait_front of port 0 waits for 2 pages, 1 of 2 are there\n"
            "  kernel full on core (y=0, x=0), line 4: cb_reserve_back of port 1 waits for 1 page, 0 of 2 are free\n"
            "  kernel k on core (y=0, x=1), line 5: cb_wait_front of port 0 waits for 2 pages, 1 of 2 are there\n"
            "  kernel full on core (y=0, x=1), line 4: cb_reserve_back of port 1 waits for 1 page, 0 of 2 are free");
}

namespace {
/// The first of four cores sends its tile to all, once the others are ready.
const std::string multicast = dataKernel(R"(
  const uint32_t from = get_arg_val<uint32_t>(0), to = get_common_arg_val<uint32_t>(1);
  const uint32_t ready = get_semaphore(0), done = get_semaphore(1);
  if (get_absolute_logical_x() == 0) {
    noc_semaphore_wait(ready, 3);
    noc_semaphore_set(ready, 0);
    noc_async_write_multicast(from, get_noc_multicast_addr(0, 0, 3, 0, to), 4096, 3);
    noc_async_write(from, get_noc_addr(to), 4096);
    noc_async_write_barrier();
    noc_semaphore_set(done, 1);
    noc_semaphore_set_multicast(done, get_noc_multicast_addr(0, 0, 3, 0, done), 3);
  } else {
    noc_semaphore_inc(get_noc_addr(0, 0, ready), 1);
    noc_semaphore_wait_min(done, 1);
  }
)");
} // namespace

TEST(MetalKernel, SendsToManyCoresWithSemaphores) {
  KernelProgram program(multicast, false, 2, 1, {}, true, 4);
  const auto values = randoms(4096);
  setThreads(1);
  const auto one = KernelProgram(multicast, false, 2, 1, {}, true, 4).run(values);
  setThreads(4);
  const auto found = program.run(values);
  setThreads(0);
  EXPECT_EQ(found, one);
  for (size_t row = 0; row < 32; ++row)
    for (size_t column = 0; column < 128; ++column)
      EXPECT_EQ(found[row * 128 + column], values[row * 128 + column % 32]);
}

TEST(MetalKernel, TellsWhichSemaphoreIsWaitedFor) {
  KernelProgram program(dataKernel("  noc_semaphore_wait(get_semaphore(2), 5);\n"), false, 2, 1,
                        {{"other",
                          dataKernel("  noc_semaphore_set(get_semaphore(3), 1);\n"
                                     "  noc_semaphore_wait_min(get_semaphore(3), 2);\n"),
                          false}});
  EXPECT_EQ(program.error(),
            "program \"main\": deadlock, every kernel that has not ended waits:\n"
            "  kernel k on core (y=0, x=0), line 3: noc_semaphore_wait waits until semaphore 2 is 5; it is 0\n"
            "  kernel other on core (y=0, x=0), line 4: noc_semaphore_wait_min waits until semaphore 3 is 2 or more; "
            "it is 1");
}

TEST(MetalKernel, ChecksMulticastsAndSemaphores) {
  const auto error = [](const std::string &body) {
    return KernelProgram(
               dataKernel("  const uint32_t from = get_arg_val<uint32_t>(0), to = get_arg_val<uint32_t>(1);\n" + body),
               false, 2, 1, {}, true, 4)
        .error();
  };
  EXPECT_TEXT(
      error("  noc_async_write_multicast(from, get_noc_multicast_addr(0, 0, 3, 0, to), 64, 4);\n"),
      "kernel k on core (y=0, x=0): noc_async_write_multicast: waits for 4 receivers; the rectangle has 3 besides "
      "the sender");
  EXPECT_TEXT(error("  noc_async_write_multicast(from, get_noc_multicast_addr(3, 0, 0, 0, to), 64, 3);\n"),
              "the rectangle from (y=0, x=3) to (y=0, x=0) has no cores");
  EXPECT_TEXT(
      error("  noc_async_write_multicast_loopback_src(from, get_noc_multicast_addr(0, 0, 9, 0, to), 64, 10);\n"),
      "the NOC address is of core (y=0, x=8); the grid has");
  EXPECT_TEXT(error("  noc_async_write(from, get_noc_multicast_addr(0, 1, 3, 1, to), 64);\n"),
              "the NOC address is of a rectangle of cores; expected one core");
  EXPECT_TEXT(error("  noc_semaphore_set(from, 1);\n"), "noc_semaphore_set: there is no semaphore at address");
  EXPECT_TEXT(error("  get_semaphore(16);\n"), "get_semaphore: there is no semaphore 16; there are 16");
}

TEST(MetalKernel, FindsRacesOnCircularBuffers) {
  const std::string body = "  cb_reserve_back(0, 1);\n  cb_push_back(0, 1);\n"
                           "  noc_async_read(get_noc_addr(get_arg_val<uint32_t>(1)), get_arg_val<uint32_t>(0), 64);\n";
  EXPECT_TEXT(
      KernelProgram(dataKernel(body), false).error(),
      "noc_async_read: a race: it writes page 0 of port 0 of core (y=0, x=0), which was pushed and is not popped "
      "yet");
}

TEST(MetalKernel, ChecksCircularBuffers) {
  const auto error = [](const std::string &body) { return KernelProgram(dataKernel(body), false).error(); };
  EXPECT_TEXT(error("  cb_wait_front(7, 1);\n"), "program \"main\": kernel k on core (y=0, x=0): cb_wait_front: port 7 "
                                                 "is no circular buffer of this core; there are 0, 1");
  EXPECT_TEXT(error("  get_tile_size(99);\n"), "get_tile_size: port 99 is no circular buffer");
  EXPECT_TEXT(error("  cb_wait_front(0, 3);\n"), "cb_wait_front: waits for 3 pages of port 0, which has 2");
  EXPECT_TEXT(error("  cb_reserve_back(0, 3);\n"), "cb_reserve_back: reserves 3 pages of port 0, which has 2");
  EXPECT_TEXT(error("  cb_push_back(0, 1);\n"),
              "cb_push_back: pushes 1 page to port 0, of which cb_reserve_back has reserved 0");
  EXPECT_TEXT(error("  cb_reserve_back(0, 2);\n  cb_push_back(0, 2);\n  cb_wait_front(0, 1);\n  cb_pop_front(0, 2);\n"),
              "cb_pop_front: pops 2 pages of port 0, of which cb_wait_front has waited for 1");
  EXPECT_TEXT(error("  get_arg_val<uint32_t>(2);\n"), "get_arg_val: there is no argument 2; the kernel has 2");
  EXPECT_TEXT(error("  volatile uint32_t i = 2;\n  get_compile_time_arg_val(i);\n"),
              "get_compile_time_arg_val: there is no argument 2; the kernel has 2");
  EXPECT_TEXT(error("  copy_tile(0, 0, 0);\n"), "copy_tile: is for compute kernels; this one moves data");
  EXPECT_TEXT(error("  exp_tile_init();\n"), "exp_tile_init: is for compute kernels; this one moves data");
}

TEST(MetalKernel, RingsOfSmallPagesTakeLittleMemory) {
  const auto run = [](int32_t side, uint32_t rings) {
    MetalBuilder builder;
    builder.gridRows = builder.gridColumns = side;
    // 1.3 MB on each core in pages of 16 bytes, which all rings share.
    MetalBuffer buffer = builder.describe({320 * side, 1024 * side}, DataType::Float32, false);
    buffer.pages = static_cast<uint32_t>(buffer.shardBytes() / 16);
    buffer.pageBytes = 16;
    builder.create(buffer);
    const auto result = builder.alloc(buffer.shape);
    builder.read(buffer, result);
    // Groups of pages that do not divide the ring, over its end and again.
    builder.program(std::vector(rings, buffer),
                    {{"k",
                      dataKernel("  noc_async_write_barrier();\n" // cores run together
                                 "  for (int i = 0; i < 7; ++i) {\n"
                                 "    cb_reserve_back(1, 30000);\n    cb_push_back(1, 29999);\n"
                                 "    cb_push_back(1, 1);\n    cb_wait_front(1, 30000);\n"
                                 "    cb_pop_front(1, 1);\n    cb_pop_front(1, 29999);\n  }\n"),
                      false}});
    runMetal(builder.load({result}), {});
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; // KiB
  };
  const long before = run(1, 2);
  EXPECT_LT(run(8, 32) - before, 1 << 20);
}

TEST(MetalKernel, ChecksAddresses) {
  const auto error = [](const std::string &body) { return KernelProgram(dataKernel(body), false).error(); };
  EXPECT_TEXT(error("  noc_async_read(get_noc_addr(0, 0, 103712), 512, 64);\n"),
              "kernel k on core (y=0, x=0): noc_async_read: 64 bytes at address 512 of core (y=0, x=0) are not in its "
              "L1, from 103712 to 1499136");
  EXPECT_TEXT(error("  noc_async_write(103712, get_noc_addr(3, 2, 1499072), 128);\n"),
              "noc_async_write: 128 bytes at address 1499072 of core (y=2, x=3) are not in its L1");
  EXPECT_TEXT(error("  noc_async_write(103712, get_noc_addr(9, 2, 103712), 128);\n"),
              "is of core (y=2, x=9); the grid has 8x8 cores");
}

TEST(MetalKernel, ChecksRegisters) {
  const auto error = [](const std::string &body, bool f32Dst = true) {
    return KernelProgram(computeKernel("  cb_wait_front(0, 1);\n  cb_reserve_back(1, 1);\n" + body), true, 2, 2,
                         {filled(0, 2)}, f32Dst)
        .error();
  };
  EXPECT_TEXT(error("  copy_tile(0, 0, 0);\n"),
              "kernel k on core (y=0, x=0): copy_tile: the registers are not there to compute on: tile_regs_acquire");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  tile_regs_commit();\n  sigmoid_tile(0);\n"),
              "sigmoid_tile: the registers are not there to compute on");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  pack_tile(0, 1);\n"),
              "pack_tile: the registers are not there to be packed: tile_regs_wait comes before");
  EXPECT_TEXT(error("  tile_regs_commit();\n"), "tile_regs_commit: does not follow a tile_regs_acquire");
  EXPECT_TEXT(error("  tile_regs_wait();\n"), "tile_regs_wait: does not follow a tile_regs_commit");
  EXPECT_TEXT(error("  tile_regs_release();\n"), "tile_regs_release: does not follow a tile_regs_wait");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  tile_regs_acquire();\n"), "tile_regs_acquire: the registers are in use");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  tilize_block(0, 1, 1);\n"), "tilize_block: goes through the registers");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  copy_tile(0, 0, 4);\n"),
              "copy_tile: there is no register tile 4; there are 4 of 32 bits");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  fill_tile(8, 1);\n", false),
              "fill_tile: there is no register tile 8; there are 8");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  copy_tile(0, 1, 0);\n"),
              "copy_tile: tile 1 of port 0 is not there: cb_wait_front has waited for 1 page");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  tile_regs_commit();\n  tile_regs_wait();\n  pack_tile(0, 1);\n"
                    "  pack_tile(0, 1);\n"),
              "pack_tile: there is no room for tile 1 in port 1: cb_reserve_back has reserved 1 page");
  EXPECT_TEXT(error("  tilize_block(0, 2, 1);\n"),
              "tilize_block: reads 8192 bytes of port 0, but cb_wait_front has waited for 1 page of 4096");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  bitwise_not_tile(0);\n"),
              "bitwise_not_tile: takes integers, and a register tile holds floats");
  EXPECT_TEXT(error("  tile_regs_acquire();\n  typecast_tile<0, 1>(0);\n"),
              "typecast_tile: data type 1 is not one of registers");
  // Page 1 of 2 is first, so two pages do not lie in one piece.
  EXPECT_TEXT(error("  cb_push_back(1, 1);\n  cb_wait_front(1, 1);\n  cb_pop_front(1, 1);\n  cb_reserve_back(1, 1);\n"
                    "  cb_push_back(1, 1);\n  cb_reserve_back(1, 1);\n  cb_push_back(1, 1);\n  cb_wait_front(1, 2);\n"
                    "  tile_regs_acquire();\n  copy_tile(1, 1, 0);\n"),
              "copy_tile: page 1 of port 1 lies behind the end of its ring: the first is page 1 of 2");
}

TEST(MetalKernel, TellsTheFirstErrorOfAllCores) {
  KernelProgram program(dataKernel("  if (get_absolute_logical_x() > 0)\n    cb_push_back(0, 1);\n"), false, 2, 1, {},
                        true, 4);
  EXPECT_TEXT(program.error(), "kernel k on core (y=0, x=1): cb_push_back");
}

TEST(MetalKernel, TellsWhatDoesNotCompile) {
  const auto error = [](const std::string &source) {
    return KernelProgram(source, false, 2, 2, {filled(0, 2), drained(1, 2)}).error(true);
  };
  const std::string wrong = error(dataKernel("  int x = ;\n"));
  EXPECT_TEXT(wrong, "flatbuffer: kernel \"k\" does not compile (");
  EXPECT_TEXT(wrong, "k:3:11: error: ");
  EXPECT_TEXT(error("void other() {}\n"), "kernel \"k\" does not compile");
  EXPECT_TEXT(error(dataKernel("  static_assert(get_compile_time_arg_val(5) == 1);\n")), "kernel \"k\" does not");
  EXPECT_TEXT(error("#include \"no_such_header.h\"\nvoid kernel_main() {}\n"), "no_such_header.h");
}

TEST(MetalKernel, KernelsDoNotSeeEachOther) {
  // The same names, the same macros, headers of the language, and both forms of an entry.
  const std::string first = "#include <algorithm>\n#define TILES 2\nstatic int helper() { return TILES; }\n" +
                            dataKernel("  cb_reserve_back(0, std::max(helper(), 1));\n  cb_push_back(0, TILES);\n");
  const std::string second = "#define TILES 1\nstatic int helper() { return TILES; }\n" +
                             computeKernel("  cb_wait_front(0, helper() + TILES);\n  cb_pop_front(0, 2);\n");
  KernelProgram program(first, false, 2, 2, {{"k", second, true}});
  EXPECT_EQ(program.run(std::vector<float>(2048, 1)), std::vector<float>(2048, 0));
}

TEST(MetalKernel, BeginsWithMainOrKernelMain) {
  const std::string body = "cb_reserve_back(0, 2);\n  cb_push_back(0, 2);\n";
  const std::string forms[] = {
      "void kernel_main() {\n  " + body + "}\n",
      "void MAIN {\n  " + body + "}\n",
      "namespace NAMESPACE {\nvoid kernel_main() {\n  " + body + "}\n}\n",
      "namespace NAMESPACE {\nvoid kernel_main() {\n  size_t pages = 2;\n  " + body +
          "}\nvoid MAIN { kernel_main(); }\n}\n",
  };
  for (const std::string &source : forms)
    EXPECT_EQ(KernelProgram(source, false, 2, 2, {drained(0, 2)}).run(std::vector<float>(2048, 1)),
              std::vector<float>(2048, 0))
        << source;
  EXPECT_TEXT(KernelProgram("void other() {}\n", false).error(true), "kernel_main");
}
