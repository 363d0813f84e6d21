//===- touch.h - pages that are mapped before they are needed -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/parallel.h"

#include <algorithm>
#include <cstddef>

namespace tt {

/// Maps every page of memory that is not in use yet, on all threads: a first write costs up to 4 ms for 2 MiB, which is
/// more than most runs of a program. The contents of the memory are lost.
inline void touchPages(std::byte *memory, size_t bytes) {
  constexpr size_t page = size_t(1) << 12, piece = size_t(1) << 21;
  parallelFor(static_cast<int64_t>((bytes + piece - 1) / piece), 1, [&](int64_t begin, int64_t end) {
    const size_t last = std::min(bytes, static_cast<size_t>(end) * piece);
    for (size_t at = static_cast<size_t>(begin) * piece; at < last; at += page)
      *static_cast<volatile std::byte *>(memory + at) = std::byte(0);
  });
}

} // namespace tt
