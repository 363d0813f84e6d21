//===- rows.cpp - products of few rows with a matrix where it is ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A product of few rows is as fast as the matrix comes from memory. If its columns are contiguous along k, as PyTorch
// stores weights, they are read in place: nothing is packed ahead, and a weight needs no second form.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "core/panels/panels.h"
#include "kernels/elementwise/sums.h"
#include "kernels/matmul/block_columns.h"
#include "kernels/matmul/matmul.h"
#include "tt/parallel.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

/// The number of rows that the units take at once, or nearly: such a product waits for memory.
constexpr int64_t fewRows = 6;
/// The number of rows that pass at a time on every unit: for more of them, a block format would be expanded again.
constexpr int64_t rowsOfBlocks = 3;

class RowMatmul final : public Kernel {
public:
  RowMatmul(const OpCall &call, const Product &product, Unit unit, DataType produced, int biasIndex,
            const std::string &activation)
      : p(product), unit(unit), bytes(panels::elementBytes(unit)), bias(biasIndex),
        finishing(unit, produced, activation), producedBytes(static_cast<int64_t>(storageBytes(produced))),
        width(panels::width(unit)), groups(ceilDivide(p.n, width)) {
    const DataType type = unit == Unit::F32 ? DataType::Float32 : DataType::BFloat16;
    narrow = unit == Unit::F32 && storageType(operand(call, 1).dtype) == StorageType::BF16;
    packedA = library::Packed(call, 0, type, layout);
    blocks = BlockColumns(call, p);
    if (!blocks)
      packedB = library::Packed(call, 1, narrow ? DataType::BFloat16 : type, layout);
    if (bias >= 0)
      packedBias = library::Packed(call, static_cast<size_t>(bias), DataType::Float32, layout);
    copiesRows = p.aColumn != 1 && p.k > 1;
    if (copiesRows)
      leftPlace = layout.take(static_cast<size_t>(p.batches() * p.m * p.k * bytes));
    slots = std::min<int64_t>(threads(), p.batches() * groups);
    sumBytes = p.m * width * static_cast<int64_t>(sizeof(float));
    sums = layout.take(static_cast<size_t>(slots * sumBytes));
    if (blocks && p.m > rowsOfBlocks)
      expanded = layout.take(static_cast<size_t>(slots * columnsAtOnce * p.k) * 2);
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? packedA.reads() : operand == 1 ? !blocks && packedB.reads() : packedBias.reads();
  }

  void run(const Buffers &buffers) const override {
    const std::byte *a = packedA.get(buffers.ins[0], buffers.scratch);
    const std::byte *b = blocks ? nullptr : packedB.get(buffers.ins[1], buffers.scratch);
    const float *added =
        bias < 0
            ? nullptr
            : reinterpret_cast<const float *>(packedBias.get(buffers.ins[static_cast<size_t>(bias)], buffers.scratch));
    if (copiesRows) {
      for (int64_t batch = 0; batch < p.batches(); ++batch)
        copyRows(a + p.offsets(batch).first * bytes, buffers.scratch + leftPlace + batch * p.m * p.k * bytes);
      a = buffers.scratch + leftPlace;
    }
    const int64_t items = p.batches() * groups;
    parallelRuns(items, 1, slots, [&](int64_t s, Runs &runs) {
      for (ItemRange run; runs.take(run);)
        for (int64_t item = run.begin; item < run.end; ++item)
          group(a, b, added, item / groups, item % groups, buffers.scratch + sums + s * sumBytes,
                buffers.scratch + expanded + s * columnsAtOnce * p.k * 2, buffers.outs[0]);
    });
  }

private:
  void copyRows(const std::byte *from, std::byte *to) const {
    const auto copy = [&]<class T>(const T *values, T *target) {
      for (int64_t i = 0; i < p.m; ++i)
        for (int64_t l = 0; l < p.k; ++l)
          target[i * p.k + l] = values[i * p.aRow + l * p.aColumn];
    };
    if (unit == Unit::F32)
      copy(reinterpret_cast<const float *>(from), reinterpret_cast<float *>(to));
    else
      copy(reinterpret_cast<const uint16_t *>(from), reinterpret_cast<uint16_t *>(to));
  }

  /// `width` columns of a product.
  void group(const std::byte *a, const std::byte *b, const float *added, int64_t batch, int64_t index,
             std::byte *scratch, std::byte *columnsHere, std::byte *out) const {
    // More rows than pass at a time read their columns again, in the first-level cache.
    constexpr int64_t most = 768, vector = 32;
    const int64_t chunk = p.m <= fewRows ? p.k : ceilDivide(ceilDivide(p.k, ceilDivide(p.k, most)), vector) * vector;
    const int64_t first = index * width, columns = std::min(width, p.n - first);
    const auto [offsetA, offsetB] = p.offsets(batch);
    const int64_t rightBytes = narrow ? 2 : bytes;
    panels::Dots work{};
    work.a = a + (copiesRows ? batch * p.m * p.k : offsetA) * bytes;
    work.aRow = (copiesRows ? p.k : p.aRow) * bytes;
    work.rows = p.m;
    work.bColumn = p.bColumn * rightBytes;
    work.columns = columns;
    work.c = reinterpret_cast<float *>(scratch);
    work.cRow = width;
    work.narrow = narrow;
    if (blocks && p.m <= rowsOfBlocks) {
      work.b = blocks.get(first);
      work.bColumn = blocks.apart();
      work.k = p.k;
      work.blocks = true;
      panels::dot(unit, work);
    } else if (blocks) {
      // Some columns at a time, which stay in cache until all rows have passed.
      auto *values = reinterpret_cast<uint16_t *>(columnsHere);
      work.bColumn = p.k * rightBytes;
      for (int64_t c = 0; c < columns; c += columnsAtOnce, work.c += columnsAtOnce) {
        work.columns = std::min(columnsAtOnce, columns - c);
        blocks.expand(first + c, work.columns, 0, p.k, values);
        products(work, columnsHere, chunk);
      }
      work.c = reinterpret_cast<float *>(scratch);
    } else {
      products(work, b + (offsetB + first * p.bColumn) * rightBytes, chunk);
    }
    finishing(work.c, added ? added + first : nullptr, p.m, columns, out + (batch * p.m * p.n + first) * producedBytes,
              p.n * producedBytes);
  }

  /// All steps of k, `chunk` at a time.
  void products(panels::Dots work, const std::byte *b, int64_t chunk) const {
    work.b = b;
    for (int64_t k = 0; k < p.k; k += chunk) {
      work.k = std::min(chunk, p.k - k);
      work.accumulate = k > 0;
      panels::dot(unit, work);
      work.a += chunk * bytes;
      work.b += chunk * (narrow ? 2 : bytes);
    }
  }

  static constexpr int64_t columnsAtOnce = 8; // that are expanded
  Product p;
  Unit unit;
  int64_t bytes; // of an element of the left operand
  bool narrow;   // the right one is bf16, and sums are those of f32
  int bias;
  SumsFinish finishing;
  int64_t producedBytes, width, groups;
  ScratchLayout layout;
  library::Packed packedA, packedB, packedBias;
  BlockColumns blocks; // the right matrix in the place of packedB, or empty
  bool copiesRows;
  int64_t slots, sumBytes;
  size_t leftPlace = 0, sums, expanded = 0;
};

} // namespace

/// Whether the right matrix is better read in place than packed into panels. For few rows, its shape decides alone, so
/// that a program gives the same bits whether it knows its weights or not.
static bool readsInPlace(const OpCall &call, const Product &p, Unit unit) {
  constexpr int64_t most = 63, tileRows = 15;
  // For other types, a copy of a weight would be kept for the product alone.
  const StorageType right = storageType(operand(call, 1).dtype);
  const bool isRead = right == StorageType::BF16 || (unit == Unit::F32 && right == StorageType::F32);
  if (!isRead || p.bRow != 1 || p.m > (panels::wholeTiles(unit) ? tileRows : most))
    return false;
  // The elements of a sum are added at its end, which costs as much as a few steps along k.
  constexpr int64_t leastDepth = 128;
  constexpr size_t small = size_t(1) << 18, all = ~size_t(0);
  const size_t bytes =
      rightMatrices(p).offsets.size() * static_cast<size_t>(p.k * p.n) * (right == StorageType::BF16 ? 2 : 4);
  if (p.k < leastDepth || bytes <= small)
    return false;
  // Few rows wait for memory, wherever it is. More rows are computed faster in panels, though not by so much that a
  // model should hold some of its weights twice: they use panels if all of them may.
  const std::byte *constant = library::constantOperand(call, 1);
  return p.m <= fewRows || (constant && call.constants && !call.constants->affords({constant, bytes}, all));
}

std::unique_ptr<Kernel> makeRowMatmul(const OpCall &call, const Product &product, DataType type, DataType produced,
                                      int biasIndex, const std::string &activation) {
  const Unit unit = type == DataType::Float32 ? Unit::F32 : Unit::BF16;
  if (!panels::supported(unit) || !readsInPlace(call, product, unit))
    return nullptr;
  auto kernel = std::make_unique<RowMatmul>(call, product, unit, produced, biasIndex, activation);
  if (const std::byte *constant = library::constantOperand(call, 1); constant && call.constants && kernel->reads(1))
    call.constants->readInPlace({constant, operand(call, 1).bytes()});
  return kernel;
}

} // namespace tt::ttnn
