//===- Fuzz.cpp - mutated flatbuffers -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Damages flatbuffers in many ways, loads what comes out, and runs what loads. Each ends in success or in one of the
// errors of the runtime; anything else (a crash, a sanitizer report, another exception) fails the test. Kernels run if
// they are those of the undamaged files: kernels are code, and damaged code may do anything. TTMetal files run by
// default and with the arithmetic of the chip.
//
//   ttrt-fuzz [mutations] [seed] [--verbose] [--metal] [FILE...]
//
// Damages the files, or without one the programs below.
//
//===----------------------------------------------------------------------===//

#include "MetalBuilder.h"
#include "tt/sim/host.h"
#include "ttmlir/shapes/Expression.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>

using namespace tt;
using namespace tt::test;

namespace {

using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

Floats ramp(size_t n) {
  Floats values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(i % 17) / 8 - 1;
  return values;
}

/// Dense layers, with a block format and host tensors.
Bytes dense() {
  ProgramBuilder b;
  const auto x = b.input(hostSpec({4, 40}));
  const auto onDevice = b.op("ttnn.to_device", {x}, [] {
    auto spec = deviceSpec({4, 40});
    spec.layout = Layout::RowMajor;
    return spec;
  }());
  const auto tiled = b.op("ttnn.to_layout", {onDevice}, deviceSpec({4, 40}));
  const auto w = b.constant(deviceSpec({40, 33}), ramp(40 * 33));
  const auto bias = b.constant(deviceSpec({33}), ramp(33));
  const auto w8 = b.op("ttnn.typecast", {w}, deviceSpec({40, 33}, DataType::BFP_BFloat8),
                       {b.enumerator("dtype", "ttcore.data_type", "bfp_bf8", 4)});
  const auto y = b.op("ttnn.linear", {tiled, w8, bias}, deviceSpec({4, 33}, DataType::Float32, BufferType::L1),
                      {b.boolean("transpose_a", false), b.boolean("transpose_b", false)});
  b.deallocate(tiled);
  const auto z = b.op("ttnn.relu", {y}, deviceSpec({4, 33}, DataType::BFloat16));
  const auto s = b.op("ttnn.softmax", {z}, deviceSpec({4, 33}, DataType::BFloat16), {b.integer("dimension", 1)});
  return b.finish({b.op("ttnn.from_device", {s},
                        [] {
                          auto spec = hostSpec({4, 33}, DataType::BFloat16);
                          spec.layout = Layout::Tile;
                          return spec;
                        }()),
                   z});
}

/// Two stages of a layer with weights that are prepared once, and a value that both of them give.
Bytes stages() {
  ProgramBuilder b;
  const TensorSpec part = deviceSpec({2, 32}), square = deviceSpec({32, 32});
  const auto w = b.input(square);
  b.endProgram("prepare", {b.op("ttnn.abs", {w}, square)}, true);
  const auto x = b.input(part), v = b.input(square);
  b.endProgram("stage", {b.op("ttnn.matmul", {x, b.cached(0, {v}, square)}, part)}, true);
  const uint32_t ofInput = runtime::StageValue::ofPipeline;
  b.mesh = {2, 3};
  for (const TensorSpec &spec : {deviceSpec({6, 32}), square})
    b.input(spec);
  const std::vector<runtime::StageValue> first = {{ofInput, 0}, {ofInput, 1}}, second = {{0, 0}, {ofInput, 1}};
  b.stages({{1, {1, 1, 0, 0}, first}, {1, {1, 1, 1, 2}, second}}, {{1, 0}, {0, 0}}, 3);
  return b.finish({b.value(deviceSpec({6, 32})), b.value(deviceSpec({6, 32}))});
}

/// Convolution, pooling, reduction.
Bytes image() {
  ProgramBuilder b;
  const auto x = b.input(deviceSpec({1, 1, 64, 3}));
  const auto w = b.constant(hostSpec({5, 3, 3, 3}), ramp(135));
  const auto y = b.op("ttnn.conv2d", {x, w}, deviceSpec({1, 1, 64, 5}),
                      {b.integer("in_channels", 3), b.integer("out_channels", 5), b.integer("batch_size", 1),
                       b.integer("input_height", 8), b.integer("input_width", 8), b.integers("kernel_size", {3, 3}),
                       b.integers("stride", {1, 1}), b.integers("padding", {1, 1}), b.integers("dilation", {1, 1}),
                       b.integer("groups", 1)});
  const auto p = b.op("ttnn.max_pool2d", {y}, deviceSpec({1, 1, 16, 5}),
                      {b.integer("batch_size", 1), b.integer("input_height", 8), b.integer("input_width", 8),
                       b.integer("channels", 5), b.integers("kernel_size", {2, 2}), b.integers("stride", {2, 2}),
                       b.integers("padding", {0, 0}), b.integers("dilation", {1, 1}), b.boolean("ceil_mode", false)});
  const auto m =
      b.op("ttnn.mean", {p}, deviceSpec({1, 1, 5}), {b.boolean("keep_dim", false), b.integers("dim_arg", {2})});
  const auto t = b.op("ttnn.permute", {p}, deviceSpec({1, 1, 5, 16}), {b.integers("permutation", {0, 1, 3, 2})});
  return b.finish({m, b.op("ttnn.reshape", {t}, deviceSpec({5, 16}), {b.integers("shape", {5, 16})})});
}

/// Moving and making data.
Bytes movement() {
  ProgramBuilder b;
  const auto x = b.input(deviceSpec({3, 8}));
  const auto f = b.op("ttnn.full", {}, deviceSpec({2, 8}), {b.integers("shape", {2, 8}), b.real("fill_value", 2.5)});
  const auto c = b.op("ttnn.concat", {x, f}, deviceSpec({5, 8}), {b.integer("dim", 0)});
  const auto s = b.op("ttnn.slice_static", {c}, deviceSpec({2, 4}),
                      {b.integers("begins", {1, 0}), b.integers("ends", {5, 8}), b.integers("step", {2, 2})});
  const auto t = b.op("ttnn.transpose", {s}, deviceSpec({4, 2}), {b.integer("dim0", 0), b.integer("dim1", 1)});
  const auto r = b.op("ttnn.repeat", {t}, deviceSpec({8, 4}), {b.integers("repeat_dims", {2, 2})});
  const auto p = b.op("ttnn.pad", {r}, deviceSpec({9, 6}),
                      {b.integers("padding", {1, 0, 0, 2}), b.real("value", 1), b.boolean("use_multicore", true)});
  const auto g = b.op("ttnn.gt", {p, p}, deviceSpec({9, 6}, DataType::BFloat16));
  const auto w = b.op("ttnn.where", {g, p, p}, deviceSpec({9, 6}));
  return b.finish({w, b.op("ttnn.argmax", {w}, deviceSpec({9}, DataType::UInt32), {b.integer("dim", 1)}),
                   b.op("ttnn.arange", {}, deviceSpec({6}, DataType::Int32),
                        {b.integer("start", 0), b.integer("end", 12), b.integer("step", 2)})});
}

/// Two devices.
Bytes mesh() {
  ProgramBuilder b;
  b.mesh = {1, 2};
  auto local = deviceSpec({4, 8}), whole = deviceSpec({4, 16});
  local.distributed = whole.distributed = true;
  const auto x = b.input(local);
  const auto y = b.op("ttnn.add", {x, x}, local);
  return b.finish(
      {b.op("ttnn.all_gather", {y}, whole, {b.integer("all_gather_dim", 1), b.integer("cluster_axis", 1)})});
}

TensorSpec onEachDevice(Shape shape) {
  TensorSpec spec = deviceSpec(std::move(shape));
  spec.distributed = true;
  return spec;
}

/// Every collective on 2x4 devices, of an operand that they all have alike and of one that is split.
Bytes collectives() {
  ProgramBuilder b;
  b.mesh = {2, 4};
  const auto sum = [&] { return b.enumerator("reduce_type", "ttcore.reduce_type", "sum", 0); };
  const auto axis = [&](int64_t i) { return b.integer("cluster_axis", i); };
  const auto whole = b.input(deviceSpec({8, 16})), split = b.input(onEachDevice({8, 16}));
  std::vector<uint32_t> outputs;
  for (uint32_t x :
       {b.op("ttnn.exp", {whole}, deviceSpec({8, 16})), b.op("ttnn.add", {whole, split}, onEachDevice({8, 16}))}) {
    const auto total = b.op("ttnn.all_reduce", {x}, onEachDevice({8, 16}), {sum(), axis(0)});
    const auto gathered =
        b.op("ttnn.all_gather", {total}, onEachDevice({8, 64}), {b.integer("all_gather_dim", 1), axis(1)});
    const auto part =
        b.op("ttnn.reduce_scatter", {gathered}, onEachDevice({2, 64}), {sum(), b.integer("scatter_dim", 0), axis(1)});
    const auto mine = b.op("ttnn.mesh_partition", {part}, onEachDevice({2, 8}), {b.integer("dim", 1)});
    const auto sent = b.op("ttnn.point_to_point", {x}, onEachDevice({8, 16}),
                           {b.integers("sender_coord", {0, 1}), b.integers("receiver_coord", {1, 3})});
    const auto more = b.op("ttnn.point_to_point", {x, sent}, onEachDevice({8, 16}),
                           {b.integers("sender_coord", {1, 0}), b.integers("receiver_coord", {0, 2})});
    const auto moved = b.op("ttnn.collective_permute", {more}, onEachDevice({8, 16}),
                            {b.integers("source_target_pairs", {0, 1, 1, 0, 6, 3})});
    const auto exchanged = b.op("ttnn.all_to_all", {moved}, onEachDevice({4, 32}),
                                {b.integer("split_dim", 0), b.integer("concat_dim", 1), b.integer("split_count", 2),
                                 b.integers("replica_groups", {0, 4, 1, 5, 2, 6, 3, 7})});
    outputs.push_back(exchanged);
    const auto normed =
        b.op("ttnn.distributed_rms_norm", {moved}, onEachDevice({8, 16}), {axis(1), b.real("epsilon", 1e-5)});
    outputs.push_back(b.op("ttnn.distributed_layer_norm", {normed}, onEachDevice({8, 16}), {axis(0)}));
    outputs.push_back(mine);
    outputs.push_back(b.op("ttnn.all_reduce", {x}, onEachDevice({8, 16}), {sum(), axis(1)}));
  }
  b.deallocate(split);
  return b.finish(outputs);
}

/// Onto 2x4 devices and back, with a constant and what a program keeps for the next run.
Bytes distributed() {
  ProgramBuilder b;
  b.mesh = {2, 4};
  const auto placement = [&](int64_t dim) {
    std::vector<flatbuffers::Offset<target::Attribute>> fields = {
        b.enumerator("type", "ttnn.placement_type", dim < 0 ? "replicate" : "shard", dim < 0 ? 0 : 1)};
    if (dim >= 0)
      fields.push_back(b.integer("dim", dim));
    return b.structure("", "ttnn.placement", fields);
  };
  const auto mapper = [&](int64_t down, int64_t across) {
    return b.structure("mapper_config", "ttnn.mesh_mapper_config",
                       {b.list("placements", {placement(down), placement(across)})});
  };
  const auto w = b.input(hostSpec({8, 16}));
  const auto kept = b.op("ttnn.distribute_tensor", {w}, onEachDevice({4, 4}), {mapper(0, 1)});
  const auto callee = b.endProgram("eval", {b.op("ttnn.relu", {kept}, onEachDevice({4, 4}))}, true);
  const auto x = b.input(hostSpec({8, 16}));
  const auto parameter = b.input(hostSpec({8, 16}));
  const auto y = b.op("ttnn.distribute_tensor", {x}, onEachDevice({8, 4}), {mapper(-1, 1)});
  const auto z = b.op("ttnn.concat", {y, b.cached(callee, {parameter}, onEachDevice({4, 4}))}, onEachDevice({12, 4}),
                      {b.integer("dim", 0)});
  const auto shifted = b.op("ttnn.add", {z, b.constant(deviceSpec({4}), ramp(4))}, onEachDevice({12, 4}));
  const auto joined = b.op("ttnn.aggregate_tensor", {shifted}, hostSpec({24, 16}),
                           {b.structure("composer_config", "ttnn.mesh_composer_config", {b.integers("dims", {0, 1})})});
  const auto first = b.op("ttnn.aggregate_tensor", {y}, hostSpec({8, 16}),
                          {b.structure("composer_config", "ttnn.mesh_composer_config",
                                       {b.integers("dims", {0, 1}), b.integers("mesh_shape_override", {1, 4})})});
  return b.finish({joined, first, z});
}

/// Programs that keep what others gave.
Bytes cached() {
  ProgramBuilder b;
  const auto w = b.input(deviceSpec({8, 8}));
  const auto t = b.op("ttnn.transpose", {w}, deviceSpec({8, 8}), {b.integer("dim0", 0), b.integer("dim1", 1)});
  const auto first = b.endProgram("eval_0", {t, b.op("ttnn.relu", {t}, deviceSpec({8, 8}))}, true);
  const auto second = b.endProgram("eval_1", {b.constant(deviceSpec({8}), ramp(8))}, true);
  const auto x = b.input(deviceSpec({8, 8}));
  const auto parameter = b.input(deviceSpec({8, 8}));
  const auto left = b.value(deviceSpec({8, 8})), right = b.value(deviceSpec({8, 8}));
  b.rawOp("ttcore.load_cached", {parameter}, {left, right}, {b.integer("callee", first)});
  const auto bias = b.op("ttcore.load_cached", {}, deviceSpec({8}), {b.integer("callee", second)});
  const auto y = b.op("ttnn.linear", {x, left, bias}, deviceSpec({8, 8}),
                      {b.boolean("transpose_a", false), b.boolean("transpose_b", false)});
  const auto z = b.op("ttnn.multiply", {b.op("ttnn.exp", {y}, deviceSpec({8, 8})), right}, deviceSpec({8, 8}));
  return b.finish({b.op("ttnn.gt", {z, y}, deviceSpec({8, 8}, DataType::Bool)), right});
}

/// A loop of three turns with a branch of two in it: damaged, it may have no end.
Bytes loop() {
  ProgramBuilder b;
  const TensorSpec one = deviceSpec({}), four = deviceSpec({4});
  const auto a = b.input(four);
  const auto same = b.endProgram("same", {a}, true);
  const auto c = b.input(four);
  const auto twice = b.endProgram("twice", {b.op("ttnn.add", {c, c}, four)}, true);
  const auto number = b.input(one);
  b.input(four);
  const auto cond = b.endProgram("cond", {number}, true);
  const auto left = b.input(one), x = b.input(four), chosen = b.value(four);
  const auto less = b.op("ttnn.subtract", {left, b.constant(one, {1})}, one);
  b.rawOp("ttcore.case", {less, x}, {chosen}, {b.integers("branches", {same, twice})});
  const auto step = b.endProgram("body", {less, chosen}, true);
  const auto given = b.input(four), last = b.value(one), y = b.value(four);
  const auto turns = b.op("ttnn.neg", {b.constant(one, {-3})}, one);
  b.rawOp("ttcore.while", {turns, given}, {last, y}, {b.integer("cond", cond), b.integer("body", step)});
  return b.finish({y, last});
}

/// Sizes that are open, in what follows from operands, attributes, constants and a program that is called.
Bytes open() {
  using shapes::Term;
  const auto code = [](Term term, std::vector<int64_t> rest) {
    rest.insert(rest.begin(), static_cast<int64_t>(term));
    return rest;
  };
  ProgramBuilder b;
  b.openSize("batch", 2, 40, 5);
  b.openSize("length", 2, 300, 7);
  const auto inner = b.input(deviceSpec({5, 7, 8}));
  const auto callee = b.endProgram("eval", {b.op("ttnn.relu", {inner}, deviceSpec({5, 7, 8}))}, true);
  const auto x = b.input(deviceSpec({5, 7, 8}));
  b.openDimension(x, 0, code(Term::Size, {0}));
  b.openDimension(x, 1, code(Term::Size, {1}));
  const auto once = b.cached(callee, {x}, deviceSpec({5, 7, 8}));
  const auto rows = b.op("ttnn.reshape", {once}, deviceSpec({35, 8}), {b.integers("shape", {35, 8})});
  b.openNumber({0, 0}, code(Term::Product, {2, 0, 0, 1, 1}));
  const auto y = b.op("ttnn.matmul", {rows, b.constant(deviceSpec({8, 16}), ramp(128))}, deviceSpec({35, 16}));
  const auto share = b.constant(deviceSpec({1}), {1.0f / 7});
  b.openNumber({0}, code(Term::Size, {1}), true);
  const auto z = b.op("ttnn.multiply", {y, share}, deviceSpec({35, 16}));
  const auto cut = b.op("ttnn.slice_static", {z}, deviceSpec({17, 16}),
                        {b.integers("begins", {0, 0}), b.integers("ends", {17, 16}), b.integers("step", {1, 1})});
  b.openNumber({1, 0}, code(Term::Quotient, {2, 0, 0, 0, 2}));
  return b.finish({cut, z});
}

/// Commands, circular buffers and kernels of a TTMetal file, for `devices` in a row.
Bytes metalProgram(int32_t devices) {
  ElementwiseProgram program({33, 50}, DataType::Float32, 2, "    add_binary_tile(0, 1, 0);\n", 0, 2, 3);
  program.builder.meshColumns = devices;
  return program.bytes();
}

/// The sources of the kernels of undamaged files.
std::set<std::string> &knownSources() {
  static std::set<std::string> sources;
  return sources;
}

bool hasKnownKernels(const runtime::Binary &binary) {
  for (const auto &[symbol, source] : binary.kernelSources())
    if (!knownSources().contains(source))
      return false;
  return true;
}

/// Runs the programs of a TTMetal file.
void runMetal(runtime::Binary &binary, size_t limit) {
  for (size_t i = 0; i < binary.programs().size(); ++i) {
    const auto &program = binary.program(i);
    sim::MeshOptions options;
    options.arch = binary.systemDesc().arch == Arch::None ? Arch::WormholeB0 : binary.systemDesc().arch;
    options.rows = program.meshShape[0];
    options.columns = program.meshShape[1];
    for (const bool exact : {false, true}) {
      options.exact = exact && options.arch == Arch::WormholeB0;
      const auto device = runtime::openMeshDevice(options);
      std::vector<runtime::Tensor> inputs;
      for (uint32_t value : program.inputs) {
        const TensorSpec spec = program.spec(value);
        if (spec.bytes() > limit)
          throw OutOfMemoryError("input too large");
        inputs.push_back(runtime::Tensor::onHost(spec));
        std::memset(inputs.back().data(), 0, inputs.back().bytes());
      }
      for (const auto &output : runtime::submit(device, binary, i, inputs))
        (void)runtime::toHost(output);
    }
  }
}

/// While it lives, every value of a run is read and written back.
class Observed {
public:
  Observed() {
    runtime::Hooks hooks;
    hooks.afterOp = [](const runtime::ProgramContextPtr &program, const runtime::OpContext &op) {
      for (uint32_t out : op.operation().outs)
        if (const auto value = program->read(out))
          program->write(out, *value);
    };
    runtime::setHooks(std::move(hooks));
  }
  ~Observed() { runtime::clearHooks(); }
};

/// What the error of the last attempt said.
std::string lastMessage;

/// Loads and runs; the name of the outcome.
std::string attempt(const Bytes &bytes, size_t limit) {
  try {
    auto binary = runtime::Binary::load(bytes);
    (void)binary.asJson();
    if (!hasKnownKernels(binary))
      return "with other kernels";
    if (!binary.kernelSources().empty())
      binary.allowNative();
    if (binary.identifier() == "TTM0") {
      runMetal(binary, limit);
      return "ran";
    }
    for (size_t i = 0; i < binary.programs().size(); ++i) {
      const auto &program = binary.program(i);
      sim::MeshOptions options;
      options.arch = binary.systemDesc().arch == Arch::None ? Arch::WormholeB0 : binary.systemDesc().arch;
      options.rows = program.meshShape[0];
      options.columns = program.meshShape[1];
      const auto device = runtime::openMeshDevice(options);
      const auto inputsOf = [&](int64_t more) {
        std::vector<runtime::Tensor> inputs;
        for (uint32_t value : program.inputs) {
          TensorSpec spec = program.spec(value);
          for (int64_t &size : spec.shape)
            for (const runtime::OpenSize &open : binary.openSizes())
              if (size == open.written && size < 64) {
                size += more;
                break;
              }
          if (spec.bytes() > limit)
            throw OutOfMemoryError("input too large");
          spec.layout = Layout::RowMajor;
          inputs.push_back(runtime::Tensor::onHost(spec));
          std::memset(inputs.back().data(), 0, inputs.back().bytes());
        }
        return inputs;
      };
      const std::vector<runtime::Tensor> inputs = inputsOf(0);
      const runtime::RunOptions bounded{.maxLoopIterations = 1000};
      for (int run = 0; run < 2; ++run)
        for (const auto &output : runtime::submit(device, binary, i, inputs, bounded))
          (void)runtime::toHost(output);
      if (!binary.openSizes().empty() && !program.isPrivate)
        for (int64_t more : {1, 17, 0})
          for (const auto &output : runtime::submit(device, binary, i, inputsOf(more), bounded))
            (void)runtime::toHost(output);
      // Observed, every value has memory of its own.
      const Observed observed;
      for (const auto &output : runtime::submit(device, binary, i, inputs, bounded))
        (void)runtime::toHost(output);
    }
    return "ran";
  } catch (const Error &error) {
    lastMessage = error.what();
    return dynamic_cast<const BinaryError *>(&error)        ? "BinaryError"
           : dynamic_cast<const OpError *>(&error)          ? "OpError"
           : dynamic_cast<const OutOfMemoryError *>(&error) ? "OutOfMemoryError"
           : dynamic_cast<const DeviceError *>(&error)      ? "DeviceError"
                                                            : "Error";
  }
}

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  Bytes operator()(Bytes bytes) {
    switch (below(8)) {
    case 0:
      bytes.resize(below(bytes.size()));
      break;
    case 1: // truncated, but with the right length in front, so that it gets past the first check
      bytes.resize(12 + below(bytes.size() - 12));
      fixPrefix(bytes);
      break;
    case 2:
      for (size_t i = 1 + below(8); i; --i)
        bytes[below(bytes.size())] ^= std::byte(1u << below(8));
      break;
    case 3: // in the part that is not constants: those are first in the file, and small changes of them say little
      for (size_t i = 1 + below(3); i; --i)
        bytes[12 + below(bytes.size() - 12)] = std::byte(below(256));
      break;
    case 4:
      for (size_t i = 1 + below(2); i; --i)
        setWord(bytes, below(bytes.size() / 4) * 4, interesting());
      break;
    case 5: { // a block moved over another
      const size_t n = 4 * (1 + below(8)), from = below(bytes.size() - n) / 4 * 4, to = below(bytes.size() - n) / 4 * 4;
      const Bytes block(bytes.begin() + static_cast<int64_t>(from), bytes.begin() + static_cast<int64_t>(from + n));
      std::copy(block.begin(), block.end(), bytes.begin() + static_cast<int64_t>(to));
      break;
    }
    default: // a small number (a dimension, an index, a kernel size) that becomes another one
      for (size_t i = 1 + below(2); i; --i)
        nudge(bytes);
      break;
    }
    return bytes;
  }

private:
  size_t below(size_t n) { return n ? random() % n : 0; }
  uint32_t interesting() {
    const uint32_t values[] = {
        0,      1,          2,          3,          7,          31,         33,
        0xffff, 0x10000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, static_cast<uint32_t>(random())};
    return values[below(std::size(values))];
  }
  void nudge(Bytes &bytes) {
    for (int tries = 0; tries < 100; ++tries) {
      const size_t at = below(bytes.size() / 4) * 4;
      uint32_t value;
      std::memcpy(&value, bytes.data() + at, 4);
      if (value == 0 || value > 100)
        continue;
      const uint32_t others[] = {value - 1, value + 1, value * 2, value / 2, value * 32, 0};
      setWord(bytes, at, others[below(std::size(others))]);
      return;
    }
  }
  static void setWord(Bytes &bytes, size_t at, uint32_t value) {
    if (at + 4 <= bytes.size())
      std::memcpy(bytes.data() + at, &value, 4);
  }
  static void fixPrefix(Bytes &bytes) { setWord(bytes, 0, static_cast<uint32_t>(bytes.size() - 4)); }
  std::mt19937_64 random;
};

} // namespace

int main(int argc, char **argv) {
  const int mutations = argc > 1 ? std::atoi(argv[1]) : 2000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto given = [&](const char *option) {
    return std::any_of(argv, argv + argc, [&](const char *each) { return !std::strcmp(each, option); });
  };
  const bool verbose = given("--verbose"), onlyMetal = given("--metal");
  constexpr size_t limit = size_t(16) << 20;
  std::vector<std::pair<const char *, Bytes>> seeds = {{"dense", dense()},
                                                       {"image", image()},
                                                       {"movement", movement()},
                                                       {"mesh", mesh()},
                                                       {"cached", cached()},
                                                       {"metal", metalProgram(1)},
                                                       {"metal on 8 devices", metalProgram(8)},
                                                       {"collectives", collectives()},
                                                       {"distributed", distributed()},
                                                       {"stages", stages()},
                                                       {"loop", loop()},
                                                       {"open", open()}};
  const bool ofFiles =
      std::any_of(argv + std::min(argc, 3), argv + argc, [](const char *each) { return *each != '-'; });
  if (ofFiles)
    seeds.clear();
  for (int i = 3; i < argc; ++i)
    if (*argv[i] != '-') {
      std::ifstream file(argv[i], std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (!file || text.empty()) {
        std::fprintf(stderr, "ttrt-fuzz: %s cannot be read\n", argv[i]);
        return 2;
      }
      const auto *bytes = reinterpret_cast<const std::byte *>(text.data());
      seeds.emplace_back(argv[i], Bytes(bytes, bytes + text.size()));
    }
  std::erase_if(seeds, [&](const auto &each) { return !ofFiles && onlyMetal && !std::strstr(each.first, "metal"); });
  for (const auto &[name, bytes] : seeds)
    for (const auto &[symbol, source] : runtime::Binary::load(bytes).kernelSources())
      knownSources().insert(source);
  for (const auto &[name, bytes] : seeds)
    if (const std::string outcome = attempt(bytes, limit); outcome != "ran") {
      std::printf("the undamaged program %s ended in %s: %s\n", name, outcome.c_str(), lastMessage.c_str());
      return 1;
    }
  sim::setHostMemoryLimit(limit);
  std::map<std::string, int> outcomes;
  for (int i = 0; i < mutations; ++i) {
    const auto &[name, bytes] = seeds[static_cast<size_t>(i) % std::size(seeds)];
    // Each mutation has a generator of its own, so that one can be repeated alone.
    const Bytes mutated = Mutator(seed * 1000003 + static_cast<uint64_t>(i))(bytes);
    if (verbose) {
      std::printf("%d %s\n", i, name);
      std::fflush(stdout);
    }
    try {
      ++outcomes[attempt(mutated, limit)];
    } catch (const std::exception &error) {
      std::printf("mutation %d of %s (seed %llu) ended in another exception: %s\n", i, name,
                  static_cast<unsigned long long>(seed), error.what());
      return 1;
    }
  }
  std::printf("%d mutations:", mutations);
  for (const auto &[outcome, count] : outcomes)
    std::printf(" %d %s", count, outcome.c_str());
  std::printf("\n");
  return 0;
}
