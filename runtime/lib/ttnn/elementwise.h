//===- elementwise.h - the table of elementwise ops ---------------*- C++ -*-===//
//
// A row is an op's name and its expression as a function over a run of values,
// one variant in f32 and, where the op is exact on integers, one in int64. Runs
// are short enough to stay in cache, so the runs of a chain of ops can follow
// one another before memory is touched again. Storage conversion, broadcasting,
// rounding and threads belong to the caller.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/kernel.h"

#include <array>

namespace tt::ttnn {

constexpr int maxElementwiseIns = 3;

/// Scalar attributes of an op in both domains.
struct Scalars {
  std::array<float, 2> f{};
  std::array<int64_t, 2> i{};
};

/// out[j] = f(ins[0][j], ...) for j < n; `out` may be one of `ins`.
template <class T> using Run = void (*)(const T *const *ins, T *out, size_t n, const Scalars &scalars);

/// When an op with an int64 variant is computed in integers.
enum class Domain : uint8_t {
  Operands, // when the operands are integers
  Quotient, // when the result is one, too: 1 / 2 is 0.5 as a float
  Select,   // operand 0 is a condition of any type; the rule for the others is that of Operands
};

struct ElementwiseRow {
  std::string_view name; // "ttnn.add"; rows without "ttnn." are special cases of others
  int ins;
  Run<float> f;   // nullptr: integers only
  Run<int64_t> i; // nullptr: integers are computed as f32
  Domain domain = Domain::Operands;
  std::array<std::string_view, 2> scalars{}; // attribute names
};

std::span<const ElementwiseRow> elementwiseRows();
/// The row of a name, or nullptr.
const ElementwiseRow *findElementwise(std::string_view name);

} // namespace tt::ttnn
