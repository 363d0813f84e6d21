//===- storage.h - loads and stores of data types ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compute in f32 or int64 on short contiguous runs; these loops convert between that and the storage of each
// data type. A block format is quantized when stored, so a stored run begins at the start of a group.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/formats.h"
#include "tt/types.h"

#include <concepts>

namespace tt::ttnn {

template <class T> using Load = void (*)(const std::byte *from, T *to, size_t n);
template <class T> using Store = void (*)(const T *from, std::byte *to, size_t n);

/// T is float or int64_t. Integers load into float rounded to nearest; floats do not load into int64_t (see
/// loadNonzero).
template <class T> Load<T> loader(DataType type);
/// 1 if the stored value is nonzero (NaN is), else 0.
template <class T> Load<T> loadNonzero(DataType type);
/// Float to integer types truncates, saturates, and converts NaN to 0; integers to narrower ones wrap; Bool stores 1
/// for nonzero values.
template <class T> Store<T> storer(DataType type);

/// Elements that must be stored together: rows of a block format are divided only between groups. 1 for other types.
size_t storeGroup(const TensorSpec &spec);

/// Calls f(begin, n) for pieces of [begin, end), whose ends are multiples of `unit` = storeGroup: n is at most `chunk`,
/// and either a multiple of `unit` or a part of one unit that is longer than a chunk, divided between groups.
template <class F> void forEachPiece(size_t begin, size_t end, size_t unit, size_t chunk, F &&f) {
  const size_t step = unit <= chunk ? chunk / unit * unit : chunk;
  for (size_t i = begin, n; i < end; i += n) {
    n = step < end - i ? step : end - i;
    if (unit > chunk && n > unit - i % unit)
      n = unit - i % unit;
    f(i, n);
  }
}
/// Stores such a piece, every unit of it with groups of its own.
template <class T>
void storePiece(Store<T> store, const TensorSpec &spec, size_t unit, const T *from, std::byte *to, size_t n) {
  const size_t length = unit % 16 == 0 || n < unit || !sim::isBlockFormat(spec.dtype) ? n : unit;
  for (size_t i = 0; i < n; i += length)
    store(from + i, to + i * storageBytes(spec.dtype), length);
}

bool isFloat(DataType type);
inline bool isInteger(DataType type) { return !isFloat(type); }

} // namespace tt::ttnn
