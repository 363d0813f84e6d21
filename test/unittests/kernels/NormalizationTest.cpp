//===- NormalizationTest.cpp - norms of rows sharded over a mesh ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

/// The parts of `whole` along its last dimension for the devices of a mesh, whose `axis` cuts it; all are the same
/// along the other axis.
std::vector<Value> cut(const Value &whole, uint32_t rows, uint32_t columns, int64_t axis) {
  const auto parts = static_cast<int64_t>(axis == 0 ? rows : columns), length = whole.spec.shape.back() / parts;
  Shape shape = whole.spec.shape;
  shape.back() = length;
  std::vector<Value> values;
  for (uint32_t device = 0; device < rows * columns; ++device) {
    Value part(whole.spec.dtype, shape);
    const int64_t place = axis == 0 ? device / columns : device % columns;
    for (size_t i = 0; i < part.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / length, column = static_cast<int64_t>(i) % length;
      part.set(i, whole.get(static_cast<size_t>((row * parts + place) * length + column)));
    }
    values.push_back(std::move(part));
  }
  return values;
}

/// The norm of each row in double, by its definition: no code of the library. Empty weight and bias are 1 and 0.
std::vector<double> normOf(const std::vector<double> &values, size_t length, bool centred,
                           const std::vector<double> &weight, const std::vector<double> &bias, double epsilon) {
  std::vector<double> result(values.size());
  for (size_t row = 0; row < values.size(); row += length) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < length && centred; ++i)
      mean += values[row + i] / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i)
      square += (values[row + i] - mean) * (values[row + i] - mean) / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i)
      result[row + i] = (values[row + i] - mean) / std::sqrt(square + epsilon) * (weight.empty() ? 1 : weight[i]) +
                        (bias.empty() ? 0 : bias[i]);
  }
  return result;
}
std::vector<double> valuesOf(const Value &value, bool given) { return given ? value.values() : std::vector<double>(); }

struct Mesh {
  uint32_t rows, columns;
  int64_t axis;
  uint32_t devices() const { return rows * columns; }
  int64_t parts() const { return axis == 0 ? rows : columns; }
};

class DistributedNorms : public testing::TestWithParam<Mesh> {};

TEST_P(DistributedNorms, AreTheNormOfTheWholeTensor) {
  const Mesh mesh = GetParam();
  struct Row {
    Shape leading;
    int64_t length; // of a part
    bool weight, bias, residual;
  };
  const Row rows[] = {{{5}, 33, true, true, true},
                      {{2, 3, 4}, 64, true, false, false},
                      {{1}, 1, false, false, true},
                      {{3}, 1500, false, true, false},
                      {{}, 40, true, true, false}};
  for (const Row &row : rows)
    for (DataType type : {f32, bf16})
      for (bool centred : {true, false}) {
        Shape shape = row.leading, part = row.leading;
        shape.push_back(row.length * mesh.parts());
        part.push_back(row.length);
        const Value x = random(type, shape, 3, 5, 1), more = random(type, shape, -1, 1, 2),
                    weight = random(type, {shape.back()}, -1, 1, 3), bias = random(type, {shape.back()}, -1, 1, 4);
        const bool biased = centred && row.bias;
        Value sum(f32, shape);
        for (size_t i = 0; i < sum.size(); ++i)
          sum.set(i, x.get(i) + (row.residual ? more.get(i) : 0));
        const Value expected(f32, shape,
                             normOf(sum.values(), static_cast<size_t>(shape.back()), centred,
                                    valuesOf(weight, row.weight), valuesOf(bias, biased), 1e-5));
        auto parts = [&](const Value &whole, bool given) {
          return given ? cut(whole, mesh.rows, mesh.columns, mesh.axis) : std::vector<Value>();
        };
        std::vector<std::vector<Value>> ins = {parts(x, true), parts(weight, row.weight)};
        if (centred)
          ins.push_back(parts(bias, biased));
        ins.push_back(parts(more, row.residual));
        const auto results = runOnMesh(centred ? "ttnn.distributed_layer_norm" : "ttnn.distributed_rms_norm", ins, type,
                                       part, {{"cluster_axis", integer(mesh.axis)}, {"epsilon", real(1e-5)}}, mesh.rows,
                                       mesh.columns, mesh.devices());
        const auto reference = cut(expected, mesh.rows, mesh.columns, mesh.axis);
        for (size_t device = 0; device < mesh.devices(); ++device)
          expectNear(results[device], reference[device].values(), type == bf16 ? 0x1p-8 : 2e-6,
                     type == bf16 ? 1e-5 : 2e-6);
      }
}

/// layer_norm in steps: sums of each part, gathered, then each part.
TEST_P(DistributedNorms, InSteps) {
  const Mesh mesh = GetParam();
  const int64_t length = 48;
  const Shape shape = {2, 3, length * mesh.parts()};
  const Value x = random(f32, shape, -1, 2, 1), more = random(f32, shape, -1, 1, 2);
  Value sum(f32, shape);
  for (size_t i = 0; i < sum.size(); ++i)
    sum.set(i, static_cast<float>(x.get(i)) + static_cast<float>(more.get(i)));
  const Value expected(f32, shape, normOf(sum.values(), static_cast<size_t>(shape.back()), true, {}, {}, 1e-5));
  const auto xs = cut(x, mesh.rows, mesh.columns, mesh.axis), residuals = cut(more, mesh.rows, mesh.columns, mesh.axis),
             sums = cut(sum, mesh.rows, mesh.columns, mesh.axis),
             reference = cut(expected, mesh.rows, mesh.columns, mesh.axis);
  std::vector<Value> statistics;
  for (size_t device = 0; device < mesh.devices(); ++device) {
    statistics.push_back(run("ttnn.layer_norm_pre_all_gather", {&xs[device], &residuals[device]}, f32, {2, 3, 64}));
    const Value squares = run("ttnn.rms_norm_pre_all_gather", {&xs[device], &residuals[device]}, f32, {2, 3, 32});
    for (size_t row = 0; row < 6; ++row)
      for (size_t i = 0; i < 32; ++i)
        EXPECT_EQ(squares.get(row * 32 + i), statistics[device].get(row * 64 + i));
    EXPECT_EQ(squares.get(1), 0);
  }
  const auto gathered = runOnMesh("ttnn.all_gather", {statistics}, f32, {2, 3, 64 * mesh.parts()},
                                  {{"all_gather_dim", integer(-1)}, {"cluster_axis", integer(mesh.axis)}}, mesh.rows,
                                  mesh.columns, mesh.devices());
  for (size_t device = 0; device < mesh.devices(); ++device)
    expectNear(run("ttnn.layer_norm_post_all_gather", {&sums[device], &gathered[device]}, f32, {2, 3, length},
                   {{"epsilon", real(1e-5)}}),
               reference[device].values(), 1e-5, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Meshes, DistributedNorms,
                         testing::Values(Mesh{1, 1, 0}, Mesh{1, 1, 1}, Mesh{1, 2, 1}, Mesh{2, 4, 0}, Mesh{2, 4, 1}));

TEST(NormSteps, SumsAndWhatIsMadeOfThem) {
  const Value x(f32, {2, 3}, {1, 2, 3, -1, 0, 4}), bigger(f32, {2, 3}, {2, 4, 6, -2, 0, 8});
  std::vector<double> sums(128);
  sums[0] = 14, sums[32] = 6, sums[64] = 17, sums[96] = 3;
  for (DataType type : {f32, bf16})
    expectEqual(run("ttnn.layer_norm_pre_all_gather", {&x}, type, {2, 64}), sums);
  const Value stats(f32, {2, 64}, sums), weight(f32, {3}, {1, 2, 3}), bias(f32, {3}, {0, 1, 2});
  const std::vector<double> expected = normOf(x.values(), 3, true, weight.values(), bias.values(), 1e-12);
  expectNear(run("ttnn.layer_norm", {&x, &weight, &bias}, f32, {2, 3}), expected, 1e-6, 1e-6);
  expectNear(run("ttnn.layer_norm_post_all_gather", {&x, &stats, &weight, &bias}, f32, {2, 3}), expected, 1e-6, 1e-6);
  // A row of equal elements has no variance; epsilon alone is under the root.
  const Value same(f32, {1, 2}, {3, 3});
  const Value its = run("ttnn.layer_norm_pre_all_gather", {&same}, f32, {1, 64});
  expectEqual(run("ttnn.layer_norm_post_all_gather", {&same, &its}, f32, {1, 2}, {{"epsilon", real(1e-5)}}), {0, 0});
}

TEST(ResidualNorm, IsTheNormOfTheSumThroughAnActivation) {
  for (const Shape &shape : {Shape{3, 33}, Shape{2, 2, 64}, Shape{1, 1}, Shape{2, 2000}})
    for (DataType type : {f32, bf16})
      for (const char *activation : {"", "relu", "silu"}) {
        const Value x = random(type, shape, -1, 3, 1), more = random(type, shape, -1, 1, 2),
                    weight = random(type, {shape.back()}, -1, 1, 3), bias = random(type, {shape.back()}, -1, 1, 4);
        Value sum(f32, shape);
        for (size_t i = 0; i < sum.size(); ++i)
          sum.set(i, x.get(i) + more.get(i));
        std::vector<double> expected =
            normOf(sum.values(), static_cast<size_t>(shape.back()), false, weight.values(), bias.values(), 1e-5);
        for (double &v : expected)
          v = *activation == 'r' ? std::max(v, 0.0) : *activation ? v / (1 + std::exp(-v)) : v;
        expectNear(run("ttnn.dit_rms_norm_unary_fused", {&x, &weight, &bias, &more}, type, shape,
                       {{"activation", text(activation)}}),
                   expected, type == bf16 ? 0x1p-8 : 4e-6, type == bf16 ? 1e-5 : 4e-6);
      }
  const Value x(f32, {2, 3});
  EXPECT_EQ(errorOf([&] { run("ttnn.dit_rms_norm_unary_fused", {&x}, f32, {2, 3}, {{"activation", text("swirl")}}); }),
            "ttnn.dit_rms_norm_unary_fused: activation 'swirl' is not known; expected a unary elementwise op such as "
            "relu");
}

TEST(NormErrors, NameOperandsAndSizes) {
  const std::vector<Value> x(2, Value(f32, {4, 6})), short_(2, Value(f32, {5})), flat(2, Value(f32, {24})),
      whole(2, Value(DataType::Int32, {4, 6}));
  auto message = [&](const std::string &name, const std::vector<std::vector<Value>> &ins, int64_t axis) {
    return errorOf([&] { runOnMesh(name, ins, f32, {4, 6}, {{"cluster_axis", integer(axis)}}, 1, 2, 2); });
  };
  const std::string layer = "ttnn.distributed_layer_norm", rms = "ttnn.distributed_rms_norm";
  EXPECT_EQ(message(layer, {x, short_}, 1), layer + ": operand 'weight' has shape [5]; expected [6]");
  EXPECT_EQ(message(layer, {x, {}, short_}, 1), layer + ": operand 'bias' has shape [5]; expected [6]");
  EXPECT_EQ(message(layer, {x, {}, {}, short_}, 1), layer + ": operand 'residual' has shape [5]; expected [4, 6]");
  EXPECT_EQ(message(rms, {x, {}, flat}, 1), rms + ": operand 'residual' has shape [24]; expected [4, 6]");
  EXPECT_EQ(message(rms, {x}, 2), rms + ": attribute 'cluster_axis' is 2, but the mesh is [1, 2]");
  EXPECT_EQ(message(rms, {whole}, 1), rms + ": operand 0 is of type si32; expected floats");
  EXPECT_EQ(
      errorOf([&] { run("ttnn.layer_norm_post_all_gather", {&x[0], &x[1]}, f32, {4, 6}); }),
      "ttnn.layer_norm_post_all_gather: operand 'stats' has shape [4, 6]; expected [4, 64] for each chip, side by "
      "side");
  EXPECT_EQ(errorOf([&] { run("ttnn.rms_norm_pre_all_gather", {&x[0]}, f32, {4, 64}); }),
            "ttnn.rms_norm_pre_all_gather: result 0 has shape [4, 64]; expected [4, 32]");
}

} // namespace
