//===- experts.cpp - tokens on their way to experts and back --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Experts are on the devices of a mesh: expert_mapping states which device has which, and a device numbers its own in
// their order. Tokens are split over the devices of a group, those along 'cluster_axis'.
//
//===----------------------------------------------------------------------===//

#include "kernels/routing/places.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

constexpr int64_t none = Places::none;

int64_t along(const OpCall &call) { return call.attributes.get<int64_t>("cluster_axis"); }

//===----------------------------------------------------------------------===//
// all_to_all_dispatch
//===----------------------------------------------------------------------===//

class DispatchKernel final : public MeshKernel {
public:
  explicit DispatchKernel(const OpCall &call)
      : groups(groupsOf(call, along(call))), mapping(call.outs.size() == 3 ? 3 : 2), places(call, mapping),
        indices(call, 1), shape(operand(call, 0).shape), chosen(operand(call, 1).shape[3]) {
    for (uint32_t i = 0; i < call.outs.size(); ++i) {
      copies.emplace_back(operand(call, i).dtype, result(call, i).dtype);
      widths.push_back(operand(call, i).shape[3]);
    }
  }

  std::vector<Need> needs() const override {
    std::vector<Need> all;
    for (uint32_t operand = 0; operand < copies.size(); ++operand)
      std::ranges::copy(needsOf(groups, operand), std::back_inserter(all));
    return all;
  }

  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    const int64_t tokens = shape[0] * shape[1] * shape[2];
    for (const auto &group : groups)
      for (size_t to : group) {
        if (!chips.has(to))
          continue;
        const std::vector<int64_t> own = places.onDevice(ins, to);
        for (size_t rank = 0; rank < group.size(); ++rank) {
          const size_t from = group[rank];
          const int64_t first = static_cast<int64_t>(rank) * tokens;
          for (size_t i = 1; i < copies.size(); ++i)
            put(i, on(ins[i], from), 0, outs[i][to], first, tokens);
          for (int64_t token = 0; token < tokens; ++token)
            if (isFor(own, on(ins[1], from), token))
              put(0, on(ins[0], from), token, outs[0][to], first + token, 1);
            else if (widths[0])
              std::memset(outs[0][to] + bytesOf(0, first + token), 0, bytesOf(0, 1));
        }
      }
  }

private:
  bool isFor(const std::vector<int64_t> &own, const std::byte *of, int64_t token) const {
    bool found = false; // all numbers are looked at, so that a wrong one never depends on the others
    for (int64_t k = 0; k < chosen; ++k)
      found |= own[static_cast<size_t>(indices.at(of, token * chosen + k, places.experts))] != none;
    return found;
  }
  size_t bytesOf(size_t i, int64_t rows) const { return static_cast<size_t>(rows * widths[i]) * copies[i].toBytes; }
  void put(size_t i, const std::byte *from, int64_t row, std::byte *to, int64_t at, int64_t rows) const {
    if (const int64_t n = rows * widths[i])
      copies[i](from + static_cast<size_t>(row * widths[i]) * copies[i].fromBytes, to + bytesOf(i, at),
                static_cast<size_t>(n));
  }

  std::vector<std::vector<size_t>> groups;
  size_t mapping; // operand
  Places places;
  Positions indices;
  Shape shape;
  int64_t chosen; // experts of a token
  std::vector<RunCopy> copies;
  std::vector<int64_t> widths;
};

std::unique_ptr<MeshKernel> makeDispatch(const OpCall &call) {
  expectElements(call);
  return std::make_unique<DispatchKernel>(call);
}

//===----------------------------------------------------------------------===//
// all_to_all_combine
//===----------------------------------------------------------------------===//

class CombineKernel final : public MeshKernel {
public:
  explicit CombineKernel(const OpCall &call)
      : groups(groupsOf(call, along(call))), places(call, 2), metadata(call, 1), in(operand(call, 0).shape),
        out(result(call).shape), splitsBatch(call.attributes.get<int64_t>("output_shard_dim", 2) == 1),
        copy(operand(call, 0).dtype, result(call).dtype) {}

  std::vector<Need> needs() const override {
    std::vector<Need> all = needsOf(groups);
    std::ranges::copy(needsOf(groups, 2), std::back_inserter(all));
    return all;
  }

  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    const int64_t size = in[3];
    for (const auto &group : groups) {
      std::vector<std::vector<int64_t>> experts;
      for (size_t device : group)
        experts.push_back(places.onDevice(ins, device));
      for (size_t rank = 0; rank < group.size(); ++rank) {
        const size_t to = group[rank];
        if (!chips.has(to))
          continue;
        const int64_t part = static_cast<int64_t>(rank);
        parallelFor(out[1] * out[2], 1 + 4096 / std::max<int64_t>(1, size * out[0]), [&](int64_t begin, int64_t end) {
          for (int64_t token = begin; token < end; ++token) {
            const int64_t batch = token / out[2] + (splitsBatch ? part * out[1] : 0),
                          position = token % out[2] + (splitsBatch ? 0 : part * out[2]),
                          whole = batch * in[2] + position;
            for (int64_t k = 0; k < out[0]; ++k) {
              const auto expert = static_cast<size_t>(metadata.at(on(ins[1], to), whole * out[0] + k, places.experts));
              std::byte *row = outs[0][to] + static_cast<size_t>((k * out[1] * out[2] + token) * size) * copy.toBytes;
              const auto has = std::ranges::find_if(
                  experts, [&](const std::vector<int64_t> &local) { return local[expert] != none; });
              if (has == experts.end()) {
                std::memset(row, 0, static_cast<size_t>(size) * copy.toBytes);
                continue;
              }
              const size_t from = group[static_cast<size_t>(has - experts.begin())];
              copy(on(ins[0], from) +
                       static_cast<size_t>(((*has)[expert] * in[1] * in[2] + whole) * size) * copy.fromBytes,
                   row, static_cast<size_t>(size));
            }
          }
        });
      }
    }
  }

private:
  std::vector<std::vector<size_t>> groups;
  Places places;
  Positions metadata;
  Shape in, out;
  bool splitsBatch;
  RunCopy copy;
};

std::unique_ptr<MeshKernel> makeCombine(const OpCall &call) {
  expectElements(call);
  return std::make_unique<CombineKernel>(call);
}

//===----------------------------------------------------------------------===//
// moe_expert_token_remap
//===----------------------------------------------------------------------===//

/// Devices need nothing of each other, but each has experts of its own.
class RemapKernel final : public MeshKernel {
public:
  explicit RemapKernel(const OpCall &call)
      : places(call, 1), metadata(call, 2), chosen(operand(call, 2).shape[3]), own(result(call).shape[3]),
        tokens(operand(call, 0).shape[1] * operand(call, 0).shape[2]),
        size(call.attributes.get<int64_t>("reduction_size")), copy(operand(call, 0).dtype, result(call).dtype),
        store(storer<float>(result(call, 1).dtype)), scores(result(call).bytes()) {}

  std::vector<Need> needs() const override { return {}; }

  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    for (size_t device = 0; device < outs[0].size(); ++device) {
      if (outs[0].size() > 1 && !chips.has(device))
        continue;
      const std::vector<int64_t> local = places.onDevice(ins, device);
      std::vector<float> reduced(static_cast<size_t>((tokens + size - 1) / size * own), 0.0F);
      if (scores)
        std::memset(outs[0][device], 0, scores);
      for (int64_t token = 0; token < tokens; ++token)
        for (int64_t k = 0; k < chosen; ++k) {
          const int64_t expert = metadata.at(on(ins[2], device), token * chosen + k, places.experts);
          const int64_t number = local[static_cast<size_t>(expert)];
          if (number == none)
            continue;
          copy(on(ins[0], device) + static_cast<size_t>(token * places.experts + expert) * copy.fromBytes,
               outs[0][device] + static_cast<size_t>(token * own + number) * copy.toBytes, 1);
          reduced[static_cast<size_t>(token / size * own + number)] = 1;
        }
      store(reduced.data(), outs[1][device], reduced.size());
    }
  }

private:
  Places places;
  Positions metadata;
  int64_t chosen, own, tokens, size;
  RunCopy copy;
  Store<float> store;
  size_t scores; // bytes
};

std::unique_ptr<MeshKernel> makeRemap(const OpCall &call) {
  expectElements(call);
  return std::make_unique<RemapKernel>(call);
}

} // namespace

std::vector<OpInfo> expertOps() {
  return {
      {"ttnn.all_to_all_combine", nullptr, makeCombine},
      {"ttnn.all_to_all_dispatch", nullptr, makeDispatch},
      {"ttnn.all_to_all_dispatch_metadata", nullptr, makeDispatch},
      {"ttnn.moe_expert_token_remap", nullptr, makeRemap},
  };
}

} // namespace tt::ttnn
