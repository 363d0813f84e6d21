//===- kernels.cpp - kernels compared with bare oneDNN -------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Times the op library's kernels and, in turns with them, the same work given to
// oneDNN directly with its operands already in the order that it likes best.
// Both get the same values, and their results are compared first.
//
//   ttrt-bench-kernels [SECONDS [NAME]]    a line of JSON for each kernel and type
//
//===----------------------------------------------------------------------===//

#include "tt/parallel.h"
#include "tt/ttnn/kernel.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tt;
using namespace tt::ttnn;
using dnnl::memory;
using Work = std::function<void()>;

namespace {

/// Memory aligned as the executor's.
struct Bytes {
  explicit Bytes(size_t size) : data(static_cast<std::byte *>(std::aligned_alloc(64, (size + 127) / 64 * 64))) {}
  ~Bytes() { std::free(data); }
  Bytes(const Bytes &) = delete;
  Bytes &operator=(const Bytes &) = delete;
  std::byte *data;
};

TensorSpec spec(DataType type, Shape shape) { return {type, std::move(shape), Layout::RowMajor, {}, false}; }

void fill(const Bytes &bytes, const TensorSpec &spec) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  const auto n = static_cast<size_t>(volume(spec.shape));
  for (size_t i = 0; i < n; ++i) {
    const float value = draw(generator);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    const auto high = static_cast<uint16_t>(bits >> 16);
    if (spec.dtype == DataType::Float32)
      std::memcpy(bytes.data + i * 4, &value, 4);
    else
      std::memcpy(bytes.data + i * 2, &high, 2);
  }
}

float element(const std::byte *data, DataType type, size_t i) {
  uint32_t bits = 0;
  if (type == DataType::Float32) {
    std::memcpy(&bits, data + i * 4, 4);
  } else {
    uint16_t high;
    std::memcpy(&high, data + i * 2, 2);
    bits = uint32_t(high) << 16;
  }
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// One of our ops, made and ready to run.
class Op {
public:
  Op(const std::string &name, std::vector<TensorSpec> ins, const TensorSpec &out,
     std::vector<NamedAttribute> attributes, std::vector<bool> constant)
      : result(out.bytes()) {
    OpCall call{name, {}, {out}, Attributes(name, std::move(attributes)), {1, 1}, {}};
    for (size_t i = 0; i < ins.size(); ++i) {
      call.ins.emplace_back(ins[i]);
      storage.push_back(std::make_unique<Bytes>(ins[i].bytes()));
      fill(*storage.back(), ins[i]);
      pointers.push_back(storage.back()->data);
      call.constantIns.push_back(constant[i] ? pointers.back() : nullptr);
    }
    const OpInfo *info = findOp(name);
    check(*info, call);
    kernel = info->make(call);
    scratch = std::make_unique<Bytes>(kernel->scratchBytes());
  }
  void run() const {
    std::byte *out = result.data;
    kernel->run({pointers, {&out, 1}, scratch->data});
  }
  std::byte *operand(size_t i) const { return storage[i]->data; }
  const std::byte *output() const { return result.data; }

private:
  Bytes result;
  std::vector<std::unique_ptr<Bytes>> storage;
  std::vector<const std::byte *> pointers;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Bytes> scratch;
};

/// Median milliseconds of each of two functions, in turns for `seconds`. The first call of a block is not counted: it
/// finds the other's data in the caches.
std::pair<double, double> alternate(const Work &ours, const Work &bare, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto elapsed = [](Clock::time_point since) {
    return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
  };
  const Work *sides[] = {&ours, &bare};
  std::vector<double> times[2];
  const auto begin = Clock::now();
  do {
    for (int side = 0; side < 2; ++side) {
      (*sides[side])();
      const auto block = Clock::now();
      do {
        const auto start = Clock::now();
        (*sides[side])();
        times[side].push_back(elapsed(start));
      } while (elapsed(block) < 20);
    }
  } while (elapsed(begin) < seconds * 1e3);
  auto median = [](std::vector<double> &values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  return {median(times[0]), median(times[1])};
}

/// oneDNN with nothing between.
class Bare {
public:
  Bare() : engine(dnnl::engine::kind::cpu, 0), stream(engine) {}

  /// `values`, which are in `plain` order, in the order of `requested`.
  memory in(const memory::desc &plain, const memory::desc &requested, std::byte *values) {
    memory given(plain, engine, values), ordered(requested, engine);
    dnnl::reorder(given, ordered).execute(stream, given, ordered);
    stream.wait();
    return ordered;
  }

  /// Throws unless `values`, brought into `plain` order, are those of `ours`, up to a few roundings.
  void compare(const char *name, memory &values, const memory::desc &plain, const Op &ours, const TensorSpec &result) {
    memory ordered(plain, engine);
    dnnl::reorder(values, ordered).execute(stream, values, ordered);
    stream.wait();
    const auto *bare = static_cast<const std::byte *>(ordered.get_data_handle());
    double error = 0, largest = 0;
    for (size_t i = 0; i < static_cast<size_t>(volume(result.shape)); ++i) {
      const float expected = element(bare, result.dtype, i);
      error = std::max(error, std::fabs(double(expected) - double(element(ours.output(), result.dtype, i))));
      largest = std::max(largest, std::fabs(double(expected)));
    }
    if (!(error <= 0.01 * largest))
      throw std::runtime_error(std::string(name) + ": our result is " + std::to_string(error) +
                               " away from oneDNN's, whose largest value is " + std::to_string(largest));
  }

  dnnl::engine engine;
  dnnl::stream stream;
};

memory::data_type library(DataType type) {
  return type == DataType::Float32 ? memory::data_type::f32 : memory::data_type::bf16;
}

/// Runs both, compares, times, and prints the line.
void report(const char *name, DataType type, double seconds, const Op &ours, const TensorSpec &result, Bare &library,
            const Work &bare, memory &output, const memory::desc &plain) {
  ours.run();
  bare();
  library.compare(name, output, plain, ours, result);
  const auto [oursMs, bareMs] = alternate([&] { ours.run(); }, bare, seconds);
  std::printf("{\"name\": \"%s\", \"dtype\": \"%s\", \"ours_ms\": %.6f, \"peer_ms\": %.6f}\n", name,
              type == DataType::Float32 ? "f32" : "bf16", oursMs, bareMs);
  std::fflush(stdout);
}

/// constant: the second operand is a weight, which both sides may order before the first run.
void matmul(const char *name, double seconds, DataType type, int64_t m, int64_t k, int64_t n, bool constant) {
  const TensorSpec result = spec(type, {m, n});
  const Op ours("ttnn.matmul", {spec(type, {m, k}), spec(type, {k, n})}, result, {}, {false, constant});

  using tag = memory::format_tag;
  Bare bare;
  const memory::desc a({m, k}, library(type), tag::ab), b({k, n}, library(type), tag::ab);
  const memory::desc c({m, n}, library(type), tag::ab);
  const memory::desc weights = constant ? memory::desc({k, n}, library(type), tag::any) : b;
  const dnnl::matmul::primitive_desc plan({a, weights, c}, bare.engine);
  const dnnl::matmul product(plan);
  memory x = bare.in(a, a, ours.operand(0)), w = bare.in(b, plan.weights_desc(), ours.operand(1)), y(c, bare.engine);
  const Work run = [&] {
    product.execute(bare.stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    bare.stream.wait();
  };
  report(name, type, seconds, ours, result, bare, run, y, c);
}

/// A square image and window, padded by half the window; the filters are a constant.
struct Images {
  int64_t in, out, size, kernel = 3, stride = 1, groups = 1;
};

void convolution(const char *name, double seconds, DataType type, const Images &c) {
  auto integers = [](std::vector<int64_t> v) { return Attribute{std::move(v)}; };
  const int64_t pad = c.kernel / 2, resultSize = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  const TensorSpec image = spec(type, {1, 1, c.size * c.size, c.in}),
                   result = spec(type, {1, 1, resultSize * resultSize, c.out});
  const Op ours("ttnn.conv2d", {image, spec(type, {c.out, c.in / c.groups, c.kernel, c.kernel})}, result,
                {{"in_channels", {c.in}},
                 {"out_channels", {c.out}},
                 {"batch_size", {int64_t(1)}},
                 {"input_height", {c.size}},
                 {"input_width", {c.size}},
                 {"kernel_size", integers({c.kernel, c.kernel})},
                 {"stride", integers({c.stride, c.stride})},
                 {"padding", integers({pad, pad})},
                 {"dilation", integers({1, 1})},
                 {"groups", {c.groups}}},
                {false, true});

  using tag = memory::format_tag;
  Bare bare;
  const memory::dims imageDims = {1, c.in, c.size, c.size}, resultDims = {1, c.out, resultSize, resultSize};
  memory::dims filterDims = {c.out / c.groups, c.in / c.groups, c.kernel, c.kernel};
  if (c.groups > 1)
    filterDims.insert(filterDims.begin(), c.groups);
  const memory::desc any(imageDims, library(type), tag::any), plain(imageDims, library(type), tag::nhwc);
  const memory::desc anyResult(resultDims, library(type), tag::any), plainResult(resultDims, library(type), tag::nhwc);
  const memory::desc anyFilters(filterDims, library(type), tag::any),
      filters(filterDims, library(type), c.groups > 1 ? tag::goihw : tag::oihw);
  const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                             any, anyFilters, anyResult, {c.stride, c.stride}, {pad, pad}, {pad, pad});
  const dnnl::convolution_forward::primitive_desc plan(what, bare.engine);
  const dnnl::convolution_forward primitive(plan);
  memory x = bare.in(plain, plan.src_desc(), ours.operand(0));
  memory w = bare.in(filters, plan.weights_desc(), ours.operand(1)), y(plan.dst_desc(), bare.engine);
  const Work run = [&] {
    primitive.execute(bare.stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    bare.stream.wait();
  };
  report(name, type, seconds, ours, result, bare, run, y, plainResult);
}

struct Row {
  const char *name;
  std::function<void(const char *, double, DataType)> run;
};

Row product(const char *name, int64_t m, int64_t k, int64_t n, bool constant) {
  return {name, [=](const char *of, double seconds, DataType type) { matmul(of, seconds, type, m, k, n, constant); }};
}

Row images(const char *name, const Images &c) {
  return {name, [=](const char *of, double seconds, DataType type) { convolution(of, seconds, type, c); }};
}

const Row rows[] = {product("matmul 1024x1024x1024", 1024, 1024, 1024, false),
                    product("matmul 1024x1024x1024, weight", 1024, 1024, 1024, true),
                    product("matmul 128x768x3072, weight", 128, 768, 3072, true),
                    product("matmul 1x4096x4096, weight", 1, 4096, 4096, true),
                    images("conv 3x3 64->64 56x56", {64, 64, 56}),
                    images("conv 3x3 256->256 14x14", {256, 256, 14}),
                    images("conv 3x3 512->512 7x7", {512, 512, 7}),
                    images("conv 1x1 256->64 56x56", {256, 64, 56, 1}),
                    images("conv 1x1 256->512 56x56, stride 2", {256, 512, 56, 1, 2}),
                    images("conv 1x1 24->144 56x56", {24, 144, 56, 1}),
                    images("conv 7x7 3->64 224x224, stride 2", {3, 64, 224, 7, 2}),
                    images("conv 3x3 144 channels apart 56x56", {144, 144, 56, 3, 1, 144})};

} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  const std::string only = argc > 2 ? argv[2] : "";
  if (!(seconds > 0) || argc > 3) {
    std::fprintf(stderr, "usage: ttrt-bench-kernels [SECONDS [NAME]]\n");
    return 2;
  }
  bool found = false;
  try {
    for (const Row &row : rows)
      if (only.empty() || only == row.name) {
        found = true;
        for (DataType type : {DataType::Float32, DataType::BFloat16})
          row.run(row.name, seconds, type);
      }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "ttrt-bench-kernels: %s\n", error.what());
    return 1;
  }
  if (!found) {
    std::fprintf(stderr, "ttrt-bench-kernels: no kernel is named '%s'\n", only.c_str());
    return 1;
  }
  return 0;
}
