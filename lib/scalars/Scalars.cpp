//===- Scalars.cpp - functions of single numbers --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/scalars/Scalars.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ttmlir::scalars {
namespace {

template <class F, class T, size_t... I> T apply(const T *x, const Attributes &attributes, std::index_sequence<I...>) {
  if constexpr (requires { F{}(x[I]..., attributes); })
    return static_cast<T>(F{}(x[I]..., attributes));
  else
    return static_cast<T>(F{}(x[I]...));
}

template <class F, class T, int n> constexpr auto function() -> T (*)(const T *, const Attributes &) {
  if constexpr (std::same_as<F, None>)
    return nullptr;
  else
    return [](const T *x, const Attributes &attributes) {
      return apply<F, T>(x, attributes, std::make_index_sequence<n>{});
    };
}

struct MakeFunction {
  template <int n, Precision precision, class F, class D, class I>
  constexpr Function operator()(std::string_view name, Expression<n, precision, F, D, I>,
                                Domain domain = Domain::Operands, std::string_view attribute = {},
                                std::string_view = {}) const {
    return {name,
            n,
            precision != Precision::Approximated,
            attribute.empty(),
            domain,
            function<F, float, n>(),
            function<D, double, n>(),
            function<I, int64_t, n>(),
            function<I, uint64_t, n>()};
  }
};

constexpr std::string_view ofOps = "ttnn.";
constexpr std::string_view plain(std::string_view name) {
  return name.starts_with(ofOps) ? name.substr(ofOps.size()) : name;
}

} // namespace

std::span<const Function> functions() {
  static constexpr auto ops = opFunctions(MakeFunction{});
  static constexpr auto others = otherFunctions(MakeFunction{});
  static constexpr auto all = [] {
    std::array<Function, ops.size() + others.size()> all{};
    std::ranges::copy(others, std::ranges::copy(ops, all.begin()).out);
    return all;
  }();
  return all;
}

const Function *find(std::string_view name) {
  const auto all = functions();
  const auto found = std::ranges::find(all, plain(name), [](const Function &row) { return plain(row.name); });
  return found == all.end() ? nullptr : &*found;
}

} // namespace ttmlir::scalars
