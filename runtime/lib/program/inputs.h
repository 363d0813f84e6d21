//===- inputs.h - program inputs --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/plan.h"

namespace tt::runtime {

/// `bound`: the inputs with the program's data types; `moved[i]`: input i takes memory on the device during the run.
/// `written`: per value, as in a plan. Throws Error or DeviceError that states which input the program does not take.
void bindInputs(const Program &program, const Device &device, const std::vector<bool> &written,
                std::span<const Tensor> inputs, std::vector<Tensor> &bound, std::vector<bool> &moved);
/// The inputs from which calls of other programs are computed.
std::vector<Argument> argumentsOf(const Program &program, const Device &device, const std::vector<bool> &written,
                                  std::span<const Tensor> inputs);
/// A shared buffer may be passed for every shard.
inline size_t shardOf(const Tensor &tensor, uint32_t shard) { return tensor.shards() == 1 ? 0 : shard; }
/// A hash of the values of a tensor.
uint64_t hashOf(const Tensor &tensor);
/// Distinguishes files: a hash, and the size. Only a sample of the weights of large files is read.
std::string identityOf(const BinaryImage &image);

} // namespace tt::runtime
