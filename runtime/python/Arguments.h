//===- Arguments.h - checked conversion of Python integers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// nanobind refuses a number that a parameter's type cannot hold like a string: with the signatures of all overloads.
// Parameters of these types take any integer, and the function states which one was meant and its range.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace tt::python {

/// Returns Python's repr in one line of at most 60 characters; invalid UTF-8 is escaped.
std::string reprOf(nb::handle value);

/// Throws ValueError "<name> is <value>; expected <low> to <high>"; TypeError for a value that is not an integer.
int64_t integerOf(nb::handle value, const std::string &name, int64_t low, int64_t high);
/// The same for addresses.
uintptr_t addressOf(nb::handle value, const std::string &name);
/// The items of a sequence, which may change while they are read. Invalid, without an error, for another object; text
/// is not a sequence.
nb::object itemsOf(nb::handle value);
/// Whether itemsOf() may have something to give.
bool isSequence(nb::handle value);

template <class T> constexpr int64_t lowest = static_cast<int64_t>(std::numeric_limits<T>::min());
template <class T>
constexpr int64_t highest =
    sizeof(T) == 8 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(std::numeric_limits<T>::max());

/// A parameter that is an integer.
template <class T> struct Int {
  nb::handle given;
  T in(const char *name, int64_t low = lowest<T>, int64_t high = highest<T>) const {
    return static_cast<T>(integerOf(given, name, low, high));
  }
};

/// A parameter that is an address.
struct Address {
  nb::handle given;
  void *in(const char *name) const { return reinterpret_cast<void *>(addressOf(given, name)); }
};

/// A parameter that is a sequence of integers.
template <class T> struct Ints {
  nb::handle given;
  std::vector<T> in(const std::string &name, int64_t low = lowest<T>, int64_t high = highest<T>) const {
    const nb::object items = itemsOf(given);
    if (!items.is_valid())
      throw nb::type_error((name + " is " + reprOf(given) + "; expected a sequence of integers").c_str());
    std::vector<T> values;
    for (nb::handle item : nb::borrow<nb::tuple>(items))
      values.push_back(static_cast<T>(integerOf(item, name + "[" + std::to_string(values.size()) + "]", low, high)));
    return values;
  }
};

/// A program, an input: an index beyond the last one is reported at the lookup.
using IndexArgument = Int<uint32_t>;
inline size_t programIndex(const IndexArgument &index) { return index.in("program_index"); }

} // namespace tt::python

namespace nanobind::detail {

template <class T> struct type_caster<tt::python::Int<T>> {
  NB_TYPE_CASTER(tt::python::Int<T>, const_name("int"))
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    value.given = source;
    return PyIndex_Check(source.ptr());
  }
};

template <> struct type_caster<tt::python::Address> {
  NB_TYPE_CASTER(tt::python::Address, const_name("int"))
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    value.given = source;
    return PyIndex_Check(source.ptr());
  }
};

template <class T> struct type_caster<tt::python::Ints<T>> {
  NB_TYPE_CASTER(tt::python::Ints<T>, const_name("collections.abc.Sequence[int]"))
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    value.given = source;
    return tt::python::isSequence(source);
  }
};

} // namespace nanobind::detail
