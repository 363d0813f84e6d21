//===- control.cpp - loops and branches of emitted programs ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttnn/control.hpp"
#include "core/selector.h"
#include "tt/interrupt.h"

#include <unordered_set>

namespace tt::ttnn {
namespace {

/// The same values in separate memory of the same kind. `what` names them in memory reports.
Tensor copied(const Tensor &tensor, const char *what) {
  Tensor host = tensor.clone();
  if (!tensor.isOnDevice())
    return host;
  const Device &device = tensor.device();
  auto allocation = device->allocate(sim::footprint(device->chip(), tensor.spec()), what);
  return host.view(tensor.spec(), 0, device, std::move(allocation));
}

} // namespace

double detail::selector(const Tensor &tensor, const char *what) {
  checkInterrupt();
  const Tensor everywhere = tensor.gathered(what); // all ranks decide the same
  std::vector<const std::byte *> shards;
  for (size_t i = 0; i < everywhere.shards(); ++i)
    shards.push_back(everywhere.data(i));
  return selectorOf(tensor.spec(), shards, what);
}

std::vector<Tensor> detail::owned(std::vector<Tensor> results, std::span<const Tensor> inputs) {
  std::unordered_set<uint64_t> taken;
  for (const Tensor &input : inputs)
    taken.insert(input.id());
  for (Tensor &result : results)
    if (!taken.insert(result.id()).second)
      result = copied(result, "a result of a loop or a branch");
  return results;
}

void detail::checkResults(const char *what, size_t expected, size_t found) {
  if (expected != found)
    throw Error(std::string(what) + ": " + std::to_string(found) + " tensors; expected " + std::to_string(expected));
}

} // namespace tt::ttnn
