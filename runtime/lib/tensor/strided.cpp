//===- strided.cpp - strided copies ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tensor/strided.h"

#include "tt/parallel.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tt::ttnn {

std::vector<int64_t> rowMajorStrides(const Shape &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

StridedCopy::StridedCopy(Shape allDims, std::vector<int64_t> allStrides, int64_t offset, size_t elementBytes)
    : offset(offset), elementBytes(elementBytes) {
  for (size_t d = 0; d < allDims.size(); ++d) {
    total *= allDims[d];
    if (allDims[d] == 1)
      continue;
    if (!dims.empty() && strides.back() == allStrides[d] * allDims[d]) {
      dims.back() *= allDims[d];
      strides.back() = allStrides[d];
    } else {
      dims.push_back(allDims[d]);
      strides.push_back(allStrides[d]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    strides.push_back(1);
  }
  if (strides.back() != 1)
    for (size_t d = 0; d + 1 < dims.size(); ++d)
      if (strides[d] == 1)
        columns = static_cast<int>(d);
}

void StridedCopy::run(const std::byte *from, std::byte *to) const {
  if (total == 0)
    return;
  switch (elementBytes) {
  case 1:
    return copy(reinterpret_cast<const uint8_t *>(from), reinterpret_cast<uint8_t *>(to));
  case 2:
    return copy(reinterpret_cast<const uint16_t *>(from), reinterpret_cast<uint16_t *>(to));
  default:
    return copy(reinterpret_cast<const uint32_t *>(from), reinterpret_cast<uint32_t *>(to));
  }
}

template <class T> void StridedCopy::copy(const T *from, T *to) const {
  if (columns < 0)
    copyRuns(from + offset, to);
  else
    transpose(from + offset, to);
}

/// Offset of the `outer`-th index of all dimensions except the last and `skip`.
int64_t StridedCopy::sourceOffset(int64_t outer, size_t skip) const {
  int64_t at = 0;
  for (size_t d = dims.size() - 1; d-- > 0;) {
    if (d == skip)
      continue;
    at += outer % dims[d] * strides[d];
    outer /= dims[d];
  }
  return at;
}

template <class T> void StridedCopy::copyRuns(const T *from, T *to) const {
  const int64_t row = dims.back(), step = strides.back();
  const int64_t piece = std::min<int64_t>(row, 16384), pieces = (row + piece - 1) / piece;
  parallelFor(total / row * pieces, std::max<int64_t>(1, 32768 / piece), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / pieces, first = i % pieces * piece, n = std::min(piece, row - first);
      const T *source = from + sourceOffset(outer, dims.size()) + first * step;
      T *target = to + outer * row + first;
      if (step == 1)
        std::memcpy(target, source, static_cast<size_t>(n) * sizeof(T));
      else
        for (int64_t j = 0; j < n; ++j)
          target[j] = source[j * step];
    }
  });
}

namespace {

/// Elements of a tile's row: 16 bytes, or 32 of wider elements.
template <class T>
constexpr int64_t tileSize = sizeof(T) == 1                ? 16
                             : 32 / int64_t(sizeof(T)) > 8 ? 8
                                                           : 32 / int64_t(sizeof(T));

/// Interleaves elements of two vectors, from `first` of each on.
template <int64_t first, class V, size_t... i> V interleaved(V a, V b, std::index_sequence<i...>) {
  constexpr int64_t size = sizeof...(i);
  return __builtin_shufflevector(a, b, (first + int64_t(i) / 2 + (i % 2 ? size : 0))...);
}

/// to[row, column] = from[column, row] of a square of tileSize.
template <class T> void transposeTile(const T *from, int64_t fromStep, T *to, int64_t toStep) {
  constexpr int64_t size = tileSize<T>;
  using Vector = T __attribute__((vector_size(size * sizeof(T))));
  constexpr auto indices = std::make_index_sequence<size_t(size)>();
  Vector rows[size];
  for (int64_t i = 0; i < size; ++i)
    std::memcpy(&rows[i], from + i * fromStep, sizeof(Vector));
#pragma clang loop unroll(full)
  for (int64_t round = 1; round < size; round *= 2) {
    Vector next[size];
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < size / 2; ++i) {
      next[2 * i] = interleaved<0>(rows[i], rows[i + size / 2], indices);
      next[2 * i + 1] = interleaved<size / 2>(rows[i], rows[i + size / 2], indices);
    }
    std::copy(next, next + size, rows);
  }
  for (int64_t i = 0; i < size; ++i)
    std::memcpy(to + i * toStep, &rows[i], sizeof(Vector));
}

} // namespace

/// Blocks of the last dimension and the one in which the source is contiguous, so that both sides stay in cache.
template <class T> void StridedCopy::transpose(const T *from, T *to) const {
  constexpr int64_t block = 32; // whole tiles
  const auto c = static_cast<size_t>(columns);
  const int64_t width = dims.back(), height = dims[c], step = strides.back();
  int64_t heightStep = 1; // of the result
  for (size_t d = c + 1; d < dims.size(); ++d)
    heightStep *= dims[d];
  const int64_t across = (height + block - 1) / block, outers = total / width / height;
  parallelFor(outers * across, std::max<int64_t>(1, 32768 / (block * width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / across, row0 = i % across * block, rows = std::min(block, height - row0);
      // The position of this matrix in the result: the index `outer` counts all dimensions except c and the last.
      int64_t target0 = row0 * heightStep;
      int64_t rest = outer, stride = width;
      for (size_t d = dims.size() - 1; d-- > 0; stride *= dims[d]) {
        if (d == c)
          continue;
        target0 += rest % dims[d] * stride;
        rest /= dims[d];
      }
      const T *source = from + sourceOffset(outer, c) + row0;
      for (int64_t column0 = 0; column0 < width; column0 += block) {
        const int64_t columnEnd = std::min(column0 + block, width);
        constexpr int64_t tile = tileSize<T>;
        const int64_t tiledRows = rows / tile * tile, tiledEnd = column0 + (columnEnd - column0) / tile * tile;
        for (int64_t r = 0; r < tiledRows; r += tile)
          for (int64_t column = column0; column < tiledEnd; column += tile)
            transposeTile(source + r + column * step, step, to + target0 + r * heightStep + column, heightStep);
        for (int64_t r = 0; r < rows; ++r) {
          T *target = to + target0 + r * heightStep;
          for (int64_t column = r < tiledRows ? tiledEnd : column0; column < columnEnd; ++column)
            target[column] = source[r + column * step];
        }
      }
    }
  });
}

} // namespace tt::ttnn
