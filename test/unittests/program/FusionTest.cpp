//===- FusionTest.cpp - chains of elementwise ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs with hooks take every op by itself. Results in one pass must have the
// same bits.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"
#include "tt/units.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tt;
using namespace tt::test;

namespace {

using Bytes = std::vector<std::byte>;

std::vector<Bytes> run(const runtime::Device &device, const runtime::Binary &binary,
                       const std::vector<runtime::Tensor> &inputs) {
  std::vector<Bytes> result;
  for (const auto &output : runtime::submit(device, binary, 0, inputs))
    result.emplace_back(output.data(), output.data() + output.bytes());
  return result;
}

std::vector<Bytes> runOpByOp(const runtime::Device &device, const runtime::Binary &binary,
                             const std::vector<runtime::Tensor> &inputs) {
  runtime::setHooks({});
  auto result = run(device, binary, inputs);
  runtime::clearHooks();
  return result;
}

/// Values between -4 and 4, some of them special.
runtime::Tensor randomTensor(std::mt19937 &random, const TensorSpec &spec, float special = NAN) {
  std::vector<float> values(static_cast<size_t>(volume(spec.shape)));
  for (float &value : values) {
    value = static_cast<float>(random() % 8193) / 1024.0f - 4.0f;
    if (random() % 97 == 0)
      value = std::vector<float>{0.0f, -0.0f, INFINITY, -INFINITY, special, 1e30f}[random() % 6];
  }
  const auto host = runtime::createHostTensor(values.data(), spec.shape, DataType::Float32);
  return runtime::castTensor(host, sim::isBlockFormat(spec.dtype) ? DataType::BFloat16 : spec.dtype);
}

constexpr DataType types[] = {DataType::Float32,     DataType::Float32, DataType::BFloat16,
                              DataType::BFloat16,    DataType::Float16, DataType::Int32,
                              DataType::BFP_BFloat8, DataType::Bool,    DataType::UInt8};
constexpr const char *unaries[] = {"ttnn.exp",  "ttnn.relu",     "ttnn.neg",  "ttnn.tanh", "ttnn.abs",
                                   "ttnn.sqrt", "ttnn.typecast", "ttnn.gelu", "ttnn.sign", "ttnn.logical_not"};
constexpr const char *binaries[] = {"ttnn.add", "ttnn.multiply", "ttnn.subtract", "ttnn.maximum",
                                    "ttnn.lt",  "ttnn.eq",       "ttnn.divide",   "ttnn.logical_and"};

/// A program of elementwise ops that use one another's results and operands of many shapes.
struct RandomProgram {
  /// Every third has values in bf16 alone, or nearly so: those a chain keeps in f32 and converts once.
  RandomProgram(uint32_t seed, const Shape &shape) : random(seed) {
    const auto type = [&] { return seed % 3 == 0 && random() % 16 ? DataType::BFloat16 : pick(types); };
    const std::vector<Shape> shapes = {shape, shape, shape, {1}, {shape.back()}, {shape[shape.size() - 2], 1}};
    std::vector<uint32_t> whole, parts;
    for (size_t i = 0; i < 6; ++i) {
      const TensorSpec spec = deviceSpec(shapes[i], type());
      inputs.push_back(randomTensor(random, spec));
      (i < 3 ? whole : parts).push_back(builder.input(spec));
    }
    const auto any = [&] {
      // Mostly what was just computed, so that chains are long.
      if (random() % 4 == 0)
        return parts[random() % parts.size()];
      return random() % 2 ? whole.back() : whole[random() % whole.size()];
    };
    for (int i = 0; i < 24; ++i) {
      const TensorSpec spec = deviceSpec(shape, type());
      const auto first = whole[random() % 3 ? whole.size() - 1 : random() % whole.size()];
      switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        whole.push_back(builder.op(pick(unaries), {first}, spec));
        break;
      case 3:
        whole.push_back(builder.op("ttnn.where", {any(), first, any()}, spec));
        break;
      case 4:
        whole.push_back(
            builder.op("ttnn.clamp_scalar", {first}, spec, {builder.real("min", -1.5), builder.real("max", 2.25)}));
        break;
      default:
        whole.push_back(random() % 2 ? builder.op(pick(binaries), {first, any()}, spec)
                                     : builder.op(pick(binaries), {any(), first}, spec));
      }
      // A view, and an op that is not elementwise, between them.
      if (random() % 9 == 0) {
        const Shape flat = {volume(shape)};
        const TensorSpec flatSpec = deviceSpec(flat, DataType::Float32);
        const auto cast = builder.op("ttnn.typecast", {whole.back()}, deviceSpec(shape, DataType::Float32));
        const auto view = builder.op("ttnn.reshape", {cast}, flatSpec, {builder.integers("shape", flat)});
        const auto changed = builder.op("ttnn.exp", {view}, flatSpec);
        whole.push_back(builder.op("ttnn.reshape", {changed}, deviceSpec(shape), {builder.integers("shape", shape)}));
      }
      // A part of a result, which the next op may read next to the whole one.
      if (random() % 5 == 0) {
        const size_t rank = shape.size();
        Shape begins(rank, 0), ends(rank, 1), row(rank, 1);
        begins[rank - 2] = static_cast<int64_t>(random() % static_cast<uint64_t>(shape[rank - 2]));
        ends[rank - 2] = begins[rank - 2] + 1;
        ends[rank - 1] = row[rank - 1] = shape[rank - 1];
        const auto cast = builder.op("ttnn.typecast", {whole.back()}, deviceSpec(shape, DataType::Float32));
        whole.push_back(cast);
        parts.back() = builder.op("ttnn.slice_static", {cast}, deviceSpec(row, DataType::Float32),
                                  {builder.integers("begins", begins), builder.integers("ends", ends),
                                   builder.integers("step", Shape(rank, 1))});
        whole.push_back(builder.op("ttnn.add", {cast, parts.back()}, deviceSpec(shape, DataType::Float32)));
      }
      if (random() % 9 == 0)
        whole.push_back(builder.op("ttnn.softmax", {builder.op("ttnn.typecast", {whole.back()}, deviceSpec(shape))},
                                   deviceSpec(shape),
                                   {builder.integer("dimension", static_cast<int64_t>(shape.size()) - 1)}));
    }
    std::vector<uint32_t> outputs = {whole.back()};
    for (size_t i = 0; i < 3; ++i)
      outputs.push_back(whole[random() % whole.size()]);
    binary = builder.load(outputs);
  }
  template <class T, size_t N> T pick(const T (&values)[N]) { return values[random() % N]; }

  std::mt19937 random;
  ProgramBuilder builder;
  std::vector<runtime::Tensor> inputs;
  runtime::Binary binary;
};

} // namespace

TEST(Fusion, HasTheSameBitsAsOpByOp) {
  const auto device = runtime::openMeshDevice();
  const std::vector<Shape> shapes = {{3, 5, 7}, {2, 32, 32}, {1, 64, 300}, {4, 1, 48}, {40, 1000}, {1, 1}};
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomProgram program(seed, shapes[seed % shapes.size()]);
    const auto expected = runOpByOp(device, program.binary, program.inputs);
    for (const int threads : {1, 2, 3}) {
      setThreads(threads);
      ASSERT_EQ(run(device, program.binary, program.inputs), expected)
          << "seed " << seed << ", " << threads << " threads";
    }
    setThreads(0);
  }
}

TEST(Fusion, KeepsNothingInMemoryBetweenTheOps) {
  for (const DataType type : {DataType::Float32, DataType::BFloat16}) {
    ProgramBuilder builder;
    const TensorSpec spec = deviceSpec({256, 1024}, type);
    auto value = builder.input(spec);
    const auto row = builder.input(deviceSpec({1024}, type));
    for (const char *name : {"ttnn.exp", "ttnn.tanh", "ttnn.abs", "ttnn.relu"})
      value = builder.op("ttnn.add", {builder.op(name, {value}, spec), row}, spec);
    const auto binary = builder.load({value});
    const auto device = runtime::openMeshDevice();
    std::mt19937 random(1);
    const auto x = randomTensor(random, spec), r = randomTensor(random, deviceSpec({1024}, type));
    runtime::setPerfRecording(true);
    const auto fused = run(device, binary, {x, r});
    runtime::setPerfRecording(false);
    const auto report = runtime::lastRun(device);
    EXPECT_EQ(report->arenaBytes, 0u);
    // The time is shared out among the ops.
    int64_t sum = 0;
    for (const auto &op : report->ops) {
      EXPECT_GT(op.hostNs, 0);
      sum += op.hostNs;
    }
    EXPECT_LE(sum, report->hostNs);
    EXPECT_EQ(fused, runOpByOp(device, binary, {x, r}));
  }
}

/// A sum is written where an operand lies that nothing needs any more: never more than two values at a time.
TEST(Fusion, TakesThePlaceOfAnOperandThatDies) {
  for (const DataType type : {DataType::Float32, DataType::BFloat16}) {
    ProgramBuilder builder;
    const TensorSpec spec = deviceSpec({64, 1024}, type);
    const auto heavy = [&](uint32_t value) {
      return builder.op("ttnn.softmax", {value}, spec, {builder.integer("dimension", 1)});
    };
    const auto x = builder.input(spec), y = builder.input(spec);
    auto sum = builder.op("ttnn.add", {heavy(x), heavy(y)}, spec);
    for (int i = 0; i < 3; ++i)
      sum = builder.op("ttnn.relu", {builder.op("ttnn.subtract", {heavy(sum), sum}, spec)}, spec);
    const auto binary = builder.load({heavy(sum)});
    const auto device = runtime::openMeshDevice();
    std::mt19937 random(1);
    const std::vector<runtime::Tensor> inputs = {randomTensor(random, spec), randomTensor(random, spec)};
    const auto expected = runOpByOp(device, binary, inputs);
    for (const int threads : {1, 2, 3}) {
      setThreads(threads);
      EXPECT_EQ(run(device, binary, inputs), expected);
    }
    setThreads(0);
    EXPECT_LT(runtime::lastRun(device)->arenaBytes, 3 * spec.bytes());
  }
}

/// An operand keeps its place when a later op of the chain reads it, when it is of another width, when it is broadcast,
/// when it is read under two names, and when it is needed afterwards.
TEST(Fusion, TakesNoPlaceThatIsStillRead) {
  for (const DataType type : {DataType::Float32, DataType::BFloat16}) {
    const DataType other = type == DataType::Float32 ? DataType::BFloat16 : DataType::Float32;
    ProgramBuilder builder;
    const TensorSpec spec = deviceSpec({96, 512}, type), wide = deviceSpec({96, 512}, other),
                     row = deviceSpec({1, 512}, type);
    const auto heavy = [&](uint32_t value, const TensorSpec &of) {
      return builder.op("ttnn.softmax", {value}, of, {builder.integer("dimension", 1)});
    };
    const auto x = builder.input(spec), y = builder.input(row);
    const auto a = heavy(x, spec);
    const auto inner = builder.op("ttnn.exp", {a}, spec);                      // stored, and
    const auto later = builder.op("ttnn.add", {inner, a}, spec);               // read next to its source
    const auto cast = builder.op("ttnn.typecast", {heavy(later, spec)}, wide); // another width
    const auto b = heavy(y, row);
    const auto sum = builder.op("ttnn.add", {heavy(inner, spec), b}, spec); // broadcast
    const auto needed = heavy(sum, spec);
    const auto twice = builder.op("ttnn.multiply", {needed, needed}, spec);
    const auto square = builder.op("ttnn.add", {heavy(twice, spec), needed}, spec);
    const auto binary = builder.load({heavy(cast, wide), square, heavy(inner, spec)});
    const auto device = runtime::openMeshDevice();
    std::mt19937 random(2);
    const std::vector<runtime::Tensor> inputs = {randomTensor(random, spec), randomTensor(random, row)};
    const auto expected = runOpByOp(device, binary, inputs);
    for (const int threads : {1, 2, 3}) {
      setThreads(threads);
      EXPECT_EQ(run(device, binary, inputs), expected);
    }
    setThreads(0);
  }
}

/// What is between two ops of a chain and looks at a value, or changes one, sees it as it would without the chain.
TEST(Fusion, StopsAtWhatUsesOrChangesValues) {
  ProgramBuilder builder;
  const TensorSpec spec = deviceSpec({4, 1, 1, 1});
  const auto x = builder.input(spec);
  const auto mean = builder.input(deviceSpec({1}));
  const auto variance = builder.constant(deviceSpec({1}), {1});
  const auto before = builder.op("ttnn.add", {x, mean}, spec); // the mean before it is updated
  const auto e = builder.op("ttnn.exp", {before}, spec);
  const auto normalised = builder.op("ttnn.batch_norm_training", {e, mean, variance}, spec,
                                     {builder.real("epsilon", 1e-5), builder.real("momentum", 0.5)});
  const auto after = builder.op("ttnn.add", {before, mean}, spec); // and after
  const auto binary = builder.load({builder.op("ttnn.multiply", {after, normalised}, spec), after, mean});
  const auto device = runtime::openMeshDevice();
  const std::vector<runtime::Tensor> inputs = {tensor({1, 2, 3, 4}, {4, 1, 1, 1}), tensor({2}, {1})};
  EXPECT_EQ(run(device, binary, inputs), runOpByOp(device, binary, inputs));
}

/// A convolution or product that is added to another tensor, on either side, with a relu behind it or nothing, and what
/// keeps these from being one: another use, a different type or shape, an op between them.
TEST(Fusion, ResidualsAreAddedToProductsWithTheSameBits) {
  std::mt19937 random(3);
  for (const DataType type : {DataType::Float32, DataType::BFloat16})
    for (const int64_t kernel : {0, 1, 3}) // 0: a product
      for (const int64_t channels : {33, 64, kernel == 1 ? 270 : 65})
        for (int variant = 0; variant < 8; ++variant) {
          const int64_t size = 13, pixels = size * size, out = kernel ? 70 : 500;
          const bool onLeft = variant & 1, relu = variant & 2, apart = variant & 4;
          ProgramBuilder builder;
          const TensorSpec images = deviceSpec({1, 1, pixels, channels}, type),
                           spec = deviceSpec({1, 1, pixels, out}, type);
          const Shape filter = kernel ? Shape{out, channels, kernel, kernel} : Shape{channels, out};
          const TensorSpec weight = deviceSpec(filter, type), bias = deviceSpec({1, 1, 1, out}, type);
          const auto constant = [&](const TensorSpec &of) {
            std::vector<float> values(static_cast<size_t>(volume(of.shape)));
            for (float &value : values)
              value = static_cast<float>(random() % 257) / 128.0f - 1.0f;
            const auto tensor =
                runtime::castTensor(runtime::createHostTensor(values.data(), of.shape, DataType::Float32), of.dtype);
            return builder.constant(of, tensor.data(), tensor.bytes());
          };
          const auto x = builder.input(images), residual = builder.input(spec);
          const auto w = constant(weight), b = constant(bias);
          const ProgramBuilder::Attributes attributes = {
              builder.integer("in_channels", channels), builder.integer("out_channels", out),
              builder.integer("batch_size", 1),         builder.integer("input_height", size),
              builder.integer("input_width", size),     builder.integers("kernel_size", {kernel, kernel}),
              builder.integers("stride", {1, 1}),       builder.integers("padding", {kernel / 2, kernel / 2}),
              builder.integers("dilation", {1, 1}),     builder.integer("groups", 1)};
          const auto product =
              kernel ? builder.op("ttnn.conv2d", {x, w, b}, spec, attributes)
                     : builder.op("ttnn.linear", {x, w, b}, spec,
                                  {builder.boolean("transpose_a", false), builder.boolean("transpose_b", false)});
          const auto other =
              apart ? builder.op("ttnn.softmax", {residual}, spec, {builder.integer("dimension", 3)}) : residual;
          auto sum = builder.op("ttnn.add", onLeft ? std::vector{other, product} : std::vector{product, other}, spec);
          if (relu)
            sum = builder.op("ttnn.relu", {sum}, spec);
          const auto binary = builder.load({sum});
          const auto device = runtime::openMeshDevice();
          // Of two NaN, a sum may be either: the residual has none.
          const std::vector<float> ones(static_cast<size_t>(pixels * out), 1.0f);
          const std::vector<runtime::Tensor> inputs = {
              randomTensor(random, images),
              apart ? runtime::castTensor(runtime::createHostTensor(ones.data(), spec.shape, DataType::Float32), type)
                    : randomTensor(random, spec, 1.0f)};
          const auto expected = runOpByOp(device, binary, inputs);
          for (const int threads : {1, 2, 3}) {
            setThreads(threads);
            EXPECT_EQ(run(device, binary, inputs), expected)
                << toString(type) << ", kernel " << kernel << ", channels " << channels << ", variant " << variant;
          }
          setThreads(0);
          // The product's result is not stored: what remains is the kernel's own memory.
          if (!apart && kernel == 0 && units() >= Units::AVX2)
            EXPECT_LT(runtime::lastRun(device)->arenaBytes, spec.bytes());
        }
}
