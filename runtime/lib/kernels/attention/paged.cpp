//===- paged.cpp - attention with caches in pages -------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The pages of keys and values are copied in the order of the table, and the attention of whole caches does the rest.
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "core/op.h"
#include "tt/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace tt::ttnn {
namespace {

/// A cache [pages, heads, rows of a page, size] as [users, heads, rows, size].
class Pages {
public:
  Pages(const OpCall &call, size_t index, const TensorSpec &table, ScratchLayout &layout) : index(index) {
    const TensorSpec &cache = operand(call, index);
    count = cache.shape[0];
    heads = cache.shape[1];
    ofUser = table.shape[1];
    bytes = volume({cache.shape[2], cache.shape[3]}) * static_cast<int64_t>(storageBytes(cache.dtype));
    whole = cache;
    whole.shape = {table.shape[0], heads, ofUser * cache.shape[2], cache.shape[3]};
    place = layout.take(whole.bytes());
  }

  const std::byte *gather(const Buffers &buffers, const Positions &table, const std::byte *entries) const {
    std::byte *to = buffers.scratch + place;
    const int64_t total = whole.shape[0] * heads * ofUser;
    parallelFor(total, 1 + 65536 / std::max<int64_t>(1, bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t user = i / ofUser / heads, head = i / ofUser % heads;
        const int64_t page = table.at(entries, user * ofUser + i % ofUser, count);
        std::memcpy(to + i * bytes, buffers.ins[index] + (page * heads + head) * bytes, static_cast<size_t>(bytes));
      }
    });
    return to;
  }

  TensorSpec whole;

private:
  size_t index, place;
  int64_t count, heads, ofUser, bytes; // bytes: of a page of one head
};

/// The attention of whole caches that follows: operands by their positions in this op, and its attributes.
class PagedAttention : public Kernel {
public:
  PagedAttention(const OpCall &call, const std::string &name, std::vector<int> others)
      : tableIndex(3), table(call, tableIndex), keys(call, 1, operand(call, tableIndex), layout),
        values(call, 2, operand(call, tableIndex), layout), others(std::move(others)) {
    inner.name = name;
    inner.ins = {operand(call, 0), keys.whole, values.whole};
    for (int index : this->others) {
      const TensorSpec *spec = index < 0 ? nullptr : optionalOperand(call, static_cast<size_t>(index));
      inner.ins.push_back(spec ? std::optional(*spec) : std::nullopt);
    }
    inner.outs = call.outs;
    inner.meshShape = call.meshShape;
  }

  size_t scratchBytes() const override { return layout.bytes(); }

protected:
  void makeInner(std::vector<NamedAttribute> attributes) {
    inner.attributes = Attributes(inner.name, std::move(attributes));
    attention = findOp(inner.name)->make(inner);
    innerPlace = layout.take(attention->scratchBytes());
  }
  /// mask: values to take in place of the fourth operand, or nullptr.
  void attend(const Buffers &buffers, const std::byte *mask) const {
    const std::byte *entries = buffers.ins[tableIndex];
    std::vector<const std::byte *> ins = {buffers.ins[0], keys.gather(buffers, table, entries),
                                          values.gather(buffers, table, entries)};
    for (int index : others)
      ins.push_back(index < 0 || static_cast<size_t>(index) >= buffers.ins.size()
                        ? nullptr
                        : buffers.ins[static_cast<size_t>(index)]);
    if (mask)
      ins[3] = mask;
    attention->run({ins, buffers.outs, buffers.scratch + innerPlace});
  }

  size_t tableIndex;
  ScratchLayout layout;
  Positions table;
  Pages keys, values;
  OpCall inner;

private:
  std::vector<int> others;
  std::unique_ptr<Kernel> attention;
  size_t innerPlace = 0;
};

/// One new row for each user.
class PagedDecode final : public PagedAttention {
public:
  explicit PagedDecode(const OpCall &call)
      : PagedAttention(call, "ttnn.scaled_dot_product_attention_decode", {4, 5, 6}) {
    const auto all = call.attributes.all();
    makeInner({all.begin(), all.end()});
  }
  void run(const Buffers &buffers) const override { attend(buffers, nullptr); }
};

/// Rows of a sequence from a position on, which is the last operand; each attends to the positions up to its own.
class ChunkedAttention final : public PagedAttention {
public:
  explicit ChunkedAttention(const OpCall &call)
      : PagedAttention(call, "ttnn.scaled_dot_product_attention", {-1}), start(call, 4) {
    rows = operand(call, 0).shape[2];
    columns = keys.whole.shape[2];
    TensorSpec mask;
    mask.dtype = DataType::Float32;
    mask.shape = {1, 1, rows, columns};
    inner.ins[3] = mask;
    maskPlace = layout.take(mask.bytes());
    std::vector<NamedAttribute> attributes = {{"is_causal", {false}}};
    if (const double *scale = call.attributes.find<double>("scale"))
      attributes.push_back({"scale", {*scale}});
    makeInner(std::move(attributes));
  }

  void run(const Buffers &buffers) const override {
    const int64_t first = start.at(buffers.ins[4], 0, columns - rows + 1);
    auto *mask = reinterpret_cast<float *>(buffers.scratch + maskPlace);
    for (int64_t row = 0; row < rows; ++row) {
      std::fill_n(mask + row * columns, first + row + 1, 0.0f);
      std::fill(mask + row * columns + first + row + 1, mask + (row + 1) * columns,
                -std::numeric_limits<float>::infinity());
    }
    attend(buffers, buffers.scratch + maskPlace);
  }

private:
  Positions start;
  int64_t rows, columns;
  size_t maskPlace;
};

std::unique_ptr<Kernel> makePagedDecode(const OpCall &call) { return std::make_unique<PagedDecode>(call); }
std::unique_ptr<Kernel> makeChunked(const OpCall &call) { return std::make_unique<ChunkedAttention>(call); }

} // namespace

std::vector<OpInfo> pagedAttentionOps() {
  return {
      {"ttnn.paged_scaled_dot_product_attention_decode", makePagedDecode},
      {"ttnn.chunked_scaled_dot_product_attention", makeChunked},
  };
}

} // namespace tt::ttnn
