//===- Arguments.cpp - checked conversion of Python integers --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Arguments.h"

#include <cctype>

namespace tt::python {
namespace {

nb::object indexOf(nb::handle value, const std::string &name) {
  if (!PyIndex_Check(value.ptr()))
    throw nb::type_error(
        (name + " is " + reprOf(value) + " of type " + Py_TYPE(value.ptr())->tp_name + "; expected an integer")
            .c_str());
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid())
    throw nb::python_error();
  return index;
}

} // namespace

std::string reprOf(nb::handle value) {
  const nb::object printed = nb::repr(value);
  const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(printed.ptr(), "utf-8", "backslashreplace"));
  char *bytes = nullptr;
  Py_ssize_t size = 0;
  if (!encoded.is_valid() || PyBytes_AsStringAndSize(encoded.ptr(), &bytes, &size) < 0)
    throw nb::python_error();
  std::string text;
  for (const char c : std::string_view(bytes, static_cast<size_t>(size)))
    if (const bool space = std::isspace(static_cast<unsigned char>(c)); !space || (!text.empty() && text.back() != ' '))
      text += space ? ' ' : c;
  size_t most = 60;
  if (text.size() <= most)
    return text;
  while ((static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) // not in the middle of a character
    --most;
  return text.substr(0, most) + "...";
}

int64_t integerOf(nb::handle value, const std::string &name, int64_t low, int64_t high) {
  const nb::object index = indexOf(value, name);
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (number == -1 && !overflow && PyErr_Occurred())
    throw nb::python_error();
  if (overflow || number < low || number > high)
    throw nb::value_error(
        (name + " is " + reprOf(index) + "; expected " + std::to_string(low) + " to " + std::to_string(high)).c_str());
  return number;
}

uintptr_t addressOf(nb::handle value, const std::string &name) {
  const nb::object index = indexOf(value, name);
  const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
  if (number == ~0ull && PyErr_Occurred()) {
    PyErr_Clear();
    throw nb::value_error((name + " is " + reprOf(index) + "; expected an address").c_str());
  }
  return number;
}

bool isSequence(nb::handle value) {
  PyObject *object = value.ptr();
  return PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !PyByteArray_Check(object);
}

nb::object itemsOf(nb::handle value) {
  if (!isSequence(value))
    return {};
  nb::object items = nb::steal(PySequence_Tuple(value.ptr()));
  if (!items.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
      throw nb::python_error();
    PyErr_Clear();
  }
  return items;
}

} // namespace tt::python
