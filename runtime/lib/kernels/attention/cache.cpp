//===- cache.cpp - key/value caches, written in place -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A cache is [users, heads, positions, size], or in pages [pages, heads, positions of a page, size] that a table
// [users, n] puts in order.
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

/// The cache and the rows to be written to it, and the way a row is copied.
struct Cache {
  explicit Cache(const OpCall &call)
      : shape(operand(call, 0).shape), rows(operand(call, 1).shape),
        copy(operand(call, 1).dtype, operand(call, 0).dtype) {}
  /// Copies n rows of the input, from its row `from`, to the cache's row `position` of a user or page and head.
  void write(const Buffers &buffers, int64_t from, int64_t user, int64_t head, int64_t position, int64_t n = 1) const {
    const int64_t to = (user * shape[1] + head) * shape[2] + position;
    for (int64_t i = 0; i < n; ++i)
      copy(buffers.ins[1] + static_cast<size_t>((from + i) * shape[3]) * copy.fromBytes,
           const_cast<std::byte *>(buffers.ins[0]) + static_cast<size_t>((to + i) * shape[3]) * copy.toBytes,
           static_cast<size_t>(shape[3]));
  }
  Shape shape, rows;
  RunCopy copy;
};

/// Writes [users, heads, rows, size] from position 0 on.
std::unique_ptr<Kernel> makeFill(const OpCall &call) {
  const Cache cache(call);
  const Shape &rows = cache.rows;
  const int64_t first = call.attributes.get<int64_t>("batch_offset"), heads = rows[1], count = rows[2];
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(cache.rows[0] * heads, 1 + 32768 / std::max<int64_t>(1, count * cache.shape[3]),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    cache.write(buffers, i * count, first + i / heads, i % heads, 0, count);
                });
  });
}

/// Writes the new row of each user [1, heads, users, size] at one position, or from there on for several rows.
std::unique_ptr<Kernel> makeUpdate(const OpCall &call) {
  const Cache cache(call);
  const Positions positions(call, 2);
  const Shape &rows = cache.rows;
  const int64_t users = rows[2], first = call.attributes.get<int64_t>("batch_offset");
  return kernelOf([=](const Buffers &buffers) {
    const int64_t position = positions.at(buffers.ins[2], 0, cache.shape[2]);
    for (int64_t head = 0; head < cache.shape[1]; ++head)
      for (int64_t user = 0; user < users; ++user)
        cache.write(buffers, head * users + user, first + user, head, position);
  });
}

/// Writes the new row of each user [1, users, heads, size] at a separate position, through its pages if there are any.
std::unique_ptr<Kernel> makePagedUpdate(const OpCall &call) {
  const Cache cache(call);
  const Positions positions(call, 2);
  const int64_t users = cache.rows[1], heads = cache.shape[1], inHeads = cache.rows[2];
  std::optional<Positions> table;
  int64_t pages = 1;
  if (const TensorSpec *spec = optionalOperand(call, 3)) {
    table.emplace(call, 3);
    pages = spec->shape[1];
  }
  const bool shared = call.attributes.get<bool>("share_cache", false);
  return kernelOf([=](const Buffers &buffers) {
    for (int64_t user = 0; user < users; ++user) {
      // A negative position means that there is nothing to write.
      if (positions.raw(buffers.ins[2], user) < 0)
        continue;
      int64_t position = positions.at(buffers.ins[2], user, cache.shape[2] * pages), page = shared ? 0 : user;
      if (table) {
        page = table->at(buffers.ins[3], user * pages + position / cache.shape[2], cache.shape[0]);
        position %= cache.shape[2];
      }
      for (int64_t head = 0; head < heads; ++head)
        cache.write(buffers, user * inHeads + head, page, head, position);
    }
  });
}

/// Writes the sequences [users, heads, rows, size] of users through their pages.
std::unique_ptr<Kernel> makePagedFill(const OpCall &call) {
  const Cache cache(call);
  const Positions table(call, 2);
  const Shape &pages = operand(call, 2).shape;
  const int64_t pageSize = cache.shape[2], rows = cache.rows[2], heads = cache.shape[1];
  std::optional<Positions> named;
  if (optionalOperand(call, 3))
    named.emplace(call, 3);
  const int64_t given = cache.rows[0], users = pages[0], perUser = pages[1];
  return kernelOf([=](const Buffers &buffers) {
    for (int64_t user = 0; user < given; ++user) {
      const int64_t which = named ? named->at(buffers.ins[3], user, users) : user;
      for (int64_t row = 0; row < rows; row += pageSize) {
        const int64_t page = table.at(buffers.ins[2], which * perUser + row / pageSize, cache.shape[0]);
        for (int64_t head = 0; head < heads; ++head)
          cache.write(buffers, (user * heads + head) * rows + row, page, head, 0, std::min(pageSize, rows - row));
      }
    }
  });
}

} // namespace

std::vector<OpInfo> cacheOps() {
  const std::vector<int> cache = {0};
  return {
      {"ttnn.fill_cache", makeFill, nullptr, cache},
      {"ttnn.update_cache", makeUpdate, nullptr, cache},
      {"ttnn.paged_update_cache", makePagedUpdate, nullptr, cache},
      {"ttnn.paged_fill_cache", makePagedFill, nullptr, cache},
  };
}

} // namespace tt::ttnn
