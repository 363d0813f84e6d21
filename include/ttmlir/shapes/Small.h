//===- Small.h - short lists without allocation -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_SHAPES_SMALL_H
#define TTMLIR_SHAPES_SMALL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace ttmlir::shapes {

/// A list whose first `inlined` elements need no separate memory.
template <class T, size_t inlined> class Small {
public:
  Small() = default;
  Small(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  explicit Small(std::span<const T> values) { assign(values.begin(), values.end()); }
  explicit Small(size_t size, T value = {}) { resize(size, value); }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return more.empty() ? here : more.data(); }
  const T *data() const { return more.empty() ? here : more.data(); }
  T *begin() { return data(); }
  T *end() { return data() + count; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + count; }
  T &operator[](size_t i) { return data()[i]; }
  const T &operator[](size_t i) const { return data()[i]; }
  T &back() { return data()[count - 1]; }
  const T &back() const { return data()[count - 1]; }
  operator std::span<const T>() const { return {data(), count}; }

  void clear() {
    count = 0;
    more.clear();
  }
  void reserve(size_t size) {
    if (size > inlined)
      more.reserve(size);
  }
  void push_back(T value) {
    resize(count + 1);
    back() = std::move(value);
  }
  void resize(size_t size, T value = {}) {
    if (size > inlined) {
      if (more.empty())
        more.assign(std::make_move_iterator(here), std::make_move_iterator(here + count));
      more.resize(size, value);
    } else {
      if (!more.empty()) {
        std::move(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(size), here);
        more.clear();
      } else if (size > count) {
        std::fill(here + count, here + size, value);
      }
    }
    count = size;
  }
  void insert(size_t at, T value) {
    push_back(std::move(value));
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::move(begin() + at + 1, end(), begin() + at);
    resize(count - 1);
  }
  template <class Iterator> void assign(Iterator first, Iterator last) {
    resize(static_cast<size_t>(std::distance(first, last)));
    std::copy(first, last, begin());
  }
  friend bool operator==(const Small &a, std::span<const T> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const Small &a, const Small &b) { return a == std::span<const T>(b); }

private:
  size_t count = 0;
  T here[inlined] = {};
  std::vector<T> more; // all elements, where they are more than `inlined`
};

using Sizes = Small<int64_t, 8>;
using View = std::span<const int64_t>;

} // namespace ttmlir::shapes

#endif // TTMLIR_SHAPES_SMALL_H
