//===- json.h - JSON as text --------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/kernel.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace tt::runtime {

/// Writes JSON; knows when a comma is due.
class Json {
public:
  std::string text;

  Json &key(std::string_view name) {
    string(name);
    text += ": ";
    fresh = true;
    return *this;
  }
  Json &begin(char bracket) {
    separate();
    text += bracket;
    fresh = true;
    return *this;
  }
  Json &end(char bracket) {
    text += bracket;
    fresh = false;
    return *this;
  }
  Json &raw(std::string_view value) {
    separate();
    text += value;
    return *this;
  }
  template <class Number> Json &number(Number value) {
    if constexpr (std::is_floating_point_v<Number>)
      if (!std::isfinite(value)) // JSON has no such numbers
        return string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return raw({buffer, static_cast<size_t>(result.ptr - buffer)});
  }
  Json &boolean(bool value) { return raw(value ? "true" : "false"); }
  Json &string(std::string_view value) {
    separate();
    text += '"';
    for (char c : value)
      escape(c);
    text += '"';
    return *this;
  }
  template <class Range> Json &numbers(const Range &range) {
    begin('[');
    for (auto value : range)
      number(value);
    return end(']');
  }

private:
  void separate() {
    if (!fresh)
      text += ", ";
    fresh = false;
  }
  void escape(char c) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (code < 0x20 || code >= 0x7f) {
      // Bytes that are not ASCII are written as the code point of the byte: names from a file need not be valid UTF-8.
      constexpr char digits[] = "0123456789abcdef";
      text += "\\u00";
      text += digits[code >> 4];
      text += digits[code & 15];
    } else {
      text += c;
    }
  }
  bool fresh = true;
};

/// Shape, data type, layout and memory of a tensor.
void writeSpec(Json &json, const TensorSpec &spec);
/// An object with the attributes by name.
void writeAttributes(Json &json, const ttnn::Attributes &attributes);

} // namespace tt::runtime
