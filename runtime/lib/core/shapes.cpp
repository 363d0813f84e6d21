//===- shapes.cpp - calls as the shape rules see them -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/shapes.h"

#include "tensor/storage.h"

#include <limits>
#include <map>

namespace tt::ttnn {

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

const ShapeRule *findShapeRule(const OpInfo &info) {
  static const std::map<std::string_view, ShapeRule> all = [] {
    std::map<std::string_view, ShapeRule> rows;
    for (const api::Function &function : api::functions()) {
      const OpInfo *op = findOp(function.op);
      if (!op)
        continue;
      const shapes::Rule *rule = shapes::findRule(function.shapeRule);
      if (!rule)
        throw Error("Api.def names the shape rule \"" + std::string(function.shapeRule) + "\", which there is not");
      ShapeRule row{&function, rule, {}, false};
      for (const api::Parameter &parameter : function.parameters)
        if (parameter.role == api::Role::Value && !findAttribute(*op, parameter.ods)) {
          row.operands.push_back(parameter.ods);
          row.variadic = parameter.variadic;
        }
      rows.emplace(function.op, std::move(row));
    }
    return rows;
  }();
  const auto it = all.find(info.name);
  return it == all.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

CallOp::CallOp(const ShapeRule &rule, std::span<const std::optional<TensorSpec>> ins, const Attributes &attributes,
               std::span<const uint32_t> mesh)
    : attributes(attributes) {
  using shapes::Element, shapes::Operand;
  all.reserve(std::max(ins.size(), rule.operands.size()));
  for (size_t i = 0; i < ins.size(); ++i) {
    if (rule.operands.empty())
      break;
    const std::string_view name = rule.operands[std::min(i, rule.operands.size() - 1)];
    types.push_back(ins[i] ? ins[i]->dtype : DataType());
    if (ins[i])
      all.push_back(
          {name, Operand::State::Present, ins[i]->shape, isFloat(ins[i]->dtype) ? Element::Float : Element::Integer});
    else
      all.push_back({name});
  }
  for (size_t i = ins.size(); i < rule.operands.size() && !rule.variadic; ++i)
    all.push_back({rule.operands[i]});
  operands = all;
  meshShape.assign(mesh.begin(), mesh.end());
}

CallOp::CallOp(const ShapeRule &rule, const OpCall &call) : CallOp(rule, call.ins, call.attributes, call.meshShape) {
  results.reserve(call.outs.size());
  for (const TensorSpec &out : call.outs)
    results.push_back(out.shape);
  declared = results;
}

static shapes::Attribute convert(const Attribute &attribute) {
  using shapes::Attribute;
  const auto &value = attribute.value;
  if (const auto *boolean = std::get_if<bool>(&value))
    return Attribute::of(*boolean);
  if (const auto *integer = std::get_if<int64_t>(&value))
    return Attribute::of(*integer);
  if (const auto *integers = std::get_if<std::vector<int64_t>>(&value))
    return Attribute::of(shapes::View(*integers));
  if (const auto *text = std::get_if<std::string>(&value))
    return Attribute::of(std::string_view(*text));
  if (const auto *symbol = std::get_if<EnumAttribute>(&value))
    return Attribute::of(std::string_view(symbol->symbol));
  const auto *list = std::get_if<ListAttribute>(&value);
  if (!list)
    return Attribute::other();
  shapes::Sizes numbers;
  for (const tt::ttnn::Attribute &item : list->items) {
    if (const auto *integer = std::get_if<int64_t>(&item.value)) {
      numbers.push_back(*integer);
      continue;
    }
    // A placement: the dimension that it splits, if any.
    const auto *placement = std::get_if<StructAttribute>(&item.value);
    const tt::ttnn::Attribute *type = placement ? field(*placement, "type") : nullptr;
    const auto *kind = type ? std::get_if<EnumAttribute>(&type->value) : nullptr;
    const tt::ttnn::Attribute *dim = placement ? field(*placement, "dim") : nullptr;
    const auto *number = dim ? std::get_if<int64_t>(&dim->value) : nullptr;
    if (!kind || (kind->symbol == "shard" && !number))
      return Attribute::other();
    numbers.push_back(kind->symbol == "shard" ? *number : shapes::noDimension);
  }
  return Attribute::of(shapes::View(numbers));
}

shapes::Attribute attributeOf(const Attributes &attributes, std::string_view name) {
  const Attribute *found = nullptr;
  const size_t first = name.find('.');
  for (const auto &[key, attribute] : attributes.all())
    if (key == name.substr(0, first)) {
      found = &attribute;
      break;
    }
  for (size_t dot = first; found && dot != name.npos;) {
    const size_t next = name.find('.', dot + 1);
    const auto *config = std::get_if<StructAttribute>(&found->value);
    found = config ? field(*config, name.substr(dot + 1, next == name.npos ? next : next - dot - 1)) : nullptr;
    dot = next;
  }
  return found ? convert(*found) : shapes::Attribute();
}

shapes::Attribute CallOp::attribute(std::string_view name) const { return attributeOf(attributes, name); }

std::string CallOp::text(shapes::View shape) const { return toString(Shape(shape.begin(), shape.end())); }

std::string CallOp::describe(const shapes::Operand &operand) const {
  return "has shape " + text(operand.shape) + " and type " + std::string(toString(types[&operand - all.data()]));
}

void checkShapes(const OpInfo &info, const OpCall &call) {
  const ShapeRule *rule = findShapeRule(info);
  if (!rule)
    return;
  shapes::Results expected;
  const CallOp op(*rule, call);
  if (const auto failure = shapes::infer(*rule->rule, op, expected)) {
    using enum shapes::Failure::Subject;
    fail(call, (failure->subject == Operand     ? "operand '" + failure->name + "' "
                : failure->subject == Attribute ? "attribute '" + failure->name + "' "
                                                : std::string()) +
                   failure->text);
  }
  if (expected.size() != call.outs.size())
    fail(call, std::to_string(call.outs.size()) + " results; expected " + std::to_string(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i)
    expectResultShape(call, Shape(expected[i].begin(), expected[i].end()), i);
}

} // namespace tt::ttnn
