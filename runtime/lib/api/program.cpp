//===- program.cpp - exported programs of a library -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttnn/program.hpp"

#include "tt/runtime/runtime.h"

#include <cstdio>
#include <filesystem>

namespace tt::ttnn {

std::string beside(std::string_view source, std::string_view file) {
  return (std::filesystem::path(source).parent_path() / file).string();
}

const Tensor &input(const std::vector<Tensor> &inputs, size_t index) {
  if (index >= inputs.size())
    throw Error("the program reads input " + std::to_string(index) + ", " + std::to_string(inputs.size()) +
                " were given");
  return inputs[index];
}

namespace {

/// "f32 [2, 32], first values 0.5 0.25 ..."
std::string summary(const Tensor &tensor, DataType dtype) {
  constexpr int64_t shown = 8;
  const Tensor host = runtime::castTensor(tensor, DataType::Float32);
  std::string text = std::string(toString(dtype)) + " " + toString(host.shape());
  const int64_t count = volume(host.shape());
  const float *values = reinterpret_cast<const float *>(host.data());
  for (int64_t i = 0; i < std::min(count, shown); ++i) {
    char number[32];
    std::snprintf(number, sizeof(number), "%s%.6g", i == 0 ? ": " : " ", static_cast<double>(values[i]));
    text += number;
  }
  return count > shown ? text + " ..." : text;
}

} // namespace

int runPrograms(std::span<const Program> programs, uint32_t rows, uint32_t columns) {
  try {
    sim::MeshOptions options;
    options.rows = rows, options.columns = columns;
    const Device device = runtime::openMeshDevice(options);
    for (const Program &program : programs)
      for (const Tensor &given : program.run(program.createInputs(device), device)) {
        const Tensor result = given.gathered("the result of a program");
        // A value on which all chips agree is one value.
        std::vector<const std::byte *> values;
        for (size_t i = 0; i < result.shards(); ++i)
          values.push_back(result.data(i));
        const std::vector<Tensor> shards = runtime::toHost(result);
        const size_t shown = chipsThatDiffer(values, result.bytes()).empty() ? 1 : shards.size();
        for (size_t i = 0; i < shown; ++i)
          std::printf("%s%s: %s\n", program.name.c_str(), shown == 1 ? "" : (" on chip " + std::to_string(i)).c_str(),
                      summary(shards[i], result.dtype()).c_str());
      }
    runtime::closeMeshDevice(device);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

namespace detail {

void checkCount(const std::string &program, size_t expected, size_t given) {
  if (expected != given)
    throw Error("program '" + program + "' takes " + std::to_string(expected) + " inputs, " + std::to_string(given) +
                " were given");
}

namespace {
std::pair<uint64_t, uint64_t> key(const Tensor &tensor) {
  return {tensor.contents().id, tensor.contents().version.load()};
}
} // namespace

bool isCurrent(const Cached &entry, std::span<const Tensor> arguments, const Device &device) {
  const bool filled = !entry.results.empty() && entry.device == device && entry.arguments.size() == arguments.size();
  if (!filled || !std::ranges::all_of(entry.results, &Tensor::isAllocated))
    return false;
  return std::ranges::equal(arguments, entry.arguments, [](const Tensor &tensor, const auto &known) {
    return tensor.contents().tracked && key(tensor) == known;
  });
}

void keep(Cached &entry, std::span<const Tensor> arguments, const Device &device, std::vector<Tensor> results) {
  entry.arguments.clear();
  for (const Tensor &tensor : arguments)
    entry.arguments.push_back(key(tensor));
  entry.device = device;
  entry.results = std::move(results);
  for (const Tensor &tensor : entry.results)
    tensor.setConstant();
}

} // namespace detail

} // namespace tt::ttnn
