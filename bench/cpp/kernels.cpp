//===- kernels.cpp - kernels beside bare oneDNN -------------------------------===//
//
// Times the op library's kernels and, in the same run, the same work given to
// oneDNN directly with weights already in its order; prints both and the ratio.
//
//===----------------------------------------------------------------------===//

#include "tt/parallel.h"
#include "tt/ttnn/kernel.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

using namespace tt;
using namespace tt::ttnn;
using dnnl::memory;

namespace {

/// Memory aligned as the executor's.
struct Bytes {
  explicit Bytes(size_t size) : data(static_cast<std::byte *>(std::aligned_alloc(64, (size + 127) / 64 * 64))) {}
  ~Bytes() { std::free(data); }
  Bytes(const Bytes &) = delete;
  std::byte *data;
};

void fill(Bytes &bytes, const TensorSpec &spec) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  const auto n = static_cast<size_t>(volume(spec.shape));
  for (size_t i = 0; i < n; ++i) {
    const float v = draw(generator);
    if (spec.dtype == DataType::Float32) {
      std::memcpy(bytes.data + i * 4, &v, 4);
    } else {
      uint32_t bits;
      std::memcpy(&bits, &v, 4);
      const auto high = static_cast<uint16_t>(bits >> 16);
      std::memcpy(bytes.data + i * 2, &high, 2);
    }
  }
}

/// Nanoseconds of the fastest of several rounds of about 50 ms.
double time(const std::function<void()> &f) {
  using Clock = std::chrono::steady_clock;
  f();
  double best = 1e300;
  for (int round = 0; round < 7; ++round) {
    int count = 0;
    const auto begin = Clock::now();
    double elapsed;
    do {
      f();
      ++count;
      elapsed = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    } while (elapsed < 5e7);
    best = std::min(best, elapsed / count);
  }
  return best;
}

TensorSpec spec(DataType type, Shape shape) { return {type, std::move(shape), Layout::RowMajor, {}, false}; }

/// One op, made and ready to run.
class Op {
public:
  Op(const std::string &name, std::vector<TensorSpec> ins, const TensorSpec &out,
     std::vector<NamedAttribute> attributes, std::vector<bool> constant = {})
      : result(out.bytes()) {
    OpCall call{name, {}, {out}, Attributes(name, std::move(attributes)), {1, 1}, {}};
    for (size_t i = 0; i < ins.size(); ++i) {
      call.ins.emplace_back(ins[i]);
      storage.push_back(std::make_unique<Bytes>(ins[i].bytes()));
      fill(*storage.back(), ins[i]);
      pointers.push_back(storage.back()->data);
      call.constantIns.push_back(i < constant.size() && constant[i] ? pointers.back() : nullptr);
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

private:
  Bytes result;
  std::vector<std::unique_ptr<Bytes>> storage;
  std::vector<const std::byte *> pointers;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Bytes> scratch;
};

memory::data_type library(DataType type) {
  return type == DataType::Float32 ? memory::data_type::f32 : memory::data_type::bf16;
}

/// Random values in a library tensor of any order: zeros would run faster than values do.
void randomise(const memory &values) {
  const bool f32 = values.get_desc().data_type() == memory::data_type::f32;
  const TensorSpec flat = spec(f32 ? DataType::Float32 : DataType::BFloat16,
                               {static_cast<int64_t>(values.get_desc().get_size() / (f32 ? 4 : 2))});
  Bytes bytes(flat.bytes());
  fill(bytes, flat);
  std::memcpy(values.get_data_handle(), bytes.data, flat.bytes());
}

void report(const char *name, const char *unit, double amount, double ours, double bare) {
  std::printf("%-34s %9.1f %9.1f %s   x%.2f\n", name, amount / ours, amount / bare, unit, bare / ours);
}

void matmul(DataType type, int64_t m, int64_t n, int64_t k, bool constant) {
  Op op("ttnn.matmul", {spec(type, {m, k}), spec(type, {k, n})}, spec(type, {m, n}), {}, {false, constant});
  const double ours = time([&] { op.run(); });

  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc a({m, k}, library(type), memory::format_tag::ab), c({m, n}, library(type), memory::format_tag::ab);
  const memory::desc b({k, n}, library(type), constant ? memory::format_tag::any : memory::format_tag::ab);
  const dnnl::matmul::primitive_desc plan({a, b, c}, engine);
  const dnnl::matmul product(plan);
  memory x(a, engine), w(plan.weights_desc(), engine), y(c, engine);
  randomise(x);
  randomise(w);
  const double bare = time([&] {
    product.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    stream.wait();
  });
  char name[64];
  std::snprintf(name, sizeof name, "matmul %ldx%ldx%ld %s%s", m, n, k, type == DataType::Float32 ? "f32" : "bf16",
                constant ? " constant" : "");
  report(name, "GFLOP/s", 2.0 * double(m) * double(n) * double(k), ours, bare);
}

void convolution(DataType type, int64_t batch) {
  const int64_t c = 64, size = 56;
  auto integers = [](std::vector<int64_t> v) { return Attribute{std::move(v)}; };
  Op op("ttnn.conv2d", {spec(type, {1, 1, batch * size * size, c}), spec(type, {c, c, 3, 3})},
        spec(type, {1, 1, batch * size * size, c}),
        {{"in_channels", {c}},
         {"out_channels", {c}},
         {"batch_size", {batch}},
         {"input_height", {size}},
         {"input_width", {size}},
         {"kernel_size", integers({3, 3})},
         {"stride", integers({1, 1})},
         {"padding", integers({1, 1})},
         {"dilation", integers({1, 1})},
         {"groups", {int64_t(1)}}},
        {false, true});
  const double ours = time([&] { op.run(); });

  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc source({batch, c, size, size}, library(type), memory::format_tag::any);
  const memory::desc weights({c, c, 3, 3}, library(type), memory::format_tag::any);
  const dnnl::convolution_forward::primitive_desc plan({dnnl::prop_kind::forward_inference,
                                                        dnnl::algorithm::convolution_direct,
                                                        source,
                                                        weights,
                                                        source,
                                                        {1, 1},
                                                        {1, 1},
                                                        {1, 1}},
                                                       engine);
  const dnnl::convolution_forward primitive(plan);
  memory x(plan.src_desc(), engine), w(plan.weights_desc(), engine), y(plan.dst_desc(), engine);
  randomise(x);
  randomise(w);
  const double bare = time([&] {
    primitive.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    stream.wait();
  });
  char name[64];
  std::snprintf(name, sizeof name, "conv 3x3 64->64 56x56 batch %ld %s", batch,
                type == DataType::Float32 ? "f32" : "bf16");
  report(name, "GFLOP/s", 2.0 * double(batch * size * size * c * c * 9), ours, bare);
}

/// Against a plain copy of as many bytes by both threads.
void elementwise(const char *op, DataType type, int64_t n) {
  const OpInfo *info = findOp(op);
  std::vector<TensorSpec> ins(static_cast<size_t>(info->minIns), spec(type, {n}));
  Op kernel(op, ins, spec(type, {n}), {});
  const double bytes = double(ins.size() + 1) * double(ins[0].bytes());
  const double ours = time([&] { kernel.run(); });
  Bytes from(static_cast<size_t>(bytes / 2)), to(static_cast<size_t>(bytes / 2));
  std::memset(from.data, 1, static_cast<size_t>(bytes / 2));
  const double bare = time([&] {
    parallelFor(static_cast<int64_t>(bytes / 2), 4096,
                [&](int64_t b, int64_t e) { std::memcpy(to.data + b, from.data + b, static_cast<size_t>(e - b)); });
  });
  char name[64];
  std::snprintf(name, sizeof name, "%s %ld %s", op, n, type == DataType::Float32 ? "f32" : "bf16");
  report(name, "GB/s   ", bytes, ours, bare);
}

} // namespace

int main() {
  std::printf("%d threads\n%-34s %9s %9s\n", threads(), "", "ours", "bare");
  for (bool constant : {true, false})
    for (DataType type : {DataType::Float32, DataType::BFloat16}) {
      matmul(type, 1024, 1024, 1024, constant);
      matmul(type, 360, 64, 256, constant);
      matmul(type, 1, 1024, 1024, constant);
    }
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (int64_t batch : {1, 8})
      convolution(type, batch);
  std::printf("%-34s %9s %9s\n", "", "ours", "memcpy");
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (int64_t n : {int64_t(1) << 16, int64_t(1) << 24})
      for (const char *op : {"ttnn.add", "ttnn.relu", "ttnn.exp", "ttnn.gelu", "ttnn.tanh"})
        elementwise(op, type, n);
}
