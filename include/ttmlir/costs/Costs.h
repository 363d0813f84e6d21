//===- Costs.h - the cost rules of all ops ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One rule for each op of TTNN: the work that it takes on a chip, and the circular buffers that its kernels keep in L1.
// The optimizer, the search for shardings and the clock of the runtime use the same rule. Standard C++ only: no LLVM,
// nothing of the runtime. docs/cost-model.md describes the rules in words.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_COSTS_COSTS_H
#define TTMLIR_COSTS_COSTS_H

#include "ttmlir/costs/CostModel.h"
#include "ttmlir/costs/PlacedTensor.h"
#include "ttmlir/shapes/Shapes.h"

#include <array>
#include <optional>
#include <string_view>

namespace ttmlir::cost {

/// An op with placed operands and results, as the rules read it.
class Op {
public:
  std::string_view name; // "ttnn.matmul"
  /// The operands in the order of the dialect, without the device. Absent operands are empty, or omitted at the end.
  std::span<const std::optional<PlacedTensor>> ins;
  std::span<const PlacedTensor> outs;
  int phases = 4;                       // of the matrix unit, where no compute config says so
  std::array<int64_t, 2> mesh = {1, 1}; // rows and columns of chips; collectives read it

  /// An attribute by its name in the dialect, or a field: "conv2d_config.activation.op_type". Symbols of enums are
  /// texts.
  virtual ::tt::shapes::Attribute attribute(std::string_view name) const = 0;

  const PlacedTensor *in(size_t index) const { return index < ins.size() && ins[index] ? &*ins[index] : nullptr; }

protected:
  ~Op() = default;
};

/// Ops whose kernels take the same memory layouts.
enum class Family : uint8_t {
  None, // takes no time, or does not run on the chip
  Elementwise,
  Product,
  Convolution,
  Pool,
  Norm, // softmax, too
  Reduction,
  Reshape,
  DataMovement,
  Attention,
  Other
};

inline constexpr std::string_view familyName(Family family) {
  constexpr std::string_view names[] = {"none",      "elementwise", "product",       "convolution", "pool", "norm",
                                        "reduction", "reshape",     "data movement", "attention",   "other"};
  return names[static_cast<size_t>(family)];
}

/// The part of its operands that an op reads.
enum class Traffic : uint8_t {
  None,    // the op takes no time: a view, or bookkeeping of the host
  Shards,  // each operand once; cores read their own shards in place
  Network, // each operand once, over the network: values go to other places
  Own,     // the rule counts it; it depends on where operands lie
};

/// The properties of the chip on which the library's choices depend.
struct Chip {
  int64_t gridRows = 8, gridColumns = 8;
  int64_t usable = 0; // bytes of L1 on each core for tensors and buffers

  int64_t cores() const { return gridRows * gridColumns; }
};

struct Sends;

struct Rule {
  std::string_view op;
  Family family;
  Traffic traffic;
  /// Adds the work other than the traffic, unless the rule has its own traffic.
  void (*work)(const Op &op, Work &work) = nullptr;
  /// Bytes of circular buffers of each core if the library's plan is not known (ttmlir/costs/Plans.h).
  int64_t (*circular)(const Op &op, const Chip &chip) = nullptr;
  /// Adds what a collective sends to other chips (ttmlir/costs/Fabric.h).
  void (*sends)(const Op &op, Sends &sends) = nullptr;
};

/// Returns the rule of an op that has a row, or nullptr.
const Rule *findRule(std::string_view op);
/// The rule of elementwise ops, which have no rows.
extern const Rule elementwise;
/// All rows, sorted by name.
std::span<const Rule> rules();

/// Returns the work of an op on one chip, and the sends of the chip that sends most.
Work workOf(const Rule &rule, const Op &op);
/// Returns the work of reading an operand, for rules without their own traffic.
Work readOf(const Rule &rule, const PlacedTensor &operand, const PlacedTensor &result);
/// Returns the bytes of circular buffers of each core, by the op's plan or by its rule; 0 if there is neither.
int64_t circularBytes(const Rule &rule, const Op &op, const Chip &chip);

} // namespace ttmlir::cost

#endif // TTMLIR_COSTS_COSTS_H
