//===- panels.cpp - attention of many rows -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// One block of rows of one head at a time: its scores against a piece of the keys, their exponentials, and these times
// the values are computed in sequence in cache, and no matrix of scores is ever complete. If a later piece has a larger
// score, the previous sum is scaled down to it.
//
// The work is a list of (batch, key head, head of its group, block of rows) that the threads share in contiguous
// pieces; the division depends on the shape alone, and so does every bit of the result.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"
#include "core/library.h"
#include "core/scalars.h"
#include "kernels/attention/attention.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr float infinity = std::numeric_limits<float>::infinity();

template <Unit unit> class PanelAttention final : public Kernel {
  static constexpr int64_t width = panels::width(unit), bytes = panels::elementBytes(unit);
  static constexpr int64_t step = panels::blockRows(unit), blockRows = unit == Unit::F32 ? 5 * step : step;
  static constexpr int64_t piece = 1024; // columns whose scores are there at a time
  static constexpr int64_t piecePanels = piece / width;
  static constexpr int lanes = 16; // of columns, that are computed together
  using Lanes = float __attribute__((vector_size(lanes * 4)));
  using Words = uint32_t __attribute__((vector_size(lanes * 4)));
  using Halves = uint16_t __attribute__((vector_size(lanes * 2)));
  using Doubles = double __attribute__((vector_size(lanes * 8)));
  using Indices = int32_t __attribute__((vector_size(lanes * 4)));
  static constexpr Indices order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

public:
  PanelAttention(const OpCall &call, const Attention &attention, DataType produced)
      : a(attention), visible(call, attention), toBf16(produced == DataType::BFloat16),
        producedBytes(static_cast<int64_t>(storageBytes(produced))), keyPanels(ceilDivide(a.columns, width)),
        valuePanels(ceilDivide(a.valueSize, width)), rowBlocks(ceilDivide(a.rows, blockRows)) {
    const DataType type = unit == Unit::F32 ? DataType::Float32 : DataType::BFloat16;
    query = library::Packed(call, 0, type, layout);
    key = library::Packed(call, 1, type, layout);
    value = library::Packed(call, 2, type, layout);
    auto take = [&](int64_t size) { return slot.take(static_cast<size_t>(size)); };
    keyPlace = take(keyPanels * panels::panelBytes(unit, a.size));
    valuePlace = take(valuePanels * panels::panelBytes(unit, a.columns));
    queryPlace = take(panels::copiedBytes(unit, a.size, blockRows));
    chancePlace = take(panels::copiedBytes(unit, piece, blockRows));
    scorePlace = take(std::min(keyPanels, piecePanels) * blockRows * width * int64_t(sizeof(float)));
    sumPlace = take(valuePanels * blockRows * width * int64_t(sizeof(float)));
    items = a.batch * a.heads * rowBlocks;
    slots = std::min<int64_t>(threads(), items);
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  size_t scratchBytes() const override { return layout.bytes(); }

  void run(const Buffers &buffers) const override {
    const Values now{query.get(buffers.ins[0], buffers.scratch), key.get(buffers.ins[1], buffers.scratch),
                     value.get(buffers.ins[2], buffers.scratch), buffers};
    parallelRuns(items, 1, slots, [&](int64_t s, Runs &runs) {
      const panels::Session session(unit, blockRows);
      std::byte *scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot;
      int64_t packed = -1;
      for (ItemRange run; runs.take(run);)
        for (int64_t i = run.begin; i < run.end; ++i) {
          const int64_t head = i / rowBlocks, keyHead = head / a.groups(); // counted through the batches
          if (keyHead != packed)
            pack(now, keyHead, scratch);
          packed = keyHead;
          block(now, session, head, i % rowBlocks * blockRows, scratch);
        }
    });
  }

private:
  struct Values {
    const std::byte *query, *key, *value;
    const Buffers &buffers;
  };
  /// The state of a row's softmax.
  struct Row {
    VisibleColumns::Span span;
    float top;  // the largest score so far
    double sum; // of e^(score - top)
  };

  void pack(const Values &now, int64_t keyHead, std::byte *scratch) const {
    panels::pack(unit, now.key + keyHead * a.columns * a.size * bytes, {1, a.size}, a.size, a.columns,
                 scratch + keyPlace, panels::panelBytes(unit, a.size));
    panels::pack(unit, now.value + keyHead * a.columns * a.valueSize * bytes, {a.valueSize, 1}, a.columns, a.valueSize,
                 scratch + valuePlace, panels::panelBytes(unit, a.columns));
  }

  void block(const Values &now, const panels::Session &session, int64_t head, int64_t first, std::byte *scratch) const {
    const int64_t count = std::min(blockRows, a.rows - first), batch = head / a.heads;
    panels::copyRows(unit, now.query + (head * a.rows + first) * a.size * bytes, {a.size, 1}, a.size, count,
                     scratch + queryPlace);
    Row rows[blockRows];
    const float sink = visible.sink(now.buffers, head % a.heads);
    VisibleColumns::Span all{a.columns, 0};
    for (int64_t r = 0; r < count; ++r) {
      rows[r] = {visible.of(now.buffers, batch, first + r), sink, sink == -infinity ? 0.0 : 1.0};
      all = {std::min(all.first, rows[r].span.first), std::max(all.last, rows[r].span.last)};
    }
    auto *scores = reinterpret_cast<float *>(scratch + scorePlace);
    auto *sums = reinterpret_cast<float *>(scratch + sumPlace);
    const int64_t end = ceilDivide(all.last, width);
    bool begun = false;
    for (int64_t from = all.first / width; from < end; from += piecePanels) {
      const int64_t to = std::min(end, from + piecePanels);
      for (int64_t panel = from; panel < to; ++panel)
        multiply(session, scratch + queryPlace, panels::rowsCopied(unit, a.size), count,
                 scratch + keyPlace + panel * panels::panelBytes(unit, a.size), panels::depth(unit, a.size),
                 columnsOf(panel), scores + (panel - from) * blockRows * width, false);
      for (int64_t r = 0; r < count; ++r)
        exponentials(now.buffers, head, first + r, rows[r], r, from, to, scores, scratch + chancePlace,
                     begun ? sums : nullptr);
      // The final rows of the values in the panel are padding, and zeros.
      const int64_t k = std::min(to * width, panels::depth(unit, a.columns)) - from * width;
      for (int64_t panel = 0; panel < valuePanels; ++panel)
        multiply(session, scratch + chancePlace, panels::rowsCopied(unit, piece), count,
                 scratch + valuePlace + panel * panels::panelBytes(unit, a.columns) + from * width * width * bytes, k,
                 std::min(width, a.valueSize - panel * width), sums + panel * blockRows * width, begun);
      begun = true;
    }
    if (!begun) // nothing to attend to
      std::fill_n(sums, valuePanels * blockRows * width, 0.0f);
    store(now.buffers, head, first, count, rows, sums);
  }

  /// The columns of a panel of keys that are computed: all that exist, in whole groups of lanes.
  int64_t columnsOf(int64_t panel) const {
    return std::min(width, ceilDivide(a.columns - panel * width, int64_t(lanes)) * lanes);
  }

  static void multiply(const panels::Session &session, const std::byte *left, panels::Rows where, int64_t count,
                       const std::byte *panel, int64_t k, int64_t columns, float *c, bool accumulate) {
    const bool many = panels::takesManyRows(unit) && count > step;
    const int64_t each = many ? count : step, chunk = many ? panels::manyDepth() : k;
    for (int64_t from = 0; from < k; from += chunk)
      for (int64_t at = 0; at < count; at += each) {
        panels::Block work{};
        const int64_t rows = std::min(each, count - at);
        work.where = where;
        work.a = left + (unit == Unit::F32 ? at * where.row + from * bytes : at / 16 * where.tile);
        work.rows = session.rowsFor(rows);
        work.panel = panel + from * width * bytes;
        work.k = std::min(chunk, k - from);
        work.columns = columns;
        work.c = c + at * width;
        work.accumulate = accumulate || from > 0;
        session.multiply(work);
      }
  }

  /// NaN if a value is.
  static float largest(Lanes values) {
    const auto of = [](auto a, auto b) { return ((b > a) | (b != b)) ? b : a; };
    const auto eight = of(__builtin_shufflevector(values, values, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(values, values, 8, 9, 10, 11, 12, 13, 14, 15));
    const auto four =
        of(__builtin_shufflevector(eight, eight, 0, 1, 2, 3), __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
    const auto two = of(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
    return of(two, __builtin_shufflevector(two, two, 1, 0, 3, 2))[0];
  }

  static Lanes loaded(const float *from) {
    Lanes values;
    std::memcpy(&values, from, sizeof values);
    return values;
  }

  /// Converts the scores of a row in the panels [from, to) to their exponentials, in the order that the next product
  /// reads.
  void exponentials(const Buffers &buffers, int64_t head, int64_t row, Row &state, int64_t r, int64_t from, int64_t to,
                    float *scores, std::byte *chances, float *sums) const {
    const auto scale = static_cast<float>(a.scale);
    alignas(64) float mask[piece];
    const int64_t columns = std::min(a.columns, to * width) - from * width;
    if (visible.masked()) {
      visible.mask(buffers, head / a.heads, head % a.heads, row, from * width, columns, mask);
      std::fill(mask + columns, mask + (to - from) * width, 0.0f);
    }
    Lanes most = Lanes{} + state.top;
    for (int64_t panel = from; panel < to; ++panel) {
      float *x = scores + ((panel - from) * blockRows + r) * width;
      const float *added = mask + (panel - from) * width;
      const int64_t end = columnsOf(panel);
      const auto low = static_cast<int32_t>(std::clamp<int64_t>(state.span.first - panel * width, 0, end));
      const auto high = static_cast<int32_t>(std::clamp<int64_t>(state.span.last - panel * width, 0, end));
      for (int32_t j = 0; j < end; j += lanes) {
        Lanes score = loaded(x + j) * scale;
        if (visible.masked())
          score += loaded(added + j);
        if (low > j || high < j + lanes) {
          const Indices at = order + j;
          score = ((at >= low) & (at < high)) ? score : Lanes{} - infinity;
        }
        std::memcpy(x + j, &score, sizeof score);
        most = ((score > most) | (score != score)) ? score : most;
      }
    }
    const float top = largest(most);

    // -Inf throughout: all weights stay 0.
    const float offset = top == -infinity ? 0.0f : top;
    const float factor = state.top == top ? 1.0f : state.top == -infinity ? 0.0f : scalars::exp(state.top - offset);
    Lanes parts{};
    for (int64_t panel = from; panel < to; ++panel) {
      const float *x = scores + ((panel - from) * blockRows + r) * width;
      std::byte *place = placeOf(chances, r, panel - from);
      const int64_t end = columnsOf(panel);
      for (int64_t j = 0; j < width; j += lanes, place += lanes * bytes) {
        alignas(64) float y[lanes] = {};
        if (j < end) {
#pragma clang loop vectorize_width(lanes) interleave_count(1)
          for (int l = 0; l < lanes; ++l)
            y[l] = scalars::exp(x[j + l] - offset);
          parts += loaded(y);
        }
        put(loaded(y), place);
      }
    }
    alignas(64) double all[lanes];
    const auto exact = __builtin_convertvector(parts, Doubles);
    std::memcpy(all, &exact, sizeof exact);
    double sum = 0;
    for (int l = 0; l < lanes / 4; ++l)
      sum += (all[l] + all[l + 4]) + (all[l + 8] + all[l + 12]);
    state.sum = state.sum * factor + sum;
    state.top = top;
    if (sums && factor != 1.0f)
      for (int64_t panel = 0; panel < valuePanels; ++panel)
        for (int64_t j = 0; j < width; ++j)
          sums[(panel * blockRows + r) * width + j] *= factor;
  }

  /// Where the weights of one panel's columns in row r are, in the order of `copyRows`.
  std::byte *placeOf(std::byte *chances, int64_t r, int64_t panel) const {
    if constexpr (unit == Unit::F32)
      return chances + r * where.row + panel * width * bytes;
    else
      return chances + r / 16 * where.tile + panel * where.step + r % 16 * where.row;
  }

  static void put(Lanes weights, std::byte *to) {
    if constexpr (unit == Unit::F32) {
      std::memcpy(to, &weights, sizeof weights);
    } else {
      // To nearest, ties to even; NaN stays NaN.
      const auto bits = __builtin_bit_cast(Words, weights);
      const Words rounded = (weights != weights) ? Words{} + 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
      const auto halves = __builtin_convertvector(rounded, Halves);
      std::memcpy(to, &halves, sizeof halves);
    }
  }

  void store(const Buffers &buffers, int64_t head, int64_t first, int64_t count, const Row *rows, float *sums) const {
    for (int64_t panel = 0; panel < valuePanels; ++panel) {
      float *c = sums + panel * blockRows * width;
      for (int64_t r = 0; r < count; ++r) {
        // An empty sum over an empty sum is NaN.
        const auto factor = static_cast<float>(1.0 / rows[r].sum);
        for (int64_t j = 0; j < width; ++j)
          c[r * width + j] *= factor;
      }
      const int64_t rowBytes = a.valueSize * producedBytes;
      panels::store(unit, c, {nullptr, false, toBf16}, count, std::min(width, a.valueSize - panel * width),
                    buffers.outs[0] + (head * a.rows + first) * rowBytes + panel * width * producedBytes, rowBytes);
    }
  }

  Attention a;
  VisibleColumns visible;
  bool toBf16;
  int64_t producedBytes, keyPanels, valuePanels, rowBlocks;
  ScratchLayout layout, slot;
  library::Packed query, key, value;
  size_t keyPlace, valuePlace, queryPlace, chancePlace, scorePlace, sumPlace;
  int64_t items, slots;
  size_t perSlot, slotPlace;
  panels::Rows where = panels::rowsCopied(unit, piece); // of the weights
};

} // namespace

std::unique_ptr<Kernel> makePanelAttention(const OpCall &call, const Attention &attention) {
  bool bf16 = true;
  for (size_t i : {0, 1, 2})
    bf16 &= storageType(operand(call, i).dtype) == StorageType::BF16;
  const Unit unit = bf16 && panels::supported(Unit::BF16) ? Unit::BF16 : Unit::F32;
  // Packing the keys and values pays off from some rows on.
  constexpr int64_t fewestRows = 16;
  if (!panels::supported(unit) || attention.positionIndex >= 0 || attention.rows < fewestRows ||
      attention.columns < 1 || attention.size < 1 || attention.valueSize < 1)
    return nullptr;
  const TensorSpec &out = result(call);
  const DataType produced = out.dtype == DataType::BFloat16 ? out.dtype : DataType::Float32;
  std::unique_ptr<Kernel> kernel;
  if (unit == Unit::BF16)
    kernel = std::make_unique<PanelAttention<Unit::BF16>>(call, attention, produced);
  else
    kernel = std::make_unique<PanelAttention<Unit::F32>>(call, attention, produced);
  return roundedTo(out, produced, std::move(kernel));
}

} // namespace tt::ttnn
