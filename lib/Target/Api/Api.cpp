//===- Api.cpp - the tables that tools/opgen writes ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/Api.h"

namespace tt::ttnn::api {
namespace {

#include "ttmlir/Target/TTNN/Api.inc"

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

template <class Row> const Row *findType(std::span<const Row> rows, std::string_view type) {
  const auto it = std::ranges::find(rows, type, &Row::type);
  return it == rows.end() ? nullptr : &*it;
}

} // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t depth = 0, from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '}'))
      text[i] == '{' ? ++depth : --depth;
    if (i < text.size() && (text[i] != separator || depth > 0))
      continue;
    if (const std::string_view part = trimmed(text.substr(from, i - from)); !part.empty())
      parts.push_back(part);
    from = i + 1;
  }
  return parts;
}

DefaultType Function::defaultType(size_t result) const {
  const Parameter *dtype = find("dtype");
  if (!dtype || !dtype->hasDefault)
    return {};
  std::string_view text = dtype->defaultValue;
  if (text.starts_with('{')) {
    const auto each = split(text.substr(1, text.size() - 2), ',');
    text = result < each.size() ? each[result] : std::string_view();
  }
  constexpr std::string_view ofFloat = "float of ", ofRows = "rows of ";
  if (text == "index")
    return {DefaultType::Rule::Index};
  if (text.starts_with(ofFloat))
    return {DefaultType::Rule::Float, text.substr(ofFloat.size())};
  if (text.starts_with(ofRows))
    return {DefaultType::Rule::Rows, text.substr(ofRows.size())};
  return {DefaultType::Rule::Plain, text};
}

std::span<const Op> ops() { return ops_; }
std::span<const Function> functions() { return functions_; }
std::span<const Enum> enums() { return enums_; }
std::span<const Struct> structs() { return structs_; }

const Op *findOp(std::string_view name) {
  const auto it = std::ranges::lower_bound(ops_, name, {}, &Op::name);
  return it != std::end(ops_) && it->name == name ? it : nullptr;
}

const Function *findFunction(std::string_view op) {
  static const std::vector<const Function *> sorted = [] {
    std::vector<const Function *> rows;
    for (const Function &function : functions_)
      rows.push_back(&function);
    std::ranges::sort(rows, {}, &Function::op);
    return rows;
  }();
  const auto it = std::ranges::lower_bound(sorted, op, {}, &Function::op);
  return it != sorted.end() && (*it)->op == op ? *it : nullptr;
}

const Enum *findEnum(std::string_view type) { return findType(enums(), type); }
const Struct *findStruct(std::string_view type) { return findType(structs(), type); }

} // namespace tt::ttnn::api
