//===- shapes.h - shapes of results ---------------------------------*- C++ -*-===//
//
// The shape rules that functions name: result shapes from operands and
// attributes, one rule a family. They are called with whatever a person typed:
// a rule reads nothing that it has not checked, and its errors name function
// and parameter. What a rule need not know to find the shapes (types, contents
// of configs) is for the kernels to check.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/call.h"

namespace tt::ttnn {

struct ShapeQuery {
  const Callable &callable;
  std::span<const std::optional<TensorSpec>> ins;
  const Attributes &attributes;
  std::span<const uint32_t> mesh;      // [rows, columns]
  std::span<const Tensor> values = {}; // the operands, where they are at hand

  /// "ttnn.sum: dim: message"; the parameter by its name in the dialect.
  [[noreturn]] void fail(std::string_view ods, const std::string &message) const;
  [[noreturn]] void fail(const std::string &message) const;
  /// Of an operand that must be there.
  const Shape &shape(size_t index) const;
  const Shape *optionalShape(size_t index) const;
  int64_t integer(std::string_view ods) const;
  std::optional<int64_t> optionalInteger(std::string_view ods) const;
  bool boolean(std::string_view ods) const;
  const std::vector<int64_t> &integers(std::string_view ods) const;
  /// A dimension given as a value of the parameter, counted from the end when negative.
  size_t dimension(std::string_view ods, int64_t value, size_t rank) const;
  size_t dimension(std::string_view ods, size_t rank) const { return dimension(ods, integer(ods), rank); }
  /// Product of sizes that the parameter leads to.
  int64_t product(std::string_view ods, int64_t a, int64_t b) const;
};

namespace shapes {
#define TTNN_SHAPE_RULE(name) std::vector<Shape> name(const ShapeQuery &query);
#include "ttmlir/Target/TTNN/ShapeRules.inc"
#undef TTNN_SHAPE_RULE
} // namespace shapes

} // namespace tt::ttnn
