//===- Shapes.h - the shape rules of all ops --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One rule for each family of ops, in TTIR and TTNN: the requirements on operands and attributes, and the shapes of the
// results. Dialects (inference and verifiers), the runtime (loader and calls) and the `ttnn` API use the same rule.
// Standard C++ only: no LLVM, nothing of the runtime.
//
// The caller describes an op as an `Op`: operands by the names of the dialect, attributes by name, the declared results
// and the mesh if they are known. A rule trusts nothing in this description.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_SHAPES_SHAPES_H
#define TTMLIR_SHAPES_SHAPES_H

#include "ttmlir/shapes/Factors.h"
#include "ttmlir/shapes/Sizes.h"

#include <optional>
#include <string>
#include <string_view>

namespace tt::shapes {

enum class Element : unsigned char { Float, Integer, Other };

/// A value that an op takes. A variadic operand is several with the same name.
struct Operand {
  enum class State : unsigned char { Absent, Present, Unusable }; // unusable: no tensor of static shape
  std::string_view name;
  State state = State::Absent;
  View shape = {};
  Element element = Element::Other;
};

struct Attribute {
  enum class Kind : unsigned char { Absent, Boolean, Integer, Integers, Text, Other };
  Kind kind = Kind::Absent;
  int64_t integer = 0; // or boolean
  Sizes integers = {};
  int64_t columns = 0; // of integers that are rows of as many; 0: a plain list, -1: neither
  std::string_view text = {};

  static Attribute of(bool value) { return {Kind::Boolean, value}; }
  static Attribute of(int64_t value) { return {Kind::Integer, value}; }
  static Attribute of(std::string_view value) { return {Kind::Text, 0, {}, 0, value}; }
  static Attribute of(View values, int64_t columns = 0) { return {Kind::Integers, 0, Sizes(values), columns}; }
  static Attribute other() { return {Kind::Other}; }
};

/// Marks an axis of the mesh that splits no dimension.
inline constexpr int64_t noDimension = INT64_MIN;

/// The properties of an op that shapes depend on.
class Op {
public:
  std::span<const Operand> operands;
  std::span<const View> declared; // shapes of the results, where they are declared
  /// Sizes of the mesh, or nothing if it is not known.
  virtual View mesh() const { return {}; }

  /// Returns an attribute by its name in the dialect; strings and symbols of enums are texts. Fields of configs have a
  /// path: "mapper_config.placements" (the dimension that each mesh axis splits, or noDimension),
  /// "composer_config.dims", "….mesh_shape_override", "flattened_compat_info.batch_size", …; and "value.shape" of a
  /// constant.
  virtual Attribute attribute(std::string_view name) const = 0;
  /// The values of a small integer operand if they are known.
  virtual std::optional<Sizes> values(std::string_view operand) const { return std::nullopt; }

  // For messages.
  virtual std::string text(View shape) const;
  /// "is 'tensor<2xf32>'"
  virtual std::string describe(const Operand &operand) const;
  /// Returns the name of an operand or attribute in the source dialect, quoted if the text needs it.
  virtual std::string quoted(std::string_view name) const { return "'" + std::string(name) + "'"; }

protected:
  ~Op() = default;
};

using Results = Small<Sizes, 3>;

/// The reason why an op is invalid: `text` describes an operand or attribute, or, without a name, the op.
struct Failure {
  enum class Subject : unsigned char { Op, Operand, Attribute };
  Subject subject = Subject::Op;
  std::string name, text;
};

struct Rule {
  std::string_view name;
  void (*function)(const Op &op, Results &results);
  bool broadcasts = false; // an elementwise op: a number can stand for an operand
};

using ::ttmlir::shapes::Factors;
/// Computes how dimensions are related, in an op that its shape rule accepts. Returns false if nothing is known.
using FactorRule = bool (*)(const Op &op, Factors &factors);

/// Finds a rule by the op's name; nullptr if there is none.
const Rule *findRule(std::string_view name);
/// The factors of ops of that shape rule, or nullptr.
FactorRule findFactorRule(std::string_view name);
/// All rules, sorted by name.
std::span<const Rule> rules();

/// The shapes of the results, or the error. Declared results provide sizes that the rule leaves open (they depend on an
/// unknown mesh, or on values).
std::optional<Failure> infer(const Rule &rule, const Op &op, Results &results);
/// Returns the factors that relate dimensions of present operands and of declared results, if there are any.
std::optional<Factors> inferFactors(std::string_view rule, const Op &op);

} // namespace tt::shapes

#endif // TTMLIR_SHAPES_SHAPES_H
