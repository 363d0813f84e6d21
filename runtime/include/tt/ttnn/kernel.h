//===- kernel.h - interface of the TTNN kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A kernel is created once, at plan time, for the exact shapes, types and
// attributes of an op, and run many times: what can be looked up, allocated or
// reordered is done when it is created. An op is a row of the registry: its name,
// the function that makes its kernel; arity and attributes are those
// of its definition in ODS (tools/opgen).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/clock.h"
#include "tt/sim/ranks.h"
#include "tt/types.h"
#include "ttmlir/Target/TTNN/Api.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace ttmlir::cost {
struct Rule;
}

namespace tt::ttnn {

struct Attribute;
struct NamedAttribute;

struct EnumAttribute {
  std::string type; // "ttnn.layout"
  std::string symbol;
  int64_t value;
};
struct StructAttribute {
  std::string type; // "ttnn.conv2d_config"
  std::vector<NamedAttribute> fields;
};
/// Row-major values of a constant, in the storage type of the result.
struct ConstantAttribute {
  std::span<const std::byte> bytes;
};
struct ListAttribute {
  std::vector<Attribute> items;
};

struct Attribute {
  std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, ConstantAttribute,
               EnumAttribute, StructAttribute, ListAttribute>
      value;
};
/// A struct and not a pair: std::pair cannot hold a type that holds it.
struct NamedAttribute {
  std::string name;
  Attribute attribute;
};

/// The attributes of one op, by name; cheap to copy. `get` throws OpError naming op and
/// attribute when it is missing or of another type.
class Attributes {
public:
  Attributes() = default;
  Attributes(std::string op, std::vector<NamedAttribute> given)
      : op(std::move(op)), entries(std::make_shared<const std::vector<NamedAttribute>>(std::move(given))) {}
  template <class T> const T *find(std::string_view name) const {
    for (const auto &[key, attribute] : all())
      if (key == name)
        return std::get_if<T>(&attribute.value);
    return nullptr;
  }
  template <class T> const T &get(std::string_view name) const {
    if (const T *value = find<T>(name))
      return *value;
    missing(name);
  }
  template <class T> T get(std::string_view name, T otherwise) const {
    const T *value = find<T>(name);
    return value ? *value : otherwise;
  }
  std::span<const NamedAttribute> all() const {
    return entries ? std::span<const NamedAttribute>(*entries) : std::span<const NamedAttribute>();
  }
  /// Whether these are copies of each other. Others may have the same values.
  bool isCopyOf(const Attributes &other) const { return entries == other.entries; }

private:
  [[noreturn]] void missing(std::string_view name) const;
  std::string op;
  std::shared_ptr<const std::vector<NamedAttribute>> entries; // never changed: copies share them
};

/// The places of constant operands.
class ConstantStore {
public:
  /// A kernel has these in a form of its own and will not look at them again, in no attempt to make it: their memory
  /// may be given back. A large constant is let go piece by piece while it is brought into that form, so that both need
  /// not be there at once; what was let go may be told again.
  virtual void release(std::span<const std::byte> values) const = 0;
  /// Whether a kernel that can do without should keep `bytes` of a form of its own of these values: where somebody else
  /// owns them, as a front end does its parameters, both are there as long as the program.
  virtual bool affords(std::span<const std::byte> values, size_t bytes) const { return true; }
  /// Whether such a kernel should not keep a form of its own yet: the program may run only once, as for a prompt, and
  /// others read the values where they are. It is computed again when the program runs again.
  virtual bool defers(std::span<const std::byte> values) const { return false; }
  /// Whether the memory of these values is given back when every kernel that reads them has a form of its own.
  virtual bool gives(std::span<const std::byte> values) const { return false; }
  /// Tells that a kernel reads the values where they are whenever it runs.
  virtual void readInPlace(std::span<const std::byte> values) const {}

  /// All that the bytes of a form depend on besides the values, and which kernel it is of.
  using Form = std::vector<int64_t>;
  /// The form that another kernel of the program has of the values of this operand, or nullptr.
  virtual std::shared_ptr<std::byte> sharedForm(const std::byte *operand, const Form &form) const { return nullptr; }
  /// Shares a form with kernels that are created later. `operand` is one of constantIns.
  virtual void shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &made) const {}

protected:
  ~ConstantStore() = default;
};

/// The caller of an op: a compiled program, whose products have all four phases unless they say otherwise, or a user of
/// the library, whose products have two in bf16 and one in block formats.
enum class Origin { Program, Library };

/// One op of a program. An absent operand is nullopt.
struct OpCall {
  std::string name;
  std::vector<std::optional<TensorSpec>> ins;
  std::vector<TensorSpec> outs;
  Attributes attributes;
  std::vector<uint32_t> meshShape = {1, 1}; // [rows, columns]
  /// The values of operand i, where they are known when the kernel is created and never change (weights), so that the
  /// kernel can convert them once to the form that it reads; otherwise nullptr. Empty when none is known. They stay
  /// readable as long as the kernel lives, and run() gets the same values.
  std::vector<const std::byte *> constantIns;
  /// The store of constantIns, when there is one: for use while the kernel is created.
  const ConstantStore *constants = nullptr;
  /// Set: computed as the chip does (docs/numerics.md), with the defaults of this caller.
  std::optional<Origin> exact = std::nullopt;
};

/// Values of the operands and results on one device, contiguous, row-major.
struct Buffers {
  std::span<const std::byte *const> ins; // nullptr where the operand is absent
  std::span<std::byte *const> outs;
  std::byte *scratch = nullptr; // Kernel::scratchBytes() bytes, aligned to 64
};

using sim::Cost;

/// An op on one device. `run` is const and may be called from one thread at a
/// time; it uses all threads itself (tt::parallelFor or the kernel library).
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual void run(const Buffers &buffers) const = 0;
  /// The same, for the only time: the operands are not needed when it is done.
  virtual void runOnce(const Buffers &buffers, const ConstantStore &store) const { run(buffers); }
  virtual size_t scratchBytes() const { return 0; }
  /// The operand whose bytes the result is, unchanged (reshape), or -1. run() copies them all the same.
  virtual int alias() const { return -1; }
  /// Returns the offset of the result in that operand, in bytes (slice).
  virtual size_t aliasOffset() const { return 0; }
  /// False when run() never looks at an operand that OpCall::constantIns had, because the kernel keeps a form of its
  /// own: the operand's memory may be given back, and run() gets nullptr for it.
  virtual bool reads(size_t operand) const { return true; }
};

/// An op across the mesh (collectives, distribution): all devices at once.
/// ins[i][d] is operand i on device d; a value that is not distributed has one
/// entry.
class MeshKernel {
public:
  /// The results of device `to` are computed from operand `operand` of device `from`.
  struct Need {
    uint32_t operand;
    size_t from, to;
  };
  /// Need::to: a result that is not distributed, which every rank computes.
  static constexpr size_t everywhere = ~size_t(0);

  virtual ~MeshKernel() = default;
  /// Computes what lies on `chips`, and results that are not distributed. Of other devices, `outs` has null pointers,
  /// and `ins` too unless needs() names them.
  virtual void run(std::span<const std::span<const std::byte *const>> ins,
                   std::span<const std::span<std::byte *const>> outs, const sim::Chips &chips) const = 0;
  /// Returns the data that results of a device need of other devices. Entries for the device itself, and for an operand
  /// that is not distributed, are ignored.
  virtual std::vector<Need> needs() const = 0;
};

/// The exchange of ranks before a mesh kernel runs. All ranks plan alike: each expects what the other sends, in the
/// same order.
struct ExchangePlan {
  struct Part {
    uint32_t operand, chip, rank;
    auto operator<=>(const Part &) const = default;
  };
  /// Sorted by operand, chip and rank, so that both ranks have the same order. A rank gets a shard once, however many
  /// of its chips need it.
  std::vector<Part> sends, receives;
};
/// `isSpread(i)`: shards of operand i lie on the ranks of their chips. What is not spread every rank has.
ExchangePlan planExchange(std::span<const MeshKernel::Need> needs, const sim::Partition &partition,
                          const std::function<bool(uint32_t)> &isSpread);

using api::AttributeKind;
using api::AttributeSpec;

/// A row of the registry: what computes an op. What the op takes is not said here; the registry adds it from ODS.
struct OpInfo {
  std::string_view name;                                     // "ttnn.add"
  std::unique_ptr<Kernel> (*make)(const OpCall &) = nullptr; // throws OpError
  std::unique_ptr<MeshKernel> (*makeMesh)(const OpCall &) = nullptr;
  /// Operands that the kernel also writes, in place (running statistics): their bytes in Buffers::ins must be writable
  /// and the value's own, and what follows in the program sees the new values.
  std::vector<int> writes = {};
  int minIns = 0; // of any number of operands as many must be there
  /// The op computes values, which are rounded where arithmetic is exact. All ops of a family that computes do.
  bool computes = false;
  /// The op reads or writes more than operands and results: files, what is printed, functions of the host. All ops of
  /// such a family do.
  bool effects = false;
  // Of ODS:
  int maxIns = 0;       // -1: any number
  int outs = 1;         // -1: any number
  int optionalOuts = 0; // of the last of them, as many may be absent
  bool draws = false;   // it may give other values in every run
  bool joins = false;   // it makes one tensor of what the chips have; other ops of a mesh give one to each chip
  std::span<const api::Operand> operands = {};
  std::span<const AttributeSpec> attributes = {};
  const ttmlir::cost::Rule *rule = nullptr; // its work on the chip, in lib/costs
};

struct Estimate {
  Cost cost;
  sim::Duration duration;
};
/// Estimates the time of an op on the chip.
Estimate estimateOf(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, Origin origin);

/// Returns the bytes that the card's kernels of an op keep in the L1 of each core while they run, from its base; 0
/// where no rule is known.
int64_t circularBytes(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call);

/// The kernel of an op on one device, with the arithmetic that the call asks for.
std::unique_ptr<Kernel> makeKernel(const OpInfo &info, const OpCall &call);

/// The row of an op, or nullptr.
const OpInfo *findOp(std::string_view name);
/// Every row, sorted by name.
std::span<const OpInfo> allOps();
/// Finds an attribute of the row; nullptr when the op has none of that name.
const AttributeSpec *findAttribute(const OpInfo &info, std::string_view name);
/// Whether equal operands and attributes always give equal results, so that those of constants are constants. Results
/// that differ from device to device are none.
bool isReproducible(const OpInfo &info, std::span<const TensorSpec> results);
/// Checks arity and attributes against the row (throws OpError).
void check(const OpInfo &info, const OpCall &call);

} // namespace tt::ttnn
