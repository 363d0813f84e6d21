//===- integers.cpp - matrix products of integers -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Integers on the chip have 32 bits, but the factors of quantized models have 8, minus a zero point. The columns of the
// right operand are analyzed when they are packed, those of constants once; rows of any values are divided into planes.
//
//===----------------------------------------------------------------------===//

#include "core/panels/integers.h"
#include "core/library.h"
#include "kernels/matmul/matmul.h"
#include "tensor/storage.h"
#include "tt/parallel.h"

#include <algorithm>
#include <array>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::IntegerColumns;
using panels::Order;

/// The number of rows from which a matrix that is not constant is packed for each product.
constexpr int64_t fewRows = 8;

class IntegerMatmul final : public Kernel {
public:
  IntegerMatmul(const OpCall &call, const Product &product)
      : p(product), left(storageType(operand(call, 0).dtype)), right(storageType(operand(call, 1).dtype)),
        matrices(rightMatrices(p)) {
    leftBytes = static_cast<int64_t>(storageBytes(operand(call, 0).dtype));
    rightBytes = static_cast<int64_t>(storageBytes(operand(call, 1).dtype));
    panelCount = ceilDivide(p.n, panels::integerWidth());
    // The most that any order takes.
    rowBytes = panels::wordsOf(Order::Pairs, p.k) * 4;
    const int64_t planes = left == StorageType::U8 ? 1 : panels::mostPlanes(Order::Quads);
    rowsPerBlock = std::clamp<int64_t>((int64_t(1) << 18) / std::max<int64_t>(1, rowBytes) / panels::integerRows, 1,
                                       panels::mostIntegerRows / panels::integerRows) *
                   panels::integerRows;
    rowsPerBlock = std::min(rowsPerBlock, p.m);
    rowBlocks = ceilDivide(p.m, rowsPerBlock);
    leftPlace = slot.take(static_cast<size_t>(planes * rowsPerBlock * rowBytes));
    sumsPlace = slot.take(static_cast<size_t>(rowsPerBlock * panels::integerWidth()) * sizeof(int32_t));
    slots = std::min<int64_t>(threads(), p.batches() * rowBlocks * panelCount);
    slotPlace = layout.take(static_cast<size_t>(slots) * slot.bytes());
  }

  /// Packs a constant matrix. False if its values differ too much.
  bool keep(const OpCall &call) {
    const std::byte *values = library::constantOperand(call, 1);
    ConstantStore::Form form = library::formOf(library::FormOf::IntegerPanels, storageType(operand(call, 1).dtype),
                                               {p.k, p.n, p.bRow, p.bColumn});
    form.insert(form.end(), matrices.offsets.begin(), matrices.offsets.end());
    if (call.constants)
      ordered = library::AlignedBytes(call.constants->sharedForm(values, form));
    if (!ordered) {
      std::vector<int32_t> offsets(static_cast<size_t>(p.n)), highs(offsets.size());
      // In the order that holds all of them: if one matrix needs pairs, all use pairs.
      std::optional<Order> order = Order::Quads;
      for (size_t i = 0; i < matrices.offsets.size() && order; ++i) {
        const auto found = panels::orderOf(matrix(values, i), p.k, p.n, offsets.data(), highs.data());
        order = found ? std::optional(std::min(*order, *found)) : std::nullopt;
      }
      if (!order)
        return false;
      columns = {*order, p.k, p.n};
      if (!isAfforded(call, values))
        return false;
      ordered = library::AlignedBytes(headBytes + matrices.offsets.size() * matrixBytes());
      bool shifted = false;
      for (size_t i = 0; i < matrices.offsets.size(); ++i) {
        // An order of bytes is chosen for each matrix; one of pairs is that of the widest.
        panels::orderOf(matrix(values, i), p.k, p.n, offsets.data(), highs.data());
        shifted |= panels::pack(columns, matrix(values, i), offsets.data(), packed(ordered.data(), i));
      }
      head(ordered.data()) = {static_cast<int32_t>(*order), shifted};
      if (call.constants)
        call.constants->shareForm(values, form, ordered.share());
    }
    columns = {static_cast<Order>(head(ordered.data())[0]), p.k, p.n};
    usesOffsets = head(ordered.data())[1] != 0;
    return true;
  }

  /// Packs the matrix in each run. otherwise: the kernel for one whose values differ too much.
  void packAtRun(std::unique_ptr<Kernel> otherwise) {
    direct = std::move(otherwise);
    columns = {Order::Pairs, p.k, p.n};
    numbersPlace = layout.take(2 * static_cast<size_t>(p.n) * sizeof(int32_t));
    rightPlace = layout.take(headBytes + matrices.offsets.size() * matrixBytes());
    directPlace = layout.take(direct->scratchBytes());
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override { return operand != 1 || !ordered; }

  void run(const Buffers &buffers) const override {
    Values now{buffers, columns, ordered.data(), usesOffsets};
    if (!ordered) {
      now.packed = buffers.scratch + rightPlace;
      if (!packNow(now)) {
        direct->run({buffers.ins, buffers.outs, buffers.scratch + directPlace});
        return;
      }
    }
    const int64_t items = p.batches() * rowBlocks * panelCount;
    parallelRuns(items, 1, slots, [&](int64_t s, Runs &runs) {
      pieces(now, runs, buffers.scratch + slotPlace + static_cast<size_t>(s) * slot.bytes());
    });
  }

private:
  struct Values {
    const Buffers &buffers;
    IntegerColumns columns;
    std::byte *packed;
    bool usesOffsets;
  };
  static constexpr size_t headBytes = 64;
  static std::array<int32_t, 2> &head(std::byte *at) { return *reinterpret_cast<std::array<int32_t, 2> *>(at); }

  /// A separate form next to the values, as `PanelMatmul` keeps it.
  bool isAfforded(const OpCall &call, const std::byte *values) const {
    if (!call.constants)
      return true;
    const std::span all{values, static_cast<size_t>(p.k * p.n * rightBytes)};
    const bool few = p.m < 64;
    return (few || call.constants->affords(all, matrices.offsets.size() * matrixBytes())) &&
           !call.constants->defers(all);
  }

  size_t matrixBytes() const { return (static_cast<size_t>(columns.bytes()) + 63) / 64 * 64; }
  std::byte *packed(std::byte *all, size_t index) const { return all + headBytes + index * matrixBytes(); }
  panels::IntegerMatrix matrix(const std::byte *values, size_t index) const {
    return {right, values + matrices.offsets[index] * rightBytes, {p.bRow, p.bColumn}};
  }

  /// Packs all matrices; false if the values of one differ too much.
  bool packNow(Values &now) const {
    auto *offsets = reinterpret_cast<int32_t *>(now.buffers.scratch + numbersPlace), *highs = offsets + p.n;
    const size_t count = matrices.offsets.size();
    now.columns.order = Order::Quads;
    for (size_t i = 0; i < count; ++i) {
      const auto found = panels::orderOf(matrix(now.buffers.ins[1], i), p.k, p.n, offsets, highs);
      if (!found)
        return false;
      now.columns.order = std::min(now.columns.order, *found);
    }
    now.usesOffsets = false;
    for (size_t i = 0; i < count; ++i) {
      if (count > 1)
        panels::orderOf(matrix(now.buffers.ins[1], i), p.k, p.n, offsets, highs);
      now.usesOffsets |= panels::pack(now.columns, matrix(now.buffers.ins[1], i), offsets, packed(now.packed, i));
    }
    return true;
  }

  /// Items [begin, end) of all batches, blocks of rows, and panels.
  void pieces(const Values &now, Runs &runs, std::byte *scratch) const {
    panels::IntegerRows found;
    int64_t packed = -1;
    for (ItemRange run; runs.take(run);)
      while (run.begin < run.end) {
        const int64_t first = run.begin % panelCount, last = std::min(panelCount, first + run.size());
        const int64_t index = run.begin / panelCount, batch = index / rowBlocks, block = index % rowBlocks;
        if (std::exchange(packed, index) != index)
          packLeft(now, batch, block, scratch, found);
        rowBlock(now, batch, block, first, last, scratch, found);
        run.begin += last - first;
      }
  }

  int64_t rowsOf(int64_t block) const { return std::min(rowsPerBlock, p.m - block * rowsPerBlock); }

  void packLeft(const Values &now, int64_t batch, int64_t block, std::byte *scratch, panels::IntegerRows &found) const {
    const int64_t row = block * rowsPerBlock;
    const std::byte *a = now.buffers.ins[0] + (p.offsets(batch).first + row * p.aRow) * leftBytes;
    panels::packRows(now.columns.order, {left, a, {p.aRow, p.aColumn}}, rowsOf(block), p.k, scratch + leftPlace, found);
  }

  void rowBlock(const Values &now, int64_t batch, int64_t block, int64_t first, int64_t last, std::byte *scratch,
                const panels::IntegerRows &found) const {
    const int64_t row = block * rowsPerBlock, rows = rowsOf(block);
    std::byte *b = packed(now.packed, matrices.ofBatch[static_cast<size_t>(batch)]);
    auto *out = reinterpret_cast<int32_t *>(now.buffers.outs[0]) + (batch * p.m + row) * p.n;
    for (int64_t panel = first; panel < last; ++panel)
      panels::multiplyPanel(now.columns, b, now.usesOffsets, panel, scratch + leftPlace, found, rows,
                            rows * now.columns.words() * 4, reinterpret_cast<int32_t *>(scratch + sumsPlace),
                            out + panel * panels::integerWidth(), p.n);
  }

  Product p;
  StorageType left, right;
  int64_t leftBytes, rightBytes; // of an element
  RightMatrices matrices;
  std::unique_ptr<Kernel> direct;
  IntegerColumns columns{};
  bool usesOffsets = false;
  int64_t panelCount, rowBytes, rowsPerBlock, rowBlocks, slots;
  ScratchLayout layout, slot;
  size_t leftPlace, sumsPlace, slotPlace;
  size_t numbersPlace = 0, rightPlace = 0, directPlace = 0;
  library::AlignedBytes ordered; // constants: a head, and each matrix
};

} // namespace

std::unique_ptr<Kernel> makeIntegerMatmul(const OpCall &call, const Product &product,
                                          const std::function<std::unique_ptr<Kernel>()> &direct) {
  const double work = double(product.batches()) * double(product.m) * double(product.n) * double(product.k);
  if (!panels::multipliesIntegers() || work <= 32 * 32 * 32)
    return direct();
  auto kernel = std::make_unique<IntegerMatmul>(call, product);
  if (library::constantOperand(call, 1) && kernel->keep(call))
    return kernel;
  if (product.m < fewRows)
    return direct();
  kernel->packAtRun(direct());
  return kernel;
}

} // namespace tt::ttnn
