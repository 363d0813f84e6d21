//===- running.h - runs prepared calls --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/callable.h"
#include "core/mesh.h"
#include "core/panels/packing.h"
#include "tt/fork.h"
#include "tt/sim/clock.h"

#include <mutex>

namespace tt::ttnn {

/// A call with its kernel and the descriptions of its results.
struct PreparedCall {
  std::vector<uint64_t> key; // operands and attributes, which the cache compares
  /// Descriptions of operands live as long as the kernels that were created for them, so that no other description gets
  /// their address meanwhile.
  std::vector<std::shared_ptr<const Tensor::Description>> ins;

  struct Result {
    std::shared_ptr<const Tensor::Description> description;
    sim::Footprint footprint; // on the device
  };
  std::vector<Result> results;
  std::shared_ptr<const sim::Partition> partition; // of the device, or of operands on the host
  ExchangePlan exchange;                           // before the kernel of a mesh runs
  std::optional<sim::Label> label;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<MeshKernel> mesh;
  std::optional<PacksOperand::Packing> packing; // that the kernel does in every run
  int alias = -1;                               // the operand that the result is a view of
  bool reproducible = false;
  sim::Duration duration;
  std::vector<std::shared_ptr<std::byte>> constants; // that the kernel may hold on to
  ForkAware<std::mutex> running;                     // a kernel runs once at a time
};

/// Tensors to which results are written; `parameter`: their name for the caller.
struct Into {
  std::span<const Tensor> tensors;
  std::string_view parameter;
};

/// The device of the operands; they must not be on different ones.
Device deviceOf(const Callable &callable, std::span<const Tensor> operands, const Device &given);
/// A kernel of one device reads one shard of each operand; results on a device have a shard for each of its chips.
void checkDistribution(const Callable &callable, const PreparedCall &prepared, std::span<const Tensor> operands,
                       const Device &device);
/// Checks that results may be written to these tensors.
void checkInto(const Callable &callable, const PreparedCall &prepared, const Into &into, const Device &device);
/// Runs a prepared call. Recorded results are not views of operands, because a trace writes each of them again.
std::vector<Tensor> runPrepared(PreparedCall &prepared, std::span<const Tensor> operands, const Device &device,
                                const Into *into, bool recorded);

} // namespace tt::ttnn
