//===- shapes.h - calls as the shape rules see them -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The rules are in lib/shapes; each op's row in Api.def names its rule.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"
#include "ttmlir/Target/TTNN/Api.h"
#include "ttmlir/shapes/Shapes.h"

namespace tt::ttnn {

/// An op, its rule, and the names of its operands; the object stays valid.
struct ShapeRule {
  const api::Function *function;
  const shapes::Rule *rule;
  std::vector<std::string_view> operands; // in the order of the dialect
  bool variadic;                          // the last operand is any number
};
/// Finds the rule of an op of Api.def; nullptr for other ops.
const ShapeRule *findShapeRule(const OpInfo &info);

/// An attribute in the form that the rules of lib/shapes and lib/costs read: by name, or a field of a struct as
/// "config.field".
shapes::Attribute attributeOf(const Attributes &attributes, std::string_view name);

/// A call, or the known part of one.
class CallOp : public shapes::Op {
public:
  CallOp(const ShapeRule &rule, std::span<const std::optional<TensorSpec>> ins, const Attributes &attributes,
         std::span<const uint32_t> mesh);
  /// Describes a call whose results are known.
  CallOp(const ShapeRule &rule, const OpCall &call);
  CallOp(const CallOp &) = delete;

  shapes::Attribute attribute(std::string_view name) const override;
  shapes::View mesh() const override { return meshShape; }
  std::string text(shapes::View shape) const override;
  std::string describe(const shapes::Operand &operand) const override;

private:
  const Attributes &attributes;
  shapes::Small<shapes::Operand, 4> all;
  shapes::Small<DataType, 4> types; // of `all`
  shapes::Small<shapes::View, 3> results;
  shapes::Sizes meshShape;
};

/// Checks that the op with its operands and attributes is valid, and that its results have the inferred shapes. Throws
/// OpError.
void checkShapes(const OpInfo &info, const OpCall &call);

} // namespace tt::ttnn
