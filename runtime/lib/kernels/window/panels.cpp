//===- panels.cpp - convolutions in panels of our own -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A convolution is a product of matrices whose left rows are the windows. A window's part of one line of an image is
// contiguous, so the rows are read in place, one line of the window after the other. Results whose windows have the
// same elements outside of the image are computed together, without those elements: images need no border, and products
// with zeros are not computed. If these would be few results at a time, an element outside of the image is read from a
// line of zeros.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/window/images.h"
#include "kernels/window/winograd.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr auto floatBytes = static_cast<int64_t>(sizeof(float));

/// Positions [first, last) along an axis whose windows have elements [low, high) in the image.
struct Run {
  int64_t first, last, low, high;
  int64_t taps() const { return high - low; }
};

std::vector<Run> runsOf(const Axis &axis) {
  std::vector<Run> runs;
  for (int64_t at = 0; at < axis.out; ++at) {
    const int64_t begin = at * axis.stride - axis.low;
    const int64_t low = begin < 0 ? std::min(axis.kernel, (-begin - 1) / axis.dilation + 1) : 0;
    const int64_t high = begin < axis.size ? std::min(axis.kernel, (axis.size - begin - 1) / axis.dilation + 1) : 0;
    const Run run{at, at + 1, low, std::max(low, high)};
    if (!runs.empty() && runs.back().low == run.low && runs.back().high == run.high)
      ++runs.back().last;
    else
      runs.push_back(run);
  }
  return runs;
}

/// The most runs of an axis.
int64_t mostRuns(const Axis &axis) { return std::min(axis.out, 2 * std::min(axis.kernel, int64_t(1) << 20) + 1); }

/// The fraction of the elements of all windows that is inside of images.
double partInside(const std::vector<Axis> &axes) {
  double part = 1;
  for (const Axis &axis : axes) {
    double inside = 0;
    for (const Run &run : runsOf(axis))
      inside += static_cast<double>(run.last - run.first) * static_cast<double>(run.taps());
    part *= inside / (static_cast<double>(axis.out) * static_cast<double>(axis.kernel));
  }
  return part;
}

/// One run of each axis, in all combinations.
std::vector<std::vector<Run>> runsOfBoxes(const std::vector<Axis> &axes) {
  std::vector<std::vector<Run>> boxes = {{}};
  for (const Axis &axis : axes) {
    std::vector<std::vector<Run>> longer;
    for (const auto &box : boxes)
      for (const Run &run : runsOf(axis)) {
        longer.push_back(box);
        longer.back().push_back(run);
      }
    boxes = std::move(longer);
  }
  return boxes;
}

/// Whether boxes would be so small, or so many, that windows are read element by element instead. The sums of few rows
/// wait for each other.
bool gathersWindows(const Window &window) {
  constexpr double fewRows = 4;
  constexpr int64_t mostBoxes = 1000;
  int64_t count = 1;
  for (const Axis &axis : window.axes)
    if ((count *= mostRuns(axis)) > mostBoxes)
      return true;
  double time = 0;
  for (const std::vector<Run> &box : runsOfBoxes(window.axes)) {
    auto rows = static_cast<double>(window.batch), taps = 1.0;
    for (const Run &run : box) {
      rows *= static_cast<double>(run.last - run.first);
      taps *= static_cast<double>(run.taps());
    }
    time += std::max(rows, fewRows) * taps;
  }
  return time > static_cast<double>(window.positions()) * static_cast<double>(window.area());
}

class PanelConvolution final : public ImagewiseConvolution {
public:
  PanelConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation)
      : channels(c.window.channels), out(c.out), taps(c.window.area()), tile(panels::tileApart()),
        mostDepth(chunkBytes / (tile.columns * floatBytes)), panelCount(ceilDivide(out, tile.columns)),
        finish(unit, produced, activation), producedBytes(static_cast<int64_t>(storageBytes(produced))) {
    placeImages(operand(call, 0).dtype, c.window);
    gathers = gathersWindows(c.window);
    if (gathers) {
      std::vector<Run> all;
      for (const Axis &axis : axes)
        all.push_back({0, axis.out, 0, axis.kernel});
      boxes = {boxOf(all)};
      zeros.resize(static_cast<size_t>(channels));
    } else {
      for (const std::vector<Run> &runs : runsOfBoxes(axes))
        boxes.push_back(boxOf(runs));
    }
    divide();
    if ((biased = optionalOperand(call, 2) != nullptr))
      bias = library::Packed(call, 2, DataType::Float32, layout);
    placeWeights(call); // nothing can fail any more
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? !packed : operand == 2 && bias.reads());
  }

  bool addsResidual(DataType type) const override { return finish.adds(type); }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    runSome(buffers, residual, nullptr);
  }

  WeightPanels weightPanels() const override { return {packed.data(), tile.columns, narrow}; }

  /// chosen: nullptr for all.
  void runSome(const Buffers &buffers, const Residual &residual, const uint8_t *chosen) const override {
    Values now{nullptr, packed.data(), nullptr, buffers.outs[0], residual};
    if (!packed) {
      pack(weights.get(buffers.ins[1], buffers.scratch), 0, panelCount, buffers.scratch + packedPlace);
      now.weights = buffers.scratch + packedPlace;
    }
    if (biased)
      now.bias = reinterpret_cast<const float *>(bias.get(buffers.ins[2], buffers.scratch));
    const std::byte *given = buffers.ins[0];
    const int64_t pieceBytes = rowsOfPiece * resultRow();
    for (int64_t piece = 0; piece < pieces; ++piece, given += givenBytes, now.result += pieceBytes) {
      now.residual = residual.from(piece * pieceBytes);
      const uint8_t *ofPiece = chosen ? chosen + piece * imagesOfPiece : nullptr;
      if (chosen && std::all_of(ofPiece, ofPiece + imagesOfPiece, std::logical_not<>()))
        continue;
      now.images = given;
      if (images) {
        images->run(given, buffers.scratch + imagesPlace);
        now.images = buffers.scratch + imagesPlace;
      }
      const auto items = static_cast<int64_t>(blocks.size()) * panelCount;
      parallelRuns(items, 1, slots, [&](int64_t s, Runs &runs) {
        const panels::Session session(unit, rowsOfPiece);
        std::byte *scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot;
        for (ItemRange run; runs.take(run);)
          for (int64_t i = run.begin; i < run.end; ++i)
            forEachChosen(blocks[blockOf(i)], ofPiece,
                          [&](const Rows &rows) { block(session, now, rows, panelOf(i), scratch); });
      });
    }
  }

private:
  static constexpr Unit unit = Unit::F32;
  static constexpr int64_t width = panels::width(unit), mostRows = 252, chunkBytes = 49152;
  static constexpr int64_t keptBytes = 1 << 19; // of weights, in the second cache
  static_assert(mostRows % panels::tileApart2.rows == 0 && mostRows % panels::tileApart512.rows == 0);

  struct Values {
    const std::byte *images;  // as f32
    const std::byte *weights; // as panels
    const float *bias;
    std::byte *result;
    Residual residual;
  };

  /// Results in a box, whose windows have the same elements in the image. A window consists of lines of contiguous
  /// values; some lines follow each other as parts.
  struct Box {
    std::vector<int64_t> first, size; // positions along each axis, of every image
    int64_t rows = 0, depth = 0;      // of all images; values of a window
    int64_t image = 0;                // bytes to where the first window begins
    struct Start {
      int64_t image;    // bytes from where a window begins
      int64_t panelRow; // of its first value
    };
    std::vector<Start> starts;
    int64_t parts = 1, line = 0;
    int64_t depthPerChunk = 0, partsPerChunk = 0; // that are multiplied at a time
  };
  /// Rows [first, first + rows) of a box, in steps of a few.
  struct Rows {
    size_t box;
    int64_t first, rows, steps;
  };

  /// The work, by its number.
  size_t blockOf(int64_t item) const {
    const auto count = static_cast<int64_t>(blocks.size());
    return static_cast<size_t>(panelByPanel ? item % count : item / panelCount);
  }
  int64_t panelOf(int64_t item) const {
    const auto count = static_cast<int64_t>(blocks.size());
    return panelByPanel ? item / count : item % panelCount;
  }

  /// Calls f with the parts of `all` that are rows of chosen images of a piece; chosen: nullptr for all.
  template <class F> void forEachChosen(const Rows &all, const uint8_t *chosen, F f) const {
    if (!chosen)
      return f(all);
    const int64_t perImage = boxes[all.box].rows / imagesOfPiece, end = all.first + all.rows;
    for (int64_t first = all.first, last; first < end; first = last) {
      const bool isChosen = chosen[first / perImage];
      for (last = first; last < end && bool(chosen[last / perImage]) == isChosen;)
        last = std::min(end, (last / perImage + 1) * perImage);
      if (isChosen)
        f(Rows{all.box, first, last - first, ceilDivide(last - first, tile.rows)});
    }
  }

  int64_t resultRow() const { return out * producedBytes; }

  /// Some images at a time, so that they stay in cache: a divisor of the batch.
  void placeImages(DataType type, Window window) {
    constexpr int64_t cacheBytes = 1 << 20;
    axes = window.axes;
    pitches.resize(axes.size());
    imageBytes = channels * floatBytes;
    for (size_t d = axes.size(); d-- > 0; imageBytes *= axes[d].size)
      pitches[d] = imageBytes;
    int64_t together = std::clamp<int64_t>(cacheBytes / imageBytes, 1, window.batch);
    while (window.batch % together != 0)
      --together;
    pieces = window.batch / together;
    window.batch = imagesOfPiece = together;
    givenBytes = window.sources() * channels * static_cast<int64_t>(storageBytes(type));
    rowsOfPiece = window.positions();
    if (type == DataType::Float32)
      return;
    for (Axis &a : window.axes)
      a.low = a.high = 0;
    images.emplace(window, /*repeatsEdges=*/false, type, DataType::Float32);
    imagesPlace = layout.take(static_cast<size_t>(together * imageBytes));
  }

  Box boxOf(const std::vector<Run> &runs) {
    Box box;
    box.rows = imagesOfPiece;
    box.depth = channels;
    std::vector<int64_t> tapRows(axes.size()); // rows of a panel from one element along an axis to the next
    int64_t tap = channels;
    for (size_t d = axes.size(); d-- > 0; tap *= axes[d].kernel)
      tapRows[d] = tap;
    int64_t panelRow = 0;
    for (size_t d = 0; d < axes.size(); ++d) {
      const Run &run = runs[d];
      box.first.push_back(run.first);
      box.size.push_back(run.last - run.first);
      box.rows *= run.last - run.first;
      box.depth *= run.taps();
      box.image += (run.first * axes[d].stride - axes[d].low + run.low * axes[d].dilation) * pitches[d];
      panelRow += run.low * tapRows[d];
    }
    if (box.depth == 0)
      return box;
    const size_t apart = axes.size() - (axes.back().dilation == 1 ? 1 : 0); // axes along which there are gaps
    box.line = apart < axes.size() ? runs.back().taps() * channels : channels;
    if (apart > 0)
      box.parts = runs[apart - 1].taps();
    box.starts = {{0, panelRow}};
    for (size_t d = 0; d + 1 < apart; ++d) {
      std::vector<typename Box::Start> all;
      for (const auto &start : box.starts)
        for (int64_t i = 0; i < runs[d].taps(); ++i)
          all.push_back({start.image + i * axes[d].dilation * pitches[d], start.panelRow + i * tapRows[d]});
      box.starts = std::move(all);
    }
    if (apart > 0) {
      partBytes = axes[apart - 1].dilation * pitches[apart - 1];
      partRows = tapRows[apart - 1];
    }
    box.depthPerChunk = ceilDivide(box.line, ceilDivide(box.line, mostDepth));
    box.partsPerChunk = std::clamp<int64_t>(mostDepth / box.line, 1, box.parts);
    return box;
  }

  /// Divides the work. The sums of a value of the result are computed in the same order for every division.
  void divide() {
    const auto cost = [&](const Box &box, int64_t rows) { return rows * std::max(box.depth, channels); };
    int64_t all = 0, most = 1;
    for (const Box &box : boxes)
      all += cost(box, box.rows);
    slots = threads();
    // Many items for each thread, each of rows that stay in cache.
    const int64_t each = std::max<int64_t>(1, all * panelCount / (8 * slots));
    for (size_t b = 0; b < boxes.size(); ++b) {
      const int64_t steps = ceilDivide(boxes[b].rows, tile.rows);
      const int64_t mostSteps = std::clamp<int64_t>(each / cost(boxes[b], tile.rows), 1, mostRows / tile.rows);
      const int64_t count = ceilDivide(steps, mostSteps);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t first = steps * i / count * tile.rows;
        const int64_t rows = std::min(steps * (i + 1) / count * tile.rows, boxes[b].rows) - first;
        blocks.push_back({b, first, rows, ceilDivide(rows, tile.rows)});
        most = std::max(most, rows);
      }
    }
    // Weights that do not stay in cache are read once, and images once for each panel.
    panelByPanel = panelCount * taps * channels * tile.columns * floatBytes > keptBytes;
    slots = std::min<int64_t>(slots, static_cast<int64_t>(blocks.size()) * panelCount);
    sumsPlace = slot.take(static_cast<size_t>(most * width * floatBytes));
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// The beginnings of the windows of rows of a box among the images, and the corresponding rows of the result.
  void locate(const Box &box, int64_t row, std::span<int64_t> offsets, std::span<int64_t> results) const {
    const size_t innermost = axes.size() - 1;
    const int64_t length = box.size[innermost], along = axes[innermost].stride * pitches[innermost];
    int64_t x = row % length;
    for (size_t i = 0; i < offsets.size(); x = 0) {
      int64_t rest = (row + static_cast<int64_t>(i)) / length, from = box.image, to = 0, pitch = axes[innermost].out;
      for (size_t d = innermost; d-- > 0; rest /= box.size[d], pitch *= axes[d].out) {
        from += rest % box.size[d] * axes[d].stride * pitches[d];
        to += (box.first[d] + rest % box.size[d]) * pitch;
      }
      from += rest * imageBytes;
      to += rest * pitch + box.first[innermost];
      for (; x < length && i < offsets.size(); ++x, ++i) {
        offsets[i] = from + x * along;
        results[i] = to + x;
      }
    }
  }

  /// The addresses at which rows of the result find an element of their windows, relative to `images`: the element by
  /// its position along each axis, a row of zeros if it is outside.
  void locateElement(int64_t row, const std::vector<int64_t> &element, const std::byte *images,
                     std::span<int64_t> offsets) const {
    const int64_t outside = reinterpret_cast<const std::byte *>(zeros.data()) - images;
    for (int64_t &offset : offsets) {
      int64_t rest = row++, from = 0;
      bool inside = true;
      for (size_t d = axes.size(); d-- > 0; rest /= axes[d].out) {
        const Axis &axis = axes[d];
        const int64_t at = rest % axis.out * axis.stride - axis.low + element[d] * axis.dilation;
        inside &= at >= 0 && at < axis.size;
        from += at * pitches[d];
      }
      offset = inside ? from + rest * imageBytes : outside;
    }
  }

  void placeWeights(const OpCall &call) {
    narrow = storageType(operand(call, 1).dtype) == StorageType::BF16;
    weights = library::Packed(call, 1, narrow ? DataType::BFloat16 : DataType::Float32, layout);
    weightBytes = narrow ? panels::elementBytes(Unit::BF16) : panels::elementBytes(unit);
    rowBytes = tile.columns * weightBytes;
    panelBytes = taps * channels * rowBytes;
    const auto all = static_cast<size_t>(panelCount * panelBytes);
    const std::byte *constant = library::constantOperand(call, 1), *values = weights.constantValues();
    if (!constant) {
      packedPlace = layout.take(all);
      return;
    }
    const ConstantStore::Form form =
        library::formOf(library::FormOf::ConvolutionPanels, storageType(operand(call, 1).dtype),
                        {static_cast<int64_t>(unit), narrow, out, channels, taps});
    if (call.constants)
      packed = library::AlignedBytes(call.constants->sharedForm(constant, form));
    if (!packed) {
      packed = library::AlignedBytes(all);
      // Packed values are released: both forms of all the weights need not exist at once.
      const ConstantStore *store = weights.storeOf(call.constants);
      const int64_t filterBytes = channels * taps * weightBytes;
      const int64_t atOnce = std::max<int64_t>(1, (int64_t(1) << 22) / (tile.columns * filterBytes));
      for (int64_t panel = 0; panel < panelCount; panel += atOnce) {
        const int64_t last = std::min(panelCount, panel + atOnce);
        pack(values, panel, last, packed.data());
        if (store)
          store->release({values, static_cast<size_t>(std::min(last * tile.columns, out) * filterBytes)});
      }
      if (call.constants)
        call.constants->shareForm(constant, form, packed.share());
    }
    weights.discard();
  }

  /// Weights [O, I, window...] as panels [first, last), whose rows are [window..., I], on all threads.
  void pack(const std::byte *values, int64_t first, int64_t last, std::byte *to) const {
    constexpr int64_t atOnce = 128;
    const int64_t depth = channels * taps, pieces = ceilDivide(depth, atOnce);
    parallelFor((last - first) * pieces, 2, [&](int64_t begin, int64_t end) {
      alignas(64) std::byte rows[atOnce * width * floatBytes];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = first + i / pieces, row = i % pieces * atOnce, count = std::min(atOnce, depth - row);
        const std::byte *from = values + (panel * tile.columns * depth + row) * weightBytes;
        const int64_t columns = std::min(tile.columns, out - panel * tile.columns);
        if (narrow)
          panels::packNarrow(from, {1, depth}, count, columns, rows, panelBytes);
        else
          panels::pack(unit, from, {1, depth}, count, columns, rows, panelBytes);
        std::byte *target = to + panel * panelBytes;
        for (int64_t r = 0; r < count; ++r)
          std::memcpy(target + ((row + r) % taps * channels + (row + r) / taps) * rowBytes,
                      rows + r * width * weightBytes, static_cast<size_t>(rowBytes));
      }
    });
  }

  /// Rows of the result, in the columns of a panel.
  void block(const panels::Session &session, const Values &now, const Rows &which, int64_t panel,
             std::byte *scratch) const {
    auto *sums = reinterpret_cast<float *>(scratch + sumsPlace);
    const Box &box = boxes[which.box];
    const int64_t rows = which.rows, atOnce = ceilDivide(rows, which.steps);
    const int64_t firstColumn = panel * tile.columns, columns = std::min(tile.columns, out - firstColumn);
    int64_t offsets[mostRows], results[mostRows];
    locate(box, which.first, {offsets, static_cast<size_t>(rows)}, {results, static_cast<size_t>(rows)});
    const float *bias = now.bias ? now.bias + firstColumn : nullptr;
    const auto finishRows = [&](int64_t at, int64_t count) {
      // Results that follow each other at one distance are written together.
      for (const int64_t end = at + count; at < end; at += count) {
        const int64_t apart = at + 1 < end ? results[at + 1] - results[at] : 1;
        for (count = 1; at + count < end && results[at + count] - results[at + count - 1] == apart;)
          ++count;
        const int64_t first = results[at] * resultRow() + firstColumn * producedBytes;
        finish(sums + at * width, bias, count, columns, now.result + first, apart * resultRow(),
               now.residual.from(first));
      }
    };
    if (box.depth == 0) {
      std::memset(sums, 0, static_cast<size_t>(rows * width * floatBytes));
      return finishRows(0, rows);
    }
    panels::Block work{};
    work.columns = columns;
    work.narrow = narrow;
    // For `parts` lines or parts of them, from a row of the panel on.
    const auto multiply = [&](const std::byte *a, int64_t panelRow, int64_t parts, int64_t depth, bool last) {
      work.a = a;
      work.parts = parts;
      work.k = depth;
      work.panel = now.weights + panel * panelBytes + panelRow * rowBytes;
      work.next = work.panel + chunkBytes;
      work.nextBytes = ceilDivide(parts * depth * rowBytes, which.steps * 64) * 64;
      for (int64_t at = 0; at < rows; at += atOnce, work.next += work.nextBytes) {
        work.offsets = offsets + at;
        work.rows = std::min(atOnce, rows - at);
        work.c = sums + at * width;
        session.multiply(work);
        if (last)
          finishRows(at, work.rows);
      }
      work.accumulate = true;
    };
    if (gathers) {
      std::vector<int64_t> element(axes.size(), 0);
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t rest = tap;
        for (size_t d = axes.size(); d-- > 0; rest /= axes[d].kernel)
          element[d] = rest % axes[d].kernel;
        locateElement(which.first, element, now.images, {offsets, static_cast<size_t>(rows)});
        for (int64_t from = 0, depth; from < channels; from += depth) {
          depth = std::min(mostDepth, channels - from);
          multiply(now.images + from * floatBytes, tap * channels + from, 1, depth,
                   tap + 1 == taps && from + depth == channels);
        }
      }
      return;
    }
    work.partBytes = partBytes;
    work.partPanelBytes = partRows * rowBytes;
    for (const auto &start : box.starts)
      for (int64_t part = 0, parts; part < box.parts; part += parts) {
        parts = std::min(box.partsPerChunk, box.parts - part);
        for (int64_t from = 0, depth; from < box.line; from += depth) {
          depth = std::min(box.depthPerChunk, box.line - from);
          multiply(now.images + start.image + part * partBytes + from * floatBytes,
                   start.panelRow + part * partRows + from, parts, depth,
                   &start == &box.starts.back() && part + parts == box.parts && from + depth == box.line);
        }
      }
  }

  int64_t channels, out, taps;
  panels::TileApart tile;
  int64_t mostDepth; // of a chunk of a panel
  int64_t panelCount;
  SumsFinish finish;
  int64_t producedBytes;
  ScratchLayout layout, slot;
  std::optional<BorderedImages> images; // where they are converted
  size_t imagesPlace = 0;
  int64_t pieces, imagesOfPiece, givenBytes, rowsOfPiece; // of the batch, one after the other
  std::vector<Axis> axes;
  std::vector<int64_t> pitches; // from one element along an axis to the next, in bytes
  int64_t imageBytes;
  bool gathers;
  std::vector<float> zeros; // a pixel
  std::vector<Box> boxes;
  int64_t partBytes = 0, partRows = 0; // from one part of a window to the next: among the images, and in a panel
  std::vector<Rows> blocks;
  int64_t slots;
  bool panelByPanel = false;
  size_t sumsPlace, perSlot, slotPlace;
  bool biased, narrow;
  library::Packed weights, bias;
  int64_t weightBytes;          // of a value
  int64_t rowBytes, panelBytes; // of a row of a panel, and of a panel
  library::AlignedBytes packed; // constants
  size_t packedPlace = 0;       // of others
};

bool isOfBf16(const OpCall &call, size_t operandIndex) {
  return storageType(operand(call, operandIndex).dtype) == StorageType::BF16;
}

/// Whether a unit multiplies both operands as they are.
bool hasUnit(const OpCall &call) { return usesBf16() && isOfBf16(call, 0) && isOfBf16(call, 1); }

/// The cases in which panels are faster, or as fast: not too few channels, and no single adjacent pixels. Nothing is
/// generated for a new size. The kernel library computes the remaining cases.
bool suits(const OpCall &call, const Convolution &c) {
  constexpr int64_t fewValues = 48; // of a line of a window that lie together
  const Axis &along = c.window.axes.back();
  const bool onePixel =
      c.window.area() == 1 &&
      (units() == Units::AVX2 || std::ranges::all_of(c.window.axes, [](auto &a) { return a.stride == 1; }));
  return units() >= Units::AVX2 && !c.transposed && c.groups == 1 && !onePixel && c.out >= 16 &&
         volume(operand(call, 0).shape) > 0 &&
         c.window.channels * (along.dilation == 1 ? along.kernel : 1) >= fewValues && partInside(c.window.axes) > 0.2;
}

} // namespace

std::unique_ptr<Kernel> makePanelConvolution(const OpCall &call, const Convolution &c) {
  const bool fewProducts = hasUnit(call);
  if (!suits(call, c) || (fewProducts && !suitsWinogradInF32(c)))
    return nullptr;
  const DataType produced = result(call).dtype == DataType::BFloat16 ? DataType::BFloat16 : DataType::Float32;
  auto kernel = makeWinogradConvolution(
      call, c, produced, std::make_unique<PanelConvolution>(call, c, produced, activationOf(call)), fewProducts);
  return kernel ? withEpilogue(call, std::move(kernel), produced, {}) : nullptr;
}

} // namespace tt::ttnn
