//===- compare.cpp - ops of files that were compiled for other sizes ------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/image.h"
#include "binary/open.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tt::runtime {
namespace {

bool isSame(const ttnn::Attribute &a, const ttnn::Attribute &b);

bool isSame(const ttnn::NamedAttribute &a, const ttnn::NamedAttribute &b) {
  return a.name == b.name && isSame(a.attribute, b.attribute);
}

template <class T> bool areSame(const T &a, const T &b) {
  return std::ranges::equal(a, b, [](const auto &x, const auto &y) { return isSame(x, y); });
}

/// Whether two numbers have the same bits: NaN equals itself, and 0 is not -0.
bool haveSameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

struct SameAs {
  const ttnn::Attribute &other;
  template <class T> const T &theirs() const { return std::get<T>(other.value); }
  template <class T> bool operator()(const T &value) const { return value == theirs<T>(); }
  bool operator()(double value) const { return haveSameBits(value, theirs<double>()); }
  bool operator()(const std::vector<double> &values) const {
    return std::ranges::equal(values, theirs<std::vector<double>>(), haveSameBits);
  }
  bool operator()(const ttnn::ConstantAttribute &value) const {
    const auto &expected = theirs<ttnn::ConstantAttribute>().bytes;
    return value.bytes.size() == expected.size() &&
           (expected.empty() || std::memcmp(value.bytes.data(), expected.data(), expected.size()) == 0);
  }
  bool operator()(const ttnn::EnumAttribute &value) const { return value.value == theirs<ttnn::EnumAttribute>().value; }
  bool operator()(const ttnn::StructAttribute &value) const {
    return areSame(value.fields, theirs<ttnn::StructAttribute>().fields);
  }
  bool operator()(const ttnn::ListAttribute &value) const {
    return areSame(value.items, theirs<ttnn::ListAttribute>().items);
  }
};

bool isSame(const ttnn::Attribute &a, const ttnn::Attribute &b) {
  return a.value.index() == b.value.index() && std::visit(SameAs{b}, a.value);
}

} // namespace

bool areSame(const ttnn::Attributes &a, const ttnn::Attributes &b) {
  return a.isCopyOf(b) || areSame(a.all(), b.all());
}

void requireSame(const SharedList<Program> &programs, const SharedList<Program> &others, size_t index) {
  const Program &program = programs[index], &other = others[index];
  const std::string name = "program \"" + std::string(program.name) + "\": ";
  if (program.values.size() != other.values.size() || program.operations.size() != other.operations.size())
    throw OpError(name + "has other ops for other sizes");
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    const Operation &operation = program.operations[i], &expected = other.operations[i];
    const std::string where = name + "op " + std::to_string(i) + " (" + std::string(operation.info->name) + ")";
    if (operation.info != expected.info || operation.callees != expected.callees)
      throw OpError(where + " is another op for other sizes");
    for (const uint32_t out : operation.outs)
      if (program.spec(out) != other.spec(out))
        throw OpError(where + " gives " + toString(program.spec(out).shape) + "; expected " +
                      toString(other.spec(out).shape));
    const auto own = operation.attributes.all(), theirs = expected.attributes.all();
    for (size_t k = 0; k < own.size() && own.size() == theirs.size(); ++k)
      if (!isSame(own[k], theirs[k]))
        throw OpError(where + ": attribute " + own[k].name + " is another one for these sizes");
    for (const uint32_t callee : operation.callees)
      requireSame(programs, others, callee);
  }
}

} // namespace tt::runtime
