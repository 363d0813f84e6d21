//===- MetalSamples.h - values for tests of metal programs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "MetalBuilder.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace tt::test {

/// Values of both signs, with what arithmetic treats apart at the front.
inline std::vector<float> samples(size_t n, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-4, 4);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {std::nanf(""), infinity, -infinity, -0.0f, 0.0f, 1e-40f, 88.0f, -88.0f, 3.4e38f};
  while (values.size() < n)
    values.push_back(uniform(random));
  values.resize(n);
  return values;
}

inline runtime::Tensor sampled(const Shape &shape, DataType dtype, uint32_t seed = 1) {
  return runtime::castTensor(tensor(samples(static_cast<size_t>(volume(shape)), seed), shape), dtype);
}

/// What the TTNN ops of these names, one after another, make of the inputs.
inline runtime::Tensor viaTtnn(const std::vector<std::string> &ops, const std::vector<runtime::Tensor> &inputs,
                               std::optional<DataType> outType = std::nullopt) {
  ProgramBuilder builder;
  std::vector<uint32_t> values;
  for (const auto &input : inputs)
    values.push_back(builder.input(hostSpec(input.shape(), input.dtype())));
  for (size_t i = 0; i < ops.size(); ++i)
    values = {builder.op(ops[i].c_str(), values,
                         hostSpec(inputs[0].shape(), i + 1 == ops.size() && outType ? *outType : inputs[0].dtype()))};
  const auto device = runtime::openMeshDevice();
  return runtime::submit(device, builder.load(values), 0, inputs)[0];
}

inline void expectSameBits(const runtime::Tensor &found, const runtime::Tensor &expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  ASSERT_EQ(found.dtype(), expected.dtype());
  const size_t size = storageBytes(found.dtype());
  for (size_t i = 0; i < found.bytes(); i += size)
    ASSERT_EQ(std::memcmp(found.data() + i, expected.data() + i, size), 0)
        << "element " << i / size << ": " << floats(found)[i / size] << " and " << floats(expected)[i / size];
}

inline runtime::Tensor runMetal(const runtime::Binary &binary, const std::vector<runtime::Tensor> &inputs) {
  const auto device = runtime::openMeshDevice();
  return runtime::submit(device, binary, 0, inputs)[0];
}

} // namespace tt::test
