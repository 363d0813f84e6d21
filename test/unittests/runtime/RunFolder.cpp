//===- RunFolder.cpp - runs every flatbuffer of a folder -------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Loads each .ttnn of a folder and runs its public programs on random inputs: twice as users do, and once with hooks,
// which must give the same bits. An input that an op refuses (an index outside of its table) is no failure. In a
// sanitizer build any report is one. test/python/random_programs/random_modules.py --dump writes such a folder.
//
//   ttrt-run-folder FOLDER [seed]
//
//===----------------------------------------------------------------------===//

#include "tt/runtime/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>

using namespace tt;

namespace {

/// A value for each chip that has its own.
runtime::Tensor randomInput(const runtime::Program &program, uint32_t value, std::mt19937 &random) {
  TensorSpec spec = program.spec(value);
  spec.layout = Layout::RowMajor;
  spec.memory = {};
  const DataType dtype = spec.dtype;
  const bool isInteger = dtype >= DataType::UInt32;
  spec.dtype = DataType::Float32;
  const auto tensor = runtime::Tensor::onHost(spec, spec.distributed ? program.meshShape : std::vector<uint32_t>());
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::uniform_int_distribution<int> whole(0, 4);
  for (size_t shard = 0; shard < tensor.shards(); ++shard) {
    auto *values = reinterpret_cast<float *>(tensor.data(shard));
    std::generate_n(values, volume(spec.shape), [&] { return isInteger ? float(whole(random)) : uniform(random); });
  }
  return runtime::castTensor(tensor, dtype);
}

std::vector<std::vector<std::byte>> bytesOf(const runtime::Tensors &tensors) {
  std::vector<std::vector<std::byte>> all;
  for (const runtime::Tensor &tensor : tensors)
    for (size_t shard = 0; shard < tensor.shards(); ++shard)
      all.emplace_back(tensor.data(shard), tensor.data(shard) + tensor.bytes());
  return all;
}

/// "ran", "refused", or what is wrong.
std::string run(const runtime::Binary &binary, size_t index, uint32_t seed) {
  const runtime::Program &program = binary.program(index);
  sim::MeshOptions options;
  options.arch = binary.systemDesc().arch == Arch::None ? Arch::WormholeB0 : binary.systemDesc().arch;
  options.rows = program.meshShape[0];
  options.columns = program.meshShape[1];
  const auto device = runtime::openMeshDevice(options);
  std::mt19937 random(seed);
  std::vector<runtime::Tensor> inputs;
  for (uint32_t value : program.inputs)
    inputs.push_back(randomInput(program, value, random));
  try {
    const auto first = bytesOf(runtime::submit(device, binary, index, inputs));
    if (first != bytesOf(runtime::submit(device, binary, index, inputs)))
      return "the second run gives other bits than the first";
    runtime::Hooks hooks;
    hooks.afterOp = [](const runtime::ProgramContextPtr &context, const runtime::OpContext &op) {
      for (uint32_t out : op.operation().outs)
        if (const auto value = context->read(out))
          context->write(out, *value);
    };
    runtime::setHooks(std::move(hooks));
    const auto observed = bytesOf(runtime::submit(device, binary, index, inputs));
    runtime::clearHooks();
    return first == observed ? "ran" : "an observed run gives other bits";
  } catch (const OpError &error) {
    runtime::clearHooks();
    std::fprintf(stderr, "%s\n", error.what());
    return "refused";
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ttrt-run-folder FOLDER [seed]\n");
    return 2;
  }
  const auto seed = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  try {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
      if (entry.path().extension() == ".ttnn")
        files.push_back(entry.path());
    std::ranges::sort(files);
    std::map<std::string, int> outcomes;
    int wrong = 0;
    for (const auto &file : files) {
      std::string outcome = "ran";
      try {
        const auto binary = runtime::Binary::load(file.string());
        for (size_t i = 0; i < binary.programs().size() && outcome == "ran"; ++i)
          if (!binary.program(i).isPrivate)
            outcome = run(binary, i, seed);
      } catch (const std::exception &error) {
        outcome = error.what();
      }
      if (outcome != "ran" && outcome != "refused") {
        ++wrong;
        std::fprintf(stderr, "%s: %s\n", file.c_str(), outcome.c_str());
        outcome = "wrong";
      }
      ++outcomes[outcome];
    }
    std::printf("%zu files:", files.size());
    for (const auto &[outcome, count] : outcomes)
      std::printf(" %d %s", count, outcome.c_str());
    std::printf("\n");
    return wrong || files.empty() ? 1 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
