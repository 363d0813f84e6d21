//===- eager_check.cpp - check of eager calls against the executor --------===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs every program of the given flatbuffers twice: by the executor, and op by
// op through tt::ttnn::call, as emitted C++ and Python do. Shapes of results
// must be those that the program says, and outputs the same bits. With
// `--time n`, prints how long the best of n runs takes each way.
//
//===----------------------------------------------------------------------===//

#include "tt/runtime/runtime.h"
#include "tt/sim/formats.h"
#include "tt/ttnn/call.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <random>

namespace {

using namespace tt;
using runtime::absentOperand;
using runtime::Binary;
using runtime::Operation;
using runtime::Program;
using ttnn::Tensor;

int problems = 0;

void report(const Binary &binary, const Program &program, const std::string &message) {
  ++problems;
  std::cout << binary.fileName() << ": " << program.name << ": " << message << "\n";
}

/// Small numbers that every op takes; integers are indices of something.
Tensor randomTensor(const TensorSpec &spec, const std::vector<uint32_t> &mesh, std::mt19937 &random) {
  TensorSpec plain = spec;
  plain.dtype = DataType::Float32;
  plain.memory = {};
  plain.layout = Layout::RowMajor;
  const bool isInteger = storageType(spec.dtype) >= StorageType::I32;
  std::vector<Tensor> shards;
  const size_t count = spec.distributed ? mesh[0] * mesh[1] : 1;
  plain.distributed = false;
  for (size_t shard = 0; shard < count; ++shard) {
    Tensor tensor = Tensor::onHost(plain);
    auto *values = reinterpret_cast<float *>(tensor.data());
    for (int64_t i = 0; i < volume(spec.shape); ++i)
      values[i] = isInteger ? static_cast<float>(random() % 2)
                            : static_cast<float>(static_cast<double>(random()) / 0x1p31 - 1.0);
    shards.push_back(runtime::castTensor(tensor, spec.dtype));
  }
  return spec.distributed && count > 1 ? runtime::createMultiDeviceHostTensor(shards, mesh) : shards.front();
}

class Eager {
public:
  Eager(const Binary &binary, const Program &program, const runtime::Device &device)
      : binary(binary), program(program), device(device), prepared(program.operations.size()) {}

  std::vector<Tensor> run(std::vector<Tensor> inputs) {
    std::vector<Tensor> values(program.values.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      values[program.inputs[i]] = std::move(inputs[i]);
    for (size_t op = 0; op < program.operations.size(); ++op)
      runOperation(program.operations[op], prepared[op], values);
    std::vector<Tensor> outputs;
    for (uint32_t output : program.outputs)
      outputs.push_back(values[output]);
    return outputs;
  }

private:
  /// What an emitted program has instead of the op: a call, or values that it read or computed once.
  struct PreparedOp {
    const ttnn::Callable *callable = nullptr;
    std::vector<ttnn::NamedAttribute> attributes;
    std::vector<ttnn::Output> outputs;
    std::vector<Tensor> kept;
  };

  void runOperation(const Operation &operation, PreparedOp &prepared, std::vector<Tensor> &values) {
    const std::string_view name = operation.info->name;
    if (name == "ttnn.deallocate") {
      values[operation.ins.at(0)] = {};
      return;
    }
    if (name == "ttnn.constant") {
      values[operation.outs[0]] = constant(operation, prepared);
      return;
    }
    std::vector<Tensor> operands;
    for (uint32_t in : operation.ins)
      operands.push_back(in == absentOperand ? Tensor() : values[in]);
    std::vector<Tensor> results;
    if (operation.call != Operation::Call::None) {
      results = cached(operation, prepared, operands);
    } else if (prepare(operation, prepared)) {
      results = ttnn::call(*prepared.callable, operands, prepared.attributes, prepared.outputs, device);
    } else {
      return;
    }
    for (size_t i = 0; i < operation.outs.size(); ++i) {
      const TensorSpec &expected = program.spec(operation.outs[i]);
      if (results[i].shape() != expected.shape || results[i].dtype() != expected.dtype)
        report(binary, program,
               std::string(name) + ": result " + std::to_string(i) + " is " + toString(results[i].shape()) + " of " +
                   std::string(toString(results[i].dtype())) + "; the program says " + toString(expected.shape) +
                   " of " + std::string(toString(expected.dtype)));
      values[operation.outs[i]] = results[i];
    }
  }

  bool prepare(const Operation &operation, PreparedOp &prepared) {
    if (prepared.callable)
      return true;
    prepared.callable = ttnn::findCallable(operation.info->name);
    if (!prepared.callable) {
      report(binary, program, std::string(operation.info->name) + ": no function");
      return false;
    }
    for (const auto &attribute : operation.attributes.all())
      if (prepared.callable->function->findOds(attribute.name))
        prepared.attributes.push_back(attribute);
      else if (std::ranges::any_of(operation.info->attributes,
                                   [&](const auto &spec) { return spec.name == attribute.name; }))
        report(binary, program, std::string(operation.info->name) + ": no parameter for " + attribute.name);
    for (uint32_t out : operation.outs) {
      const TensorSpec &spec = program.spec(out);
      prepared.outputs.push_back({spec.dtype, spec.memory, spec.layout});
    }
    return true;
  }

  Tensor constant(const Operation &operation, PreparedOp &prepared) {
    if (!prepared.kept.empty())
      return prepared.kept.front();
    const TensorSpec &spec = program.spec(operation.outs[0]);
    std::span<const std::byte> bytes;
    for (const auto &[name, attribute] : operation.attributes.all())
      if (const auto *found = std::get_if<ttnn::ConstantAttribute>(&attribute.value))
        bytes = found->bytes;
    TensorSpec host = spec;
    host.distributed = false;
    Tensor values = Tensor::onHost(host);
    if (!bytes.empty())
      std::memcpy(values.data(), bytes.data(), bytes.size());
    if (sim::isBlockFormat(spec.dtype) && !bytes.empty()) {
      const auto columns = static_cast<size_t>(spec.shape.empty() ? 1 : spec.shape.back());
      sim::quantiseRows(spec.dtype, reinterpret_cast<uint16_t *>(values.data()), bytes.size() / 2 / columns, columns);
    }
    values.setConstant();
    Tensor tensor = values;
    if (spec.memory.buffer != BufferType::SystemMemory)
      tensor = ttnn::call(*ttnn::findCallable("ttnn.to_device"), {&values, 1}, {},
                          std::vector<ttnn::Output>{{{}, spec.memory, {}}}, device)
                   .front();
    prepared.kept.push_back(tensor);
    return tensor;
  }

  std::vector<Tensor> cached(const Operation &operation, PreparedOp &prepared, const std::vector<Tensor> &arguments) {
    std::vector<Tensor> &results = prepared.kept;
    if (results.empty()) {
      results = Eager(binary, binary.program(operation.callees[0]), device).run(arguments);
      for (const Tensor &result : results)
        result.setConstant();
    }
    return results;
  }

  const Binary &binary;
  const Program &program;
  const runtime::Device &device;
  std::vector<PreparedOp> prepared; // per op
};

template <class F> double best(int times, F f) {
  double least = 1e30;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    least =
        std::min(least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

void checkProgram(const Binary &binary, size_t index, int times) {
  const Program &program = binary.program(index);
  sim::MeshOptions options;
  options.rows = program.meshShape[0];
  options.columns = program.meshShape[1];
  if (binary.systemDesc().arch != Arch::None)
    options.arch = binary.systemDesc().arch;
  const auto device = runtime::openMeshDevice(options);
  std::mt19937 random(17);
  std::vector<Tensor> hosts;
  for (uint32_t input : program.inputs)
    hosts.push_back(randomTensor(program.spec(input), program.meshShape, random));
  const auto placed = [&] {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < hosts.size(); ++i)
      inputs.push_back(runtime::toLayout(hosts[i].clone(), device, runtime::inputSpec(binary, index, i)));
    return inputs;
  };
  Eager eager(binary, program, device);
  // Twice: the second time with kernels that were kept.
  for (int pass = 0; pass < 2; ++pass) {
    const runtime::Tensors expected = runtime::submit(device, binary, index, placed());
    const std::vector<Tensor> found = eager.run(placed());
    for (size_t k = 0; k < expected.size(); ++k) {
      bool same = expected[k].bytes() == found[k].bytes() && expected[k].shards() == found[k].shards();
      for (size_t shard = 0; same && expected[k].bytes() && shard < expected[k].shards(); ++shard)
        same = std::memcmp(expected[k].data(shard), found[k].data(shard), expected[k].bytes()) == 0;
      if (!same)
        report(binary, program, "output " + std::to_string(k) + " differs in pass " + std::to_string(pass));
    }
  }
  if (times > 0) {
    const std::vector<Tensor> inputs = placed();
    double executor = 1e30, calls = 1e30;
    // Pairs, so that both see the same machine.
    for (int i = 0; i < times; ++i) {
      executor = std::min(executor, best(1, [&] { runtime::submit(device, binary, index, inputs); }));
      calls = std::min(calls, best(1, [&] { eager.run(inputs); }));
    }
    std::cout << binary.fileName() << ": " << program.name << ": executor " << executor << " ms, calls " << calls
              << " ms, ratio " << calls / executor << "\n";
  }
}

} // namespace

int main(int argc, char **argv) {
  int times = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--time" && i + 1 < argc) {
      times = std::atoi(argv[++i]);
      continue;
    }
    try {
      const Binary binary = Binary::load(argv[i]);
      for (size_t program = 0; program < binary.programs().size(); ++program)
        if (!binary.program(program).isPrivate)
          checkProgram(binary, program, times);
    } catch (const std::exception &error) {
      ++problems;
      std::cout << argv[i] << ": " << error.what() << "\n";
    }
  }
  return problems ? 1 : 0;
}
