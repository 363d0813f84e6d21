//===- control.hpp - loops and branches of emitted programs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttnn/program.hpp"

namespace tt::ttnn {
namespace detail {

/// The number of a tensor of one element, the same on all chips. Throws Error.
double selector(const Tensor &tensor, const char *what);
/// Results as tensors of their own: those that are one of `inputs`, or that are there twice, are copied, since their
/// owner may let them go.
std::vector<Tensor> owned(std::vector<Tensor> results, std::span<const Tensor> inputs);
/// Throws Error when a function returned another number of tensors.
void checkResults(const char *what, size_t expected, size_t found);

template <size_t count> std::array<Tensor, count> asArray(std::vector<Tensor> tensors) {
  std::array<Tensor, count> made;
  std::move(tensors.begin(), tensors.begin() + count, made.begin());
  return made;
}

template <class Cond, class Body>
std::vector<Tensor> whileLoop(size_t count, Cond *cond, Body *body, const std::vector<Tensor> &inputs,
                              const Device &device) {
  checkResults("while_loop: inputs", count, std::min(inputs.size(), count));
  std::vector<Tensor> values = inputs;
  while (selector(apply(cond, values, device), "the condition of a loop") != 0) {
    std::vector<Tensor> next = asList(apply(body, values, device));
    checkResults("while_loop: the body", count, next.size());
    std::move(next.begin(), next.end(), values.begin());
  }
  values.resize(count);
  return owned(std::move(values), inputs);
}

template <class... Branches>
std::vector<Tensor> switchCase(size_t count, const Tensor &index, const std::vector<Tensor> &inputs,
                               const Device &device, Branches *...branches) {
  const double number = selector(index, "the number of the branch");
  const std::array<std::function<std::vector<Tensor>()>, sizeof...(Branches)> all = {
      [&, branches] { return asList(apply(branches, inputs, device)); }...};
  // What is no branch's number stands for the last.
  const bool isOne = number >= 0 && number < static_cast<double>(all.size());
  std::vector<Tensor> results = all[isOne ? static_cast<size_t>(number) : all.size() - 1]();
  checkResults("switch_case: the branch", count, results.size());
  return owned(std::move(results), inputs);
}

} // namespace detail

/// Runs `body` on its own results while `cond` returns a number that is not 0. Both take all inputs; the first `count`
/// are what the loop carries, and what it returns, the others stay as they are.
template <class Cond, class Body>
Tensor while_loop(Cond *cond, Body *body, const std::vector<Tensor> &inputs, const Device &device = {}) {
  return detail::whileLoop(1, cond, body, inputs, device).front();
}
template <size_t count, class Cond, class Body>
std::array<Tensor, count> while_loop(Cond *cond, Body *body, const std::vector<Tensor> &inputs,
                                     const Device &device = {}) {
  return detail::asArray<count>(detail::whileLoop(count, cond, body, inputs, device));
}

/// What the branch of this number returns for the inputs; a number that none has stands for the last.
template <class... Branches>
  requires(sizeof...(Branches) > 0)
Tensor switch_case(const Tensor &index, const std::vector<Tensor> &inputs, const Device &device,
                   Branches *...branches) {
  return detail::switchCase(1, index, inputs, device, branches...).front();
}
template <size_t count, class... Branches>
  requires(sizeof...(Branches) > 0)
std::array<Tensor, count> switch_case(const Tensor &index, const std::vector<Tensor> &inputs, const Device &device,
                                      Branches *...branches) {
  return detail::asArray<count>(detail::switchCase(count, index, inputs, device, branches...));
}

} // namespace tt::ttnn
