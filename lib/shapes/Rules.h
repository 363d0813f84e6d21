//===- Rules.h - what the shape rules share ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A rule stops at the first error by throwing, and `infer` catches it: exceptions do not leave this library.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_SHAPES_RULES_H
#define TTMLIR_LIB_SHAPES_RULES_H

#include "ttmlir/shapes/Shapes.h"

#include <type_traits>

namespace tt::shapes {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The name of an operand or attribute in a message.
struct Name {
  std::string_view name;
};

[[noreturn]] void failWith(Failure failure);

template <class T> void append(const Op &op, std::string &text, const T &part) {
  if constexpr (std::is_same_v<T, Name>)
    text += op.quoted(part.name);
  else if constexpr (std::is_arithmetic_v<T>)
    text += std::to_string(part);
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    text += std::string_view(part);
  else
    text += op.text(part);
}

/// "[1, 2]": numbers that are not a shape.
std::string list(View values);

/// Parts are texts, numbers, shapes and names.
template <class... Parts> std::string message(const Op &op, const Parts &...parts) {
  std::string text;
  (append(op, text, parts), ...);
  return text;
}
template <class... Parts> [[noreturn]] void fail(const Op &op, const Parts &...parts) {
  failWith({Failure::Subject::Op, {}, message(op, parts...)});
}
template <class... Parts> [[noreturn]] void failAttribute(const Op &op, std::string_view name, const Parts &...parts) {
  failWith({Failure::Subject::Attribute, std::string(name), message(op, parts...)});
}
template <class... Parts> [[noreturn]] void failOperand(const Op &op, std::string_view name, const Parts &...parts) {
  failWith({Failure::Subject::Operand, std::string(name), message(op, parts...)});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The operand of that name, which must be there.
const Operand &operand(const Op &op, std::string_view name);
/// Returns an operand, or nullptr where it is absent.
const Operand *optionalOperand(const Op &op, std::string_view name);
/// Operand i of all; it is checked like `operand`.
const Operand &operandAt(const Op &op, size_t index);
/// An operand of exactly that rank.
const Operand &operand(const Op &op, std::string_view name, size_t rank);
inline View shapeOf(const Op &op, std::string_view name) { return operand(op, name).shape; }
inline View shapeOf(const Op &op, std::string_view name, size_t rank) { return operand(op, name, rank).shape; }
/// The first of these names that is an operand of the op.
std::string_view nameOf(const Op &op, std::initializer_list<std::string_view> names);
/// The operand, if there is one, has that shape.
void expectShape(const Op &op, std::string_view name, View expected);
void expectIntegers(const Op &op, const Operand &operand);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t integer(const Op &op, std::string_view name);
std::optional<int64_t> optionalInteger(const Op &op, std::string_view name);
/// False if it is absent.
bool boolean(const Op &op, std::string_view name);
Sizes integers(const Op &op, std::string_view name);
/// Returns an attribute with one integer for each of `count` dimensions.
Sizes integers(const Op &op, std::string_view name, size_t count);
std::optional<Sizes> optionalIntegers(const Op &op, std::string_view name);
/// Requires one of the choices.
void expectChoice(const Op &op, std::string_view name, std::string_view first, std::string_view second);

/// `dim` counted from the front; negative numbers count from the back.
size_t dimension(const Op &op, std::string_view name, int64_t dim, size_t rank);
inline size_t dimension(const Op &op, std::string_view name, size_t rank) {
  return dimension(op, name, integer(op, name), rank);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<int64_t> multiply(int64_t a, int64_t b);
std::optional<int64_t> add(int64_t a, int64_t b);
/// The product of sizes; fails if it does not fit into 64 bits.
int64_t volume(const Op &op, View shape);
/// A size of the result, or an error if it does not fit into 64 bits.
int64_t sizeOr(const Op &op, size_t dimension, std::optional<int64_t> size);
/// Returns the shape that a and b broadcast to.
Sizes broadcast(const Op &op, View a, View b, std::string_view what);
/// The shape with another size of one dimension.
Sizes resized(View shape, size_t dimension, int64_t size);
inline bool equal(View a, View b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
inline int64_t ceilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0); }

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

/// The number of chips along the axis in the attribute (all without one), or nothing if the mesh is not known.
std::optional<int64_t> chipsAlong(const Op &op, std::string_view name);

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// The rule of rearrange, which is in a separate file.
void rearrange(const Op &op, Results &results);

// The rules of each file.
std::span<const Rule> computeRules();
std::span<const Rule> movementRules();
std::span<const Rule> windowRules();
std::span<const Rule> normalizationRules();
std::span<const Rule> attentionRules();
std::span<const Rule> cacheRules();
std::span<const Rule> meshRules();
std::span<const Rule> routingRules();
std::span<const Rule> trainingRules();

} // namespace tt::shapes

#endif // TTMLIR_LIB_SHAPES_RULES_H
