//===- panels.cpp - matrix products in panels of our own ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The work is a list of (batch, block of rows, panel), of which the threads take contiguous runs. The blocks depend on
// the shape alone, so the order of the sums, and every bit of the result, is the same for any runs.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"
#include "core/library.h"
#include "core/panels/packing.h"
#include "kernels/elementwise/residual.h"
#include "kernels/matmul/block_columns.h"
#include "kernels/matmul/matmul.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

class PanelMatmul final : public Kernel, public PacksOperand, public AddsResidual {
public:
  PanelMatmul(const OpCall &call, const Product &product, Unit unit, DataType produced, int biasIndex,
              const std::string &activation, std::shared_ptr<const LeftRows> leftRows)
      : p(product), unit(unit), leftRows(std::move(leftRows)), taps(this->leftRows ? this->leftRows->taps() : 1),
        bytes(panels::elementBytes(unit)), bias(biasIndex), finishing(unit, produced, activation),
        producedBytes(static_cast<int64_t>(storageBytes(produced))), depth(panels::depth(unit, p.k)),
        width(panels::width(unit)), panelCount(ceilDivide(p.n, width)), matrices(rightMatrices(p)) {
    const DataType type = unit == Unit::F32 ? DataType::Float32 : DataType::BFloat16;
    packedA = library::Packed(call, 0, type, layout);
    const bool isBf16 = storageType(operand(call, 1).dtype) == StorageType::BF16;
    narrow = unit == Unit::F32 && isBf16 && library::constantOperand(call, 1);
    if (narrow)
      rightBytes = panels::elementBytes(Unit::BF16);
    many = panels::takesManyRows(unit, narrow) && p.m > 2 * panels::blockRows(unit);
    rowBytes = width * rightBytes;
    panelBytes = depth * rowBytes;
    if (isBf16 && taps == 1)
      blocks = BlockColumns(call, p);
    if (!blocks)
      packedB = library::Packed(call, 1, narrow ? DataType::BFloat16 : type, layout);
    if (bias >= 0)
      packedBias = library::Packed(call, static_cast<size_t>(bias), DataType::Float32, layout);
    if (!blocks && packedB.constantValues() && call.constants)
      ordered = library::AlignedBytes(call.constants->sharedForm(library::constantOperand(call, 1), form(call)));
    keepsPanels =
        !blocks && packedB.constantValues() && (ordered || !packedB.reads() || !call.constants || keepsSecond(call));
    cut();
    placeLeft();
    placeRight(call);
    slots = std::min<int64_t>(threads(), p.batches() * rowBlocks * panelCount);
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? packedA.reads() : operand == 1 ? !blocks && right != Right::Once : packedBias.reads();
  }

  std::optional<Packing> packsInEveryRun() const override {
    if (blocks || right == Right::Once)
      return std::nullopt;
    return Packing{1, matrices.offsets.size() * static_cast<size_t>(panelCount * panelBytes)};
  }

  bool addsResidual(DataType type) const override { return finishing.adds(type); }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    const int64_t items = p.batches() * rowBlocks * panelCount;
    if (items == 0)
      return;
    Values now{packedA.get(buffers.ins[0], buffers.scratch), nullptr, nullptr, buffers, residual};
    if (!ordered && !blocks)
      now.b = packedB.get(buffers.ins[1], buffers.scratch);
    if (bias >= 0)
      now.bias =
          reinterpret_cast<const float *>(packedBias.get(buffers.ins[static_cast<size_t>(bias)], buffers.scratch));
    if (right == Right::Before)
      pack(now.b, 0, matrixCount(), {0, depth, 0, panelCount}, buffers.scratch + rightPlace);
    // Panels that are read side by side stay together, unless a thread had none.
    parallelRuns(items, std::min(atOnce, ceilDivide(items, slots)), slots, [&](int64_t s, Runs &runs) {
      pieces(now, runs, buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot);
    });
  }

private:
  /// The time at which panels are packed: once for constants within the memory limit, by all threads before the
  /// product, or one at a time where it is used.
  enum class Right : uint8_t { Once, Before, WhereUsed };

  struct Values {
    const std::byte *a, *b;
    const float *bias;
    const Buffers &buffers;
    const Residual &residual;
  };

  /// A block of rows of the left operand: given for the first one, copied for the others.
  struct Left {
    const std::byte *given;
    std::byte *copied;
    int64_t rows, inPlace = 0;
  };

  /// Values that are packed next, prefetched while others are multiplied: lines of `length` bytes.
  struct Upcoming {
    const std::byte *from = nullptr;
    int64_t lines = 0, length = 0, apart = 0;
    int64_t each = 0; // cache lines with each product
    int64_t done = 0;

    void bring(panels::Block &work) {
      const int64_t now = std::min(each, lines * (length / 64) - done);
      if (now <= 0)
        return;
      work.next = from;
      work.nextBytes = now * 64;
      work.nextLine = length;
      work.nextApart = apart;
      work.nextFirst = done;
      done += now;
    }
  };

  /// Whether panels are kept in addition to the values.
  bool keepsSecond(const OpCall &call) const {
    constexpr int64_t few = 64; // rows, which are too little work to pack a matrix for each time
    const std::span values{packedB.constantValues(), static_cast<size_t>(p.k * p.n * rightBytes)};
    const size_t size = matrices.offsets.size() * static_cast<size_t>(panelCount * panelBytes);
    return (p.m < few || call.constants->affords(values, size)) && !call.constants->defers(values);
  }

  /// The division of rows and k: data that is read again for each panel stays in the second-level cache, and a chunk of
  /// a panel in the first.
  void cut() {
    constexpr int64_t cacheBytes = 1 << 20;
    int64_t chunk = many ? panels::manyDepth() : unit == Unit::F32 ? 128 : 256; // 16 KB of 16 columns; 32 KB, or 16
    // If all of k is multiplied at once, the sums of a step are finished in the first-level cache. The panels are read
    // again for each step.
    stepByStep = unit == Unit::BF16 && keepsPanels && p.m > panels::blockRows(unit) &&
                 depth <= (panels::wholeTiles(unit) ? shallow : chunk) && panelCount * panelBytes <= cacheBytes / 2;
    if (stepByStep)
      chunk = depth;
    const int64_t most = panels::blockRows(unit);
    // Rows that are copied for each block stay in cache.
    const int64_t mostRows =
        leftRows ? std::clamp<int64_t>(cacheBytes / (depth * bytes) / most * most, most, 256) : 256;
    step = panels::wholeTiles(unit) ? most : ceilDivide(p.m, ceilDivide(p.m, most));
    const int64_t steps = ceilDivide(p.m, step);
    const int64_t blockSteps = ceilDivide(steps, ceilDivide(steps, std::max<int64_t>(1, mostRows / step)));
    rowsPerBlock = std::min(p.m, blockSteps * step);
    rowBlocks = ceilDivide(p.m, rowsPerBlock);
    auto cutInto = [&](int64_t pieces) { return ceilDivide(ceilDivide(depth, pieces), 32) * 32; };
    depthPerChunk = cutInto(ceilDivide(depth, chunk));
    // Panels that are packed where they are used are in the same cache.
    const int64_t ofLeft = packsWhereUsed() ? cacheBytes / 2 : cacheBytes;
    depthPerBlock =
        ceilDivide(cutInto(ceilDivide(depth * rowsPerBlock * bytes, ofLeft)), depthPerChunk) * depthPerChunk;
    depthPerBlock = std::min(depth, depthPerBlock);
    rowsAtOnce = stepByStep ? step : rowsPerBlock;
    sumBytes = ceilDivide(rowsAtOnce, step) * step * width * static_cast<int64_t>(sizeof(float));
    atOnce = std::min(panels::panelsTogether(unit, p.m), panelCount);
    together = depth <= depthPerBlock ? atOnce : std::clamp<int64_t>((cacheBytes / 2) / sumBytes, atOnce, panelCount);
    sums = slot.take(static_cast<size_t>(together * sumBytes));
  }

  /// Whether each panel is used by one block of rows only: then it need not be kept.
  bool packsWhereUsed() const { return rowBlocks == 1 && !keepsPanels; }

  void placeLeft() {
    // Rows a multiple of a page apart would share the same few lines of the first-level cache; tiles are read faster in
    // sequence, if they are read often enough to pay for the copy.
    const bool tiles = panels::wholeTiles(unit);
    const int64_t apart = unit == Unit::F32 ? 4096 : 1024; // more rows of BF16 are read side by side
    const bool better = tiles ? p.m >= 16 && p.n >= 256 : p.m > 4 && rowsCollide(p, bytes, apart);
    const bool needed = p.aColumn != 1 || depth != p.k || leftRows;
    const bool noPadding = !tiles || p.m < 16 || p.m % 16 == 0;
    rowsInPlace = better || needed ? 0 : noPadding ? p.m : p.m / step * step;
    if (rowsInPlace < p.m)
      leftPlace = slot.take(static_cast<size_t>(panels::copiedBytes(unit, p.k, rowsPerBlock)));
  }

  /// The form of a constant's panels: products of a model may share one matrix (tied weights, shared layers).
  ConstantStore::Form form(const OpCall &call) const {
    ConstantStore::Form result =
        library::formOf(library::FormOf::Panels, storageType(operand(call, 1).dtype),
                        {static_cast<int64_t>(unit), narrow, p.k, p.n, p.bRow, p.bColumn, taps});
    result.insert(result.end(), matrices.offsets.begin(), matrices.offsets.end());
    return result;
  }

  void placeRight(const OpCall &call) {
    pieceBytes = depthPerBlock * rowBytes;
    packedTogether = packsWhereUsed() ? std::clamp<int64_t>((1 << 18) / std::max<int64_t>(1, pieceBytes), 1, 8)
                                      : std::clamp<int64_t>((1 << 19) / std::max<int64_t>(1, panelBytes), 1, 8);
    if (keepsPanels) {
      right = Right::Once;
      if (!ordered) {
        ordered = library::AlignedBytes(matrices.offsets.size() * static_cast<size_t>(panelCount * panelBytes));
        packOnce(packedB.constantValues(), packedB.storeOf(call.constants));
        if (call.constants)
          call.constants->shareForm(library::constantOperand(call, 1), form(call), ordered.share());
      }
      packedB.discard();
    } else if (packsWhereUsed()) {
      right = Right::WhereUsed;
      rightPlace = slot.take(static_cast<size_t>(packedTogether * pieceBytes));
    } else {
      right = Right::Before;
      rightPlace = layout.take(matrices.offsets.size() * static_cast<size_t>(panelCount * panelBytes));
    }
  }

  /// A piece of a matrix: rows from a multiple of 32 on, and panels.
  struct Piece {
    int64_t firstRow, lastRow, firstPanel, lastPanel;
  };
  int64_t matrixCount() const { return static_cast<int64_t>(matrices.offsets.size()); }

  /// The beginning of the values of a piece.
  const std::byte *startOf(const std::byte *b, int64_t matrix, const Piece &piece) const {
    return b + (matrices.offsets[static_cast<size_t>(matrix)] + piece.firstRow * p.bRow +
                piece.firstPanel * width * p.bColumn) *
                   rightBytes;
  }
  int64_t rowsOf(const Piece &piece) const { return std::min(piece.lastRow, p.k) - piece.firstRow; }
  int64_t columnsOf(const Piece &piece) const {
    return std::min(piece.lastPanel * width, p.n) - piece.firstPanel * width;
  }

  /// to: the beginning of the piece's rows in its first panel; the next panel begins `next` bytes after it.
  void packSome(const std::byte *b, int64_t matrix, const Piece &piece, std::byte *to, int64_t next) const {
    if (blocks)
      return packExpanded(piece, to, next);
    const std::byte *from = startOf(b, matrix, piece);
    if (taps > 1)
      packTaps(reinterpret_cast<const uint16_t *>(b), piece, to, next);
    else if (narrow)
      panels::packNarrow(from, {p.bRow, p.bColumn}, rowsOf(piece), columnsOf(piece), to, next);
    else
      panels::pack(unit, from, {p.bRow, p.bColumn}, rowsOf(piece), columnsOf(piece), to, next);
  }
  /// Values of a block format, as bf16 some at a time.
  void packExpanded(const Piece &piece, std::byte *to, int64_t next) const {
    constexpr int64_t mostRows = 256;
    alignas(64) uint16_t values[mostRows * panels::mostWidth];
    const int64_t last = std::min(piece.lastRow, p.k);
    for (int64_t column = piece.firstPanel * width; column < std::min(piece.lastPanel * width, p.n);
         column += width, to += next)
      for (int64_t row = piece.firstRow; row < last; row += mostRows) {
        const int64_t height = std::min(mostRows, last - row), across = std::min(width, p.n - column);
        blocks.expand(column, across, row, height, values);
        std::byte *at = to + (row - piece.firstRow) * rowBytes;
        const auto *from = reinterpret_cast<const std::byte *>(values);
        if (narrow)
          panels::packNarrow(from, {1, height}, height, across, at, next);
        else
          panels::pack(unit, from, {1, height}, height, across, at, next);
      }
  }
  /// Values of one tap of a window after the other, of weights that have the taps inside.
  void packTaps(const uint16_t *b, const Piece &piece, std::byte *to, int64_t next) const {
    constexpr int64_t mostRows = 256;
    alignas(64) uint16_t values[mostRows * panels::width(Unit::BF16)];
    const int64_t channels = p.k / taps, last = std::min(piece.lastRow, p.k);
    for (int64_t column = piece.firstPanel * width; column < std::min(piece.lastPanel * width, p.n);
         column += width, to += next)
      for (int64_t row = piece.firstRow; row < last; row += mostRows) {
        const int64_t height = std::min(mostRows, last - row), across = std::min(width, p.n - column);
        for (int64_t c = 0; c < across; ++c) {
          const uint16_t *from = b + (column + c) * p.bColumn;
          for (int64_t i = 0, tap = row / channels, channel = row % channels; i < height; ++i) {
            values[c * height + i] = from[channel * taps + tap];
            if (++channel == channels)
              ++tap, channel = 0;
          }
        }
        panels::pack(unit, reinterpret_cast<const std::byte *>(values), {1, height}, height, across,
                     to + (row - piece.firstRow) * rowBytes, next);
      }
  }
  /// The same piece of some matrices, on all threads; to: the memory of all panels.
  void pack(const std::byte *b, int64_t firstMatrix, int64_t lastMatrix, const Piece &piece, std::byte *to) const {
    const int64_t groups = ceilDivide(piece.lastPanel - piece.firstPanel, packedTogether);
    const int64_t size = rowBytes * (piece.lastRow - piece.firstRow);
    parallelFor(
        (lastMatrix - firstMatrix) * groups, 1 + 16384 / (packedTogether * size), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t matrix = firstMatrix + i / groups;
            Piece some = piece;
            some.firstPanel += i % groups * packedTogether;
            some.lastPanel = std::min(piece.lastPanel, some.firstPanel + packedTogether);
            packSome(b, matrix, some,
                     to + (matrix * panelCount + some.firstPanel) * panelBytes + some.firstRow * rowBytes, panelBytes);
          }
        });
  }

  /// Constant values, released while they are packed: both forms of a large matrix need not exist at once.
  void packOnce(const std::byte *values, const ConstantStore *store) {
    constexpr int64_t most = int64_t(1) << 22;
    const bool byRows = p.bRow > p.bColumn; // what lies together is let go together
    const int64_t perRow = p.n * rightBytes, perPanel = p.k * width * rightBytes;
    const int64_t matricesAtOnce = std::max<int64_t>(most / (p.k * perRow), 1);
    const int64_t rows = byRows ? std::max<int64_t>(most / perRow / 32, 1) * 32 : depth;
    const int64_t panelsAtOnce = byRows ? panelCount : std::max<int64_t>(most / perPanel, 1);
    for (int64_t first = 0; first < matrixCount(); first += matricesAtOnce)
      for (int64_t row = 0; row < depth; row += rows)
        for (int64_t panel = 0; panel < panelCount; panel += panelsAtOnce) {
          const int64_t last = std::min(matrixCount(), first + matricesAtOnce);
          const Piece piece{row, std::min(depth, row + rows), panel, std::min(panelCount, panel + panelsAtOnce)};
          pack(values, first, last, piece, ordered.data());
          const int64_t read = ((rowsOf(piece) - 1) * p.bRow + (columnsOf(piece) - 1) * p.bColumn + 1) * rightBytes;
          const bool all = piece.lastRow - row == depth && piece.lastPanel - panel == panelCount;
          for (int64_t matrix = first; store && !all && matrix < last; ++matrix)
            store->release({startOf(values, matrix, piece), static_cast<size_t>(read)});
        }
  }

  /// The items that the calling thread takes.
  void pieces(const Values &now, Runs &runs, std::byte *scratch) const {
    const panels::Session session(unit, p.m);
    int64_t copied = -1;
    for (ItemRange run; runs.take(run);)
      while (run.begin < run.end) {
        const int64_t first = run.begin % panelCount, last = std::min(panelCount, first + run.size());
        const int64_t index = run.begin / panelCount, batch = index / rowBlocks, block = index % rowBlocks;
        const Left left = leftOf(now, batch, block, scratch);
        if (std::exchange(copied, index) != index)
          copyLeft(now, left, block);
        rowBlock(now, session, left, batch, block, first, last, scratch);
        run.begin += last - first;
      }
  }

  Left leftOf(const Values &now, int64_t batch, int64_t block, std::byte *scratch) const {
    const int64_t row = block * rowsPerBlock, rows = std::min(rowsPerBlock, p.m - row);
    return {now.a + (p.offsets(batch).first + row * p.aRow) * bytes, scratch + leftPlace, rows,
            std::clamp<int64_t>(rowsInPlace - row, 0, rows)};
  }

  /// Copies the rows that are not multiplied where they are.
  void copyLeft(const Values &now, const Left &left, int64_t block) const {
    if (leftRows)
      leftRows->copy(now.a, block * rowsPerBlock, left.rows, left.copied);
    else if (left.inPlace < left.rows)
      panels::copyRows(unit, left.given + left.inPlace * p.aRow * bytes, {p.aRow, p.aColumn}, p.k,
                       left.rows - left.inPlace, left.copied);
  }

  /// Panels [first, last) of a block of rows.
  void rowBlock(const Values &now, const panels::Session &session, const Left &left, int64_t batch, int64_t block,
                int64_t first, int64_t last, std::byte *scratch) const {
    const int64_t row = block * rowsPerBlock, rows = left.rows;
    const auto matrix = static_cast<int64_t>(matrices.ofBatch[static_cast<size_t>(batch)]);
    const std::byte *all = right == Right::Once     ? ordered.data()
                           : right == Right::Before ? now.buffers.scratch + rightPlace
                                                    : nullptr;
    Upcoming upcoming;
    if (stepByStep) {
      auto *c = reinterpret_cast<float *>(scratch + sums);
      for (int64_t at = 0; at < rows; at += step)
        for (int64_t panel = first; panel < last; ++panel) {
          const int64_t count = std::min(step, rows - at);
          multiply(session, left, {at, at + count}, all + (matrix * panelCount + panel) * panelBytes, 1,
                   std::min(width, p.n - panel * width), 0, at == 0, c, upcoming);
          finish(now, c, batch * p.m + row + at, count, panel);
        }
      return;
    }
    for (int64_t group = first; group < last; group += together)
      for (int64_t from = 0; from < depth; from += depthPerBlock)
        for (int64_t panel = group, end = std::min(last, group + together), count = 0; panel < end; panel += count) {
          count = all ? std::min(atOnce, end - panel) : 1;
          const int64_t place = (panel - (depthPerBlock < depth ? group : first)) % packedTogether;
          if (!all && place == 0) {
            const int64_t stop = depthPerBlock < depth ? end : last;
            Piece piece{from, std::min(depth, from + depthPerBlock), panel, std::min(stop, panel + packedTogether)};
            packSome(now.b, matrix, piece, scratch + rightPlace, pieceBytes);
            piece.firstPanel = piece.lastPanel;
            piece.lastPanel = std::min(stop, piece.firstPanel + packedTogether);
            upcoming = upcomingOf(now.b, matrix, piece, rows);
          }
          const std::byte *b = all ? all + (matrix * panelCount + panel) * panelBytes + from * rowBytes
                                   : scratch + rightPlace + place * pieceBytes;
          auto *c = reinterpret_cast<float *>(scratch + sums + (panel - group) * sumBytes);
          multiply(session, left, {0, rows}, b, count, std::min(width, p.n - (panel + count - 1) * width), from,
                   all != nullptr, c, upcoming);
          for (int64_t i = 0; i < count && from + depthPerBlock >= depth; ++i)
            finish(now, c + i * sumBytes / 4, batch * p.m + row, rows, panel + i);
        }
  }

  /// The address of a piece, in shares for the products before it, of `rows` rows.
  Upcoming upcomingOf(const std::byte *b, int64_t matrix, const Piece &piece, int64_t rows) const {
    if (blocks || piece.firstPanel >= piece.lastPanel || std::min(p.bRow, p.bColumn) != 1)
      return {};
    const bool byRows = p.bColumn == 1;
    const int64_t across = rowsOf(piece), along = columnsOf(piece);
    Upcoming next{startOf(b, matrix, piece), byRows ? across : along,
                  ceilDivide((byRows ? along : across) * rightBytes, 64) * 64,
                  (byRows ? p.bRow : p.bColumn) * rightBytes};
    const int64_t products = packedTogether * ceilDivide(rows, rowsOfProduct(rows)) * ceilDivide(across, depthPerChunk);
    next.each = ceilDivide(next.lines * (next.length / 64), products);
    return next;
  }

  /// The rows of one product of a block of `rows` rows.
  int64_t rowsOfProduct(int64_t rows) const { return many ? rows : step; }

  struct Rows {
    int64_t begin, end;
  };
  /// Adds to the sums of some rows of the left operand (c: of the first of them) and of `count` panels, up to `atOnce`,
  /// the last one with `columns` columns, those of k in [from, from
  /// + depthPerBlock), to the first of which `panel` points.
  void multiply(const panels::Session &session, const Left &left, Rows which, const std::byte *panel, int64_t count,
                int64_t columns, int64_t from, bool ahead, float *c, Upcoming &upcoming) const {
    const int64_t rows = which.end - which.begin, each = rowsOfProduct(rows), steps = ceilDivide(rows, each);
    const panels::Rows inPlace = panels::rowsInPlace(p.aRow * bytes), copied = panels::rowsCopied(unit, p.k);
    for (int64_t k = from; k < std::min(depth, from + depthPerBlock); k += depthPerChunk) {
      panels::Block work{};
      work.panel = panel + (k - from) * rowBytes;
      work.k = std::min(depthPerChunk, depth - k);
      work.columns = columns;
      work.narrow = narrow;
      work.accumulate = k > 0;
      work.panels = count;
      work.panelStride = panelBytes;
      work.cStride = sumBytes;
      // The following data is needed soon: each group of rows prefetches a share of it.
      work.nextBytes = ahead ? ceilDivide(work.k * rowBytes, steps * 64) * 64 : 0;
      work.next = work.panel + (many ? depthPerChunk * rowBytes : rows <= 16 ? nearBytes : aheadBytes);
      for (int64_t at = which.begin; at < which.end; at += each, work.next += work.nextBytes) {
        const int64_t stepRows = std::min(each, which.end - at);
        const bool isCopy = at >= left.inPlace;
        const int64_t row = isCopy ? at - left.inPlace : at;
        work.where = isCopy ? copied : inPlace;
        work.a =
            (isCopy ? left.copied : left.given) +
            (unit == Unit::F32 ? row * work.where.row + k * bytes
                               : row / 16 * work.where.tile + row % 16 * work.where.row + k / 32 * work.where.step);
        work.rows = session.rowsFor(stepRows);
        work.c = c + (at - which.begin) * width;
        if (!ahead) {
          work.nextBytes = 0;
          upcoming.bring(work);
        }
        session.multiply(work);
      }
    }
  }

  /// The steps from a block of sums to the result.
  void finish(const Values &now, float *c, int64_t row, int64_t rows, int64_t panel) const {
    const int64_t first = (row * p.n + panel * width) * producedBytes;
    finishing(c, now.bias ? now.bias + panel * width : nullptr, rows, std::min(width, p.n - panel * width),
              now.buffers.outs[0] + first, p.n * producedBytes, now.residual.from(first));
  }

  static constexpr int64_t aheadBytes = 49152, nearBytes = 4096;
  static constexpr int64_t shallow = 512; // of which rows and a panel fit in the first-level cache
  Product p;
  Unit unit;
  std::shared_ptr<const LeftRows> leftRows;
  int64_t taps;
  int64_t bytes;              // of an element
  bool narrow;                // the right operand is a constant of bf16, and sums are those of f32
  int64_t rightBytes = bytes; // of its elements
  int bias;
  bool many; // rows are multiplied at a time
  SumsFinish finishing;
  int64_t producedBytes, depth, width, panelCount;
  int64_t rowBytes, panelBytes; // of a row of a panel, and of a panel
  RightMatrices matrices;
  bool keepsPanels = false; // of constants
  ScratchLayout layout, slot;
  library::Packed packedA, packedB, packedBias;
  BlockColumns blocks; // the right matrix in the place of packedB, or empty
  bool stepByStep = false;
  int64_t rowsAtOnce; // whose sums are kept
  int64_t step, rowsPerBlock, rowBlocks, depthPerBlock, depthPerChunk;
  int64_t together, sumBytes; // panels whose sums are kept from one block of k to the next
  int64_t atOnce;             // panels that are read side by side
  size_t sums;
  int64_t rowsInPlace; // the first rows of a matrix, which are not copied; whole blocks but for the last
  size_t leftPlace = 0;
  Right right = Right::Once;
  int64_t packedTogether = 1; // panels
  int64_t pieceBytes = 0;     // of a panel that is packed where it is used
  size_t rightPlace = 0;
  library::AlignedBytes ordered;
  int64_t slots;
  size_t perSlot, slotPlace;
};

} // namespace

std::unique_ptr<Kernel> makePanelMatmul(const OpCall &call, const Product &product, DataType type, DataType produced,
                                        int biasIndex, const std::string &activation,
                                        std::shared_ptr<const LeftRows> leftRows) {
  const Unit unit = type == DataType::Float32 ? Unit::F32 : Unit::BF16;
  if (leftRows)
    return std::make_unique<PanelMatmul>(call, product, unit, produced, biasIndex, activation, std::move(leftRows));
  if (auto rows = makeRowMatmul(call, product, type, produced, biasIndex, activation))
    return rows;
  // A few columns are mostly padding.
  if (!panels::supported(unit) || (product.n < 8 && product.m > 16))
    return nullptr;
  return std::make_unique<PanelMatmul>(call, product, unit, produced, biasIndex, activation, nullptr);
}

} // namespace tt::ttnn
