//===- Rearrange.cpp - patterns of rearrange ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Rearrange.h"

#include "Rules.h"

namespace tt::shapes {
namespace {

/// The names of one dimension, or of those of the ellipsis.
struct Group {
  std::vector<std::string_view> names; // whose product it is; none of a dimension of size 1
  bool isInParentheses = false;

  bool isEllipsis() const { return !isInParentheses && names.size() == 1 && names[0] == "..."; }
};

struct Stop {
  std::string text;
};
[[noreturn]] void stop(std::string text) { throw Stop{std::move(text)}; }

constexpr std::string_view blanks = " \t\n\r", arrow = "->", ellipsis = "...";

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

bool isName(std::string_view token) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return isLetter(token.front()) &&
         std::ranges::all_of(token, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

/// A parenthesis, or the text before the next blank or parenthesis; empty at the end.
std::string_view nextToken(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const size_t size =
      text.starts_with('(') || text.starts_with(')') ? 1 : std::min(text.find_first_of(" \t\n\r()"), text.size());
  const std::string_view token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

std::vector<Group> parseSide(std::string_view text) {
  std::vector<Group> groups;
  bool isOpen = false;
  for (std::string_view token = nextToken(text); !token.empty(); token = nextToken(text)) {
    if (token == "(" || token == ")") {
      if (isOpen == (token == "("))
        stop(isOpen ? "has '(' inside of parentheses" : "has ')' without '('");
      isOpen = !isOpen;
      if (isOpen)
        groups.push_back({{}, true});
      continue;
    }
    if (token != "1" && token != ellipsis && !isName(token))
      stop("has " + quoted(token) + "; expected a name, '1', '...' or a group in parentheses");
    if (!isOpen)
      groups.emplace_back();
    if (token != "1")
      groups.back().names.push_back(token);
  }
  if (isOpen)
    stop("has '(' without ')'");
  return groups;
}

/// The left side: the dimensions of the input for each name.
struct Input {
  Input(const std::vector<Group> &groups, View shape) : names(shape.size()) {
    const auto ellipses = static_cast<size_t>(std::ranges::count_if(groups, &Group::isEllipsis));
    const size_t given = groups.size() - ellipses, rank = shape.size();
    if (ellipses > 1)
      stop("has '...' twice on its left");
    if (ellipses ? given > rank : given != rank)
      stop("names " + std::to_string(given) + (ellipses ? " or more" : "") + " dimensions, but the input has rank " +
           std::to_string(rank));
    size_t dim = 0;
    for (const Group &group : groups) {
      if (group.isEllipsis()) {
        begin = dim;
        dim = end = begin + rank - given;
      } else if (group.names.empty()) {
        if (shape[dim] != 1)
          stop("has 1 for dimension " + std::to_string(dim) + ", whose size is " + std::to_string(shape[dim]));
        ++dim;
      } else {
        const std::string_view name = group.names[0];
        if (group.names.size() > 1 || name == ellipsis)
          stop("has a product on its left, whose factors' sizes are not known");
        if (std::ranges::find(names, name) != names.end())
          stop("has " + quoted(name) + " twice on its left");
        names[dim++] = name;
      }
    }
  }

  /// First and last dimension of a name.
  std::pair<size_t, size_t> dimensions(std::string_view name) const {
    if (name == ellipsis && begin != npos)
      return {begin, end};
    const size_t dim = static_cast<size_t>(std::ranges::find(names, name) - names.begin());
    if (dim == names.size())
      stop("has " + quoted(name) + " only on its right");
    return {dim, dim + 1};
  }

  static constexpr size_t npos = std::string_view::npos;
  std::vector<std::string_view> names; // empty of a dimension of size 1 or of the ellipsis
  size_t begin = npos, end = 0;        // of the ellipsis
};

Rearrangement parse(std::string_view pattern, View shape) {
  const size_t middle = pattern.find(arrow);
  if (middle == pattern.npos || pattern.find(arrow, middle + 1) != pattern.npos)
    stop("is " + quoted(pattern) + "; expected one '->' between the dimensions of the input and of the result");
  const Input input(parseSide(pattern.substr(0, middle)), shape);
  Rearrangement result;
  std::vector<bool> used(shape.size());
  for (const Group &group : parseSide(pattern.substr(middle + arrow.size()))) {
    Sizes dims;
    for (const std::string_view name : group.names) {
      const auto [first, last] = input.dimensions(name);
      for (size_t dim = first; dim < last; ++dim) {
        if (used[dim])
          stop("has " + quoted(name) + " twice on its right");
        used[dim] = true;
        dims.push_back(static_cast<int64_t>(dim));
        result.order.push_back(static_cast<int64_t>(dim));
      }
    }
    // Outside of parentheses, each dimension of the ellipsis is one of the result.
    if (group.isEllipsis())
      for (const int64_t dim : dims)
        result.groups.push_back({dim});
    else
      result.groups.push_back(dims);
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (used[dim])
      continue;
    if (!input.names[dim].empty() || (dim >= input.begin && dim < input.end))
      stop("has " + quoted(input.names[dim].empty() ? ellipsis : input.names[dim]) + " only on its left");
    result.order.push_back(static_cast<int64_t>(dim));
  }
  return result;
}

} // namespace

Rearrangement rearrangement(std::string_view pattern, View input) {
  try {
    return parse(pattern, input);
  } catch (const Stop &stopped) {
    Rearrangement result;
    result.error = stopped.text;
    return result;
  }
}

void rearrange(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Attribute pattern = op.attribute("pattern");
  if (pattern.kind != Attribute::Kind::Text)
    failAttribute(op, "pattern", "is no text");
  const Rearrangement parsed = rearrangement(pattern.text, input);
  if (!parsed.error.empty())
    failAttribute(op, "pattern", parsed.error);
  Sizes shape;
  for (const Sizes &group : parsed.groups) {
    Sizes sizes;
    for (const int64_t dim : group)
      sizes.push_back(input[static_cast<size_t>(dim)]);
    shape.push_back(volume(op, sizes));
  }
  results.push_back(shape);
}

} // namespace tt::shapes
