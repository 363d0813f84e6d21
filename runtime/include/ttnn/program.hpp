//===- program.hpp - exported programs of a library -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A program is a function of tensors, and of the device if it makes tensors of
// its own:
//
//   ttnn::Tensor model(ttnn::Tensor image, ttnn::Device device);
//   std::vector<ttnn::Tensor> create_inputs_for_model(ttnn::Device device);
//   TTNN_PROGRAM(model, create_inputs_for_model)
//
// Instead of its tensors it may take a list of them. Programs for more than one
// device say so: TTNN_MESH(2, 4).
//
// Who loads the library finds its programs through `ttnn_programs`, the one
// symbol that it exports for that; `ttnn::run_programs` runs them all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/tensor.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tt::ttnn {

using Device = std::shared_ptr<sim::MeshDevice>;

inline constexpr size_t anyNumber = ~size_t{0};

struct Program {
  std::string name;
  size_t inputs; // tensors that it takes, `anyNumber` for one that takes a list
  std::function<std::vector<Tensor>(std::span<const Tensor>, const Device &)> run;
  std::function<std::vector<Tensor>(const Device &)> createInputs;
};

/// One of the tensors of a program that takes them as a list. Throws Error.
const Tensor &input(const std::vector<Tensor> &inputs, size_t index);

/// A list of tensors, as functions take it.
template <class... Tensors> std::vector<Tensor> tensors(const Tensors &...each) { return {each...}; }

/// The path of a file that lies next to a source file: `beside(__FILE__, "weights.tensorbin")`.
std::string beside(std::string_view source, std::string_view file);

/// Runs programs one after the other with the inputs that they make, on a mesh of its own, and prints what they return.
/// The result is that of main: 0, or 1 after an error, which is printed.
int runPrograms(std::span<const Program> programs, uint32_t rows, uint32_t columns);

namespace detail {

/// Everything here is hidden, so that each library has its own.
#define TTNN_OWN inline __attribute__((visibility("hidden")))

TTNN_OWN std::vector<Program> &programs() {
  static std::vector<Program> all;
  return all;
}

/// Rows and columns of the mesh that the programs are for.
TTNN_OWN std::array<uint32_t, 2> &mesh() {
  static std::array<uint32_t, 2> shape = {1, 1};
  return shape;
}

template <class... Arguments> struct FirstIsList : std::false_type {};
template <class First, class... Rest>
struct FirstIsList<First, Rest...> : std::is_same<std::decay_t<First>, std::vector<Tensor>> {};

template <class... Arguments> struct LastIsDevice : std::false_type {};
template <class First> struct LastIsDevice<First> : std::is_same<std::decay_t<First>, Device> {};
template <class First, class... Rest>
  requires(sizeof...(Rest) > 0)
struct LastIsDevice<First, Rest...> : LastIsDevice<Rest...> {};

template <class... Arguments>
inline constexpr size_t tensorCount =
    FirstIsList<Arguments...>::value ? anyNumber : sizeof...(Arguments) - (LastIsDevice<Arguments...>::value ? 1 : 0);

template <class Result, class... Arguments>
Result applyToEach(Result (*function)(Arguments...), std::span<const Tensor> inputs, const Device &device) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr (LastIsDevice<Arguments...>::value)
      return function(inputs[I]..., device);
    else
      return function(inputs[I]...);
  }(std::make_index_sequence<tensorCount<Arguments...>>());
}

/// Calls a program's function with as many tensors as it has parameters for them.
template <class Result, class... Arguments>
Result apply(Result (*function)(Arguments...), std::span<const Tensor> inputs, const Device &device) {
  if constexpr (FirstIsList<Arguments...>::value) {
    std::vector<Tensor> list(inputs.begin(), inputs.end());
    if constexpr (LastIsDevice<Arguments...>::value)
      return function(std::move(list), device);
    else
      return function(std::move(list));
  } else {
    return applyToEach(function, inputs, device);
  }
}

inline std::vector<Tensor> asList(Tensor tensor) { return {std::move(tensor)}; }
inline std::vector<Tensor> asList(std::vector<Tensor> tensors) { return tensors; }

/// Throws Error.
void checkCount(const std::string &program, size_t expected, size_t given);

template <class Result, class... Arguments>
bool add(std::string name, Result (*function)(Arguments...),
         std::function<std::vector<Tensor>(const Device &)> inputs) {
  constexpr size_t expected = tensorCount<Arguments...>;
  auto run = [name, function](std::span<const Tensor> given, const Device &device) {
    if constexpr (expected != anyNumber)
      checkCount(name, expected, given.size());
    return asList(apply(function, given, device));
  };
  programs().push_back({std::move(name), expected, run, std::move(inputs)});
  return true;
}

template <class Function> std::function<std::vector<Tensor>(const Device &)> inputBuilder(Function *function) {
  return [function](const Device &device) { return asList(apply(function, {}, device)); };
}

/// Results that were kept, and of which arguments.
struct Cached {
  std::vector<std::pair<uint64_t, uint64_t>> arguments; // id and version of the contents
  Device device;
  std::vector<Tensor> results;
};
/// Whether the entry has the results for these arguments.
bool isCurrent(const Cached &entry, std::span<const Tensor> arguments, const Device &device);
/// Notes results, which are constant from now on.
void keep(Cached &entry, std::span<const Tensor> arguments, const Device &device, std::vector<Tensor> results);

TTNN_OWN ForkAware<std::mutex> &cacheMutex() {
  static ForkAware<std::mutex> mutex;
  return mutex;
}
TTNN_OWN std::unordered_map<const void *, Cached> &cache() {
  static std::unordered_map<const void *, Cached> entries;
  return entries;
}

template <class Function>
std::vector<Tensor> loadCached(Function *function, const std::vector<Tensor> &arguments, const Device &device) {
  const std::lock_guard lock(cacheMutex());
  Cached &entry = cache()[reinterpret_cast<const void *>(function)];
  if (!isCurrent(entry, arguments, device))
    keep(entry, arguments, device, asList(apply(function, arguments, device)));
  return entry.results;
}

} // namespace detail

/// What `function` returns for these tensors: evaluated when it is called with them for the first time, then kept until
/// it is called with others, or with values that were written since. Its results are constant.
template <class Function>
Tensor load_cached(Function *function, const std::vector<Tensor> &arguments, const Device &device = {}) {
  return detail::loadCached(function, arguments, device).front();
}
/// The same for a function with several results.
template <size_t count, class Function>
std::array<Tensor, count> load_cached(Function *function, const std::vector<Tensor> &arguments,
                                      const Device &device = {}) {
  const std::vector<Tensor> results = detail::loadCached(function, arguments, device);
  std::array<Tensor, count> found;
  std::copy_n(results.begin(), std::min(count, results.size()), found.begin());
  return found;
}

/// On a mesh of this shape; without one on that of TTNN_MESH.
TTNN_OWN int run_programs(uint32_t rows = 0, uint32_t columns = 0) {
  return runPrograms(detail::programs(), rows ? rows : detail::mesh()[0], columns ? columns : detail::mesh()[1]);
}

#undef TTNN_OWN

} // namespace tt::ttnn

/// Changed whenever what `ttnn_programs` gives means something else.
#define TTNN_PROGRAMS_VERSION 2
extern "C" __attribute__((visibility("default"), weak))
const std::vector<::tt::ttnn::Program> *ttnn_programs(int version) {
  return version == TTNN_PROGRAMS_VERSION ? &::tt::ttnn::detail::programs() : nullptr;
}
/// Rows and columns of the mesh that the library's programs are for.
extern "C" __attribute__((visibility("default"), weak)) const uint32_t *ttnn_mesh() {
  return ::tt::ttnn::detail::mesh().data();
}

/// Says that the programs of this library run on a mesh of several devices.
#define TTNN_MESH(rows, columns)                                                                                       \
  [[maybe_unused]] static const bool ttnn_mesh_is_known = (::tt::ttnn::detail::mesh() = {rows, columns}, true);

/// Offers a function, and the one that makes inputs for it, as a program of this library.
#define TTNN_PROGRAM(function, inputs)                                                                                 \
  [[maybe_unused]] static const bool ttnn_program_##function =                                                         \
      ::tt::ttnn::detail::add(#function, &function, ::tt::ttnn::detail::inputBuilder(&inputs));
