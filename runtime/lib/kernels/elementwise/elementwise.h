//===- elementwise.h - the table of elementwise ops ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A row is an op's name and its expression (ttmlir/scalars/Functions.h) as a function over a run of values, one variant
// in f32 and, if the op is exact on integers, one in int64. Runs are short enough to stay in cache, so the runs of a
// chain of ops can follow one another before memory is accessed again. The caller handles storage conversion,
// broadcasting, rounding and threads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/scalars.h"
#include "tt/ttnn/kernel.h"

#include <array>

namespace tt::ttnn {

using scalars::Domain;
using Scalars = scalars::Attributes;
constexpr int maxElementwiseIns = scalars::maxOperands;

/// out[j] = f(ins[0][j], ...) for j < n; `out` may be one of `ins`.
template <class T> using Run = void (*)(const T *const *ins, T *out, size_t n, const Scalars &scalars);

struct ElementwiseRow {
  std::string_view name; // "ttnn.add"; rows without "ttnn." are no ops: special cases, and activations of others
  int ins;
  Run<float> f; // nullptr: integers only
  Run<float>
      rounded;    // rounded to bf16, maybe with fewer steps (the same for bf16 operands); nullptr: the caller rounds
  Run<int64_t> i; // nullptr: integers are computed as f32
  Domain domain = Domain::Operands;
  std::array<std::string_view, 2> scalars{}; // attribute names
};

std::span<const ElementwiseRow> elementwiseRows();
/// The row of a name, or nullptr.
const ElementwiseRow *findElementwise(std::string_view name);
/// The row of an op or activation by its name without "ttnn.", or nullptr.
const ElementwiseRow *findActivation(std::string_view name);
/// The row of an op, or of a function that only kernels apply to tiles, by its name, or nullptr.
const ElementwiseRow *findTileFunction(std::string_view name);
/// The kernel of the row with the name of the call's op.
std::unique_ptr<Kernel> makeElementwise(const OpCall &call);
/// The kernel of a row in f32.
std::unique_ptr<Kernel> makeElementwise(const OpCall &call, const ElementwiseRow &row);

/// Whether an elementwise kernel may write a result in the memory of an operand that nothing needs afterwards: every
/// element is read before the one that replaces it is written, on any number of threads. False for other kernels.
bool mayOverwrite(const Kernel &kernel, size_t operand, size_t result);

//===----------------------------------------------------------------------===//
// Chains: several ops in one pass over memory
//===----------------------------------------------------------------------===//

/// Whether a kernel is one elementwise op that can be a link of a chain.
bool isChainable(const Kernel &kernel);
/// Elements of its result; links of a chain have the same number.
size_t chainElements(const Kernel &kernel);
/// Returns the kernel's contribution to the length of a chain, which is at most maxChainSlots.
size_t chainSlots(const Kernel &kernel);
inline constexpr size_t maxChainSlots = 24;

struct Link {
  const Kernel *kernel;
  std::vector<int> ins; // of each operand: its number among the chain's, or ~ the number of an earlier link
  bool stored;          // its result is one of the chain's, which are in the order of the links
};
/// The kernel of links in an executable order. Its results have the same bits as those of the links.
std::unique_ptr<Kernel> chainOf(std::span<const Link> links);

} // namespace tt::ttnn
