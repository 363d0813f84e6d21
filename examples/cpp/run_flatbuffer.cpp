//===- run_flatbuffer.cpp - load and run a TTNN flatbuffer ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of a flatbuffer on a simulated mesh of the shape it was compiled for, with inputs of all ones, and
// prints the outputs' first values, the estimated time on the chip, and the most memory it took.
//
//   run_flatbuffer file.ttnn [program]
//
//===----------------------------------------------------------------------===//

#include <tt/runtime/runtime.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace rt = tt::runtime;

namespace {

size_t programNamed(const rt::Binary &binary, const std::string &name) {
  std::string known;
  for (size_t i = 0; i < binary.programs().size(); ++i) {
    if (binary.program(i).name == name)
      return i;
    known += (i ? ", " : "") + std::string(binary.program(i).name);
  }
  throw tt::Error(binary.fileName() + ": no program named \"" + name + "\"; it has " + known);
}

rt::Tensor ones(const tt::TensorSpec &spec) {
  const std::vector<float> values(static_cast<size_t>(tt::volume(spec.shape)), 1.0f);
  return rt::castTensor(rt::createHostTensor(values.data(), spec.shape, tt::DataType::Float32), spec.dtype);
}

void print(size_t index, const rt::Tensor &output) {
  const auto shards = rt::toHost(output);
  for (size_t d = 0; d < shards.size(); ++d) {
    const auto values = rt::castTensor(shards[d], tt::DataType::Float32);
    const auto *data = reinterpret_cast<const float *>(values.data());
    std::printf("output %zu, device %zu: %s of %s:", index, d, tt::toString(values.shape()).c_str(),
                std::string(tt::toString(output.dtype())).c_str());
    for (int64_t i = 0; i < std::min<int64_t>(tt::volume(values.shape()), 8); ++i)
      std::printf(" %g", static_cast<double>(data[i]));
    std::printf("\n");
  }
}

void run(const std::string &path, const std::string &name) {
  const auto binary = rt::Binary::load(path);
  const size_t index = name.empty() ? 0 : programNamed(binary, name);
  const rt::Program &program = binary.program(index);

  tt::sim::MeshOptions options;
  if (binary.systemDesc().arch != tt::Arch::None)
    options.arch = binary.systemDesc().arch;
  options.rows = program.meshShape[0];
  options.columns = program.meshShape[1];
  const auto device = rt::openMeshDevice(options);

  std::vector<rt::Tensor> inputs;
  for (uint32_t value : program.inputs)
    inputs.push_back(ones(program.spec(value)));
  const auto outputs = rt::submit(device, binary, index, inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    print(i, outputs[i]);

  const auto report = rt::lastRun(device);
  std::printf("%s on %ux%u %s: %.1f us on the chip (estimated), %.1f us here; most memory per bank: L1 %lld, DRAM %lld "
              "bytes\n",
              std::string(program.name).c_str(), options.rows, options.columns,
              std::string(tt::toString(options.arch)).c_str(), report->deviceNs / 1e3,
              static_cast<double>(report->hostNs) / 1e3,
              static_cast<long long>(report->memoryPeak[static_cast<size_t>(tt::sim::Memory::L1)]),
              static_cast<long long>(report->memoryPeak[static_cast<size_t>(tt::sim::Memory::DRAM)]));
  rt::closeMeshDevice(device);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s file.ttnn [program]\n", argv[0]);
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? argv[2] : "");
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
