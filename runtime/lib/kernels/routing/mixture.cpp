//===- mixture.cpp - experts of a mesh, computed and combined -------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A token's experts are computed from the copies of the token on the devices that have them, and each result is a row
// of the token's device. An expert's weights are read once for all of its tokens.
//
//===----------------------------------------------------------------------===//

#include "kernels/routing/places.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tt::ttnn {
namespace {

constexpr uint32_t tokensOperand = 0, indicesOperand = 1, mappingOperand = 3, firstOperand = 4, lastOperand = 5;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// A matrix in a tensor of matrices, followed by a row of biases if there are any.
struct Matrix {
  Matrix(const TensorSpec &spec, bool biased)
      : rows(spec.shape[2] - (biased ? 1 : 0)), columns(spec.shape[3]), perLayer(spec.shape[1]), biased(biased),
        load(loader<float>(spec.dtype)), bytes(storageBytes(spec.dtype)) {}

  /// out [count, columns] = x [count, rows] * matrix + biases, in f32. Each thread has its own columns, whose weights
  /// are converted once.
  void multiply(const std::byte *weights, int64_t layer, int64_t expert, const std::vector<float> &x, int64_t count,
                std::vector<float> &out) const {
    const std::byte *matrix =
        weights + static_cast<size_t>((layer * perLayer + expert) * (rows + (biased ? 1 : 0)) * columns) * bytes;
    out.assign(static_cast<size_t>(count * columns), 0.0F);
    const int64_t grain = 1 + 65536 / std::max<int64_t>(1, count * rows);
    parallelFor(columns, grain, [&](int64_t begin, int64_t end) {
      const auto n = static_cast<size_t>(end - begin);
      std::vector<float> row(n);
      const auto loadRow = [&](int64_t i) {
        load(matrix + static_cast<size_t>(i * columns + begin) * bytes, row.data(), n);
      };
      if (biased) {
        loadRow(rows);
        for (int64_t token = 0; token < count; ++token)
          std::ranges::copy(row, out.begin() + token * columns + begin);
      }
      for (int64_t i = 0; i < rows; ++i) {
        loadRow(i);
        for (int64_t token = 0; token < count; ++token) {
          const float factor = x[static_cast<size_t>(token * rows + i)];
          float *to = out.data() + token * columns + begin;
          for (size_t j = 0; j < n; ++j)
            to[j] += factor * row[j];
        }
      }
    });
  }

  int64_t rows, columns, perLayer; // without the biases
  bool biased;

private:
  Load<float> load;
  size_t bytes;
};

/// Rows of matrices side by side, followed by their biases.
std::unique_ptr<Kernel> makePack(const OpCall &call, size_t matrices) {
  expectElements(call);
  const TensorSpec &first = operand(call, 0);
  const int64_t count = first.shape[0] * first.shape[1], rows = first.shape[2], columns = first.shape[3];
  const bool biased = optionalOperand(call, matrices);
  std::vector<RunCopy> copies;
  for (size_t i = 0; i < (biased ? 2 : 1) * matrices; ++i)
    copies.emplace_back(operand(call, i).dtype, result(call).dtype);
  return kernelOf([=](const Buffers &buffers) {
    const int64_t height = rows + (biased ? 1 : 0);
    parallelFor(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t matrix = begin; matrix < end; ++matrix)
        for (int64_t row = 0; row < height && columns; ++row)
          for (size_t i = 0; i < matrices; ++i) {
            const size_t from = row < rows ? i : matrices + i;
            const int64_t at = row < rows ? matrix * rows + row : matrix;
            const auto to = (matrix * height + row) * static_cast<int64_t>(matrices) + static_cast<int64_t>(i);
            copies[from](buffers.ins[from] + static_cast<size_t>(at * columns) * copies[from].fromBytes,
                         buffers.outs[0] + static_cast<size_t>(to * columns) * copies[from].toBytes,
                         static_cast<size_t>(columns));
          }
    });
  });
}
std::unique_ptr<Kernel> makePackFirst(const OpCall &call) { return makePack(call, 2); }
std::unique_ptr<Kernel> makePackLast(const OpCall &call) { return makePack(call, 1); }

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// The activation between the first two weights and the last: on adjacent gates and values.
using Activation = float (*)(float gate, float value);

float silu(float gate, float value) { return gate / (1 + std::exp(-gate)) * value; }

/// Computes the SwiGLU of GPT-OSS.
float swiglu(float gate, float value) {
  constexpr float limit = 7.0F, slope = 1.702F;
  const float g = gate > limit ? limit : gate, u = value > limit ? limit : value < -limit ? -limit : value;
  return g / (1 + std::exp(-slope * g)) * (u + 1);
}

Activation activationOf(const OpCall &call) {
  const auto *chosen = call.attributes.find<EnumAttribute>("activation_function");
  if (!chosen || chosen->symbol == "silu")
    return silu;
  if (chosen->symbol != "swiglu")
    fail(call, "attribute 'activation_function' is " + chosen->symbol + "; expected silu or swiglu");
  return swiglu;
}

class ExpertsKernel final : public MeshKernel {
public:
  explicit ExpertsKernel(const OpCall &call)
      : groups(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))), places(call, mappingOperand),
        chosen(call, indicesOperand), biased(call.attributes.get<bool>("has_bias")),
        first(operand(call, firstOperand), biased), last(operand(call, lastOperand), biased),
        layer(call.attributes.get<int64_t>("layer_id")), activation(activationOf(call)),
        load(loader<float>(operand(call, tokensOperand).dtype)),
        tokenBytes(storageBytes(operand(call, tokensOperand).dtype)), store(storer<float>(result(call).dtype)),
        resultBytes(storageBytes(result(call).dtype)), perToken(result(call).shape[0]), own(result(call).shape[1]),
        size(result(call).shape[2]) {
    expectElements(call);
    if (places.experts / places.devices > first.perLayer)
      fail(call, "operand 'tilize_expert_mapping_tensor' has " + std::to_string(places.experts / places.devices) +
                     " experts for a device; expected at most " + std::to_string(first.perLayer) +
                     ", as the weights have");
  }

  std::vector<Need> needs() const override {
    std::vector<Need> all;
    for (const uint32_t operand : {tokensOperand, mappingOperand, firstOperand, lastOperand})
      std::ranges::copy(needsOf(groups, operand), std::back_inserter(all));
    return all;
  }

  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    for (const auto &group : groups) {
      std::vector<std::vector<int64_t>> experts;
      for (size_t device : group)
        experts.push_back(places.onDevice(ins, device));
      for (size_t rank = 0; rank < group.size(); ++rank)
        if (chips.has(group[rank]))
          runOn(ins, outs[0][group[rank]], group, rank, experts);
    }
  }

private:
  /// Computes the result of the device of that rank: its tokens, expert by expert.
  void runOn(DeviceIns ins, std::byte *out, const std::vector<size_t> &group, size_t rank,
             const std::vector<std::vector<int64_t>> &experts) const {
    const int64_t begin = static_cast<int64_t>(rank) * own;
    // Rows of the result for each expert of each device.
    std::vector<std::vector<int64_t>> rows(group.size() * static_cast<size_t>(first.perLayer));
    for (int64_t token = 0; token < own; ++token)
      for (int64_t k = 0; k < perToken; ++k) {
        const int64_t row = k * own + token;
        const auto expert = static_cast<size_t>(
            chosen.at(on(ins[indicesOperand], group[rank]), (begin + token) * perToken + k, places.experts));
        const auto has = std::ranges::find_if(
            experts, [&](const std::vector<int64_t> &local) { return local[expert] != Places::none; });
        if (has != experts.end())
          rows[static_cast<size_t>(has - experts.begin()) * static_cast<size_t>(first.perLayer) +
               static_cast<size_t>((*has)[expert])]
              .push_back(row);
        else if (size)
          std::memset(out + static_cast<size_t>(row * size) * resultBytes, 0, static_cast<size_t>(size) * resultBytes);
      }
    for (size_t i = 0; i < rows.size(); ++i)
      if (!rows[i].empty() && size)
        compute(ins, group[i / static_cast<size_t>(first.perLayer)], static_cast<int64_t>(i) % first.perLayer, begin,
                rows[i], out);
  }

  /// An expert of `device` on tokens of the part that begins at `begin`.
  void compute(DeviceIns ins, size_t device, int64_t expert, int64_t begin, const std::vector<int64_t> &rows,
               std::byte *out) const {
    const auto count = static_cast<int64_t>(rows.size());
    const auto width = static_cast<size_t>(size);
    std::vector<float> x(rows.size() * width), gates, created;
    for (size_t i = 0; i < rows.size(); ++i)
      load(on(ins[tokensOperand], device) + static_cast<size_t>(begin + rows[i] % own) * width * tokenBytes,
           x.data() + i * width, width);
    first.multiply(on(ins[firstOperand], device), layer, expert, x, count, gates);
    const auto half = static_cast<size_t>(first.columns / 2);
    std::vector<float> hidden(rows.size() * half);
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < half; ++j)
        hidden[i * half + j] = activation(gates[i * 2 * half + j], gates[i * 2 * half + half + j]);
    last.multiply(on(ins[lastOperand], device), layer, expert, hidden, count, created);
    for (size_t i = 0; i < rows.size(); ++i)
      store(created.data() + i * width, out + static_cast<size_t>(rows[i]) * width * resultBytes, width);
  }

  std::vector<std::vector<size_t>> groups;
  Places places;
  Positions chosen;
  bool biased;
  Matrix first, last;
  int64_t layer;
  Activation activation;
  Load<float> load;
  size_t tokenBytes;
  Store<float> store;
  size_t resultBytes;
  int64_t perToken, own, size; // of the result
};

std::unique_ptr<MeshKernel> makeExperts(const OpCall &call) { return std::make_unique<ExpertsKernel>(call); }

} // namespace

std::vector<OpInfo> mixtureOps() {
  return {
      {"ttnn.moe_compute", nullptr, makeExperts},
      {"ttnn.prepare_moe_compute_w0_w1_weights", makePackFirst},
      {"ttnn.prepare_moe_compute_w2_weights", makePackLast},
  };
}

} // namespace tt::ttnn
