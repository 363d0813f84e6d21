//===- planes.cpp - convolutions with the matrix unit, windows in place ------===//
// SPDX-License-Identifier: Apache-2.0
//
// A convolution of bf16 is a product of matrices whose left rows are the windows. An image is copied, with its border,
// into planes of 32 values for each pixel, one for each group of channels and for each remainder of a pixel's position
// divided by the stride. Under adjacent windows, each element is then in adjacent rows of a plane: a tile is read in
// place, at an offset that depends on the element. Windows are numbered along the lines of planes, which are longer
// than those of the result; what is computed beyond their ends is not stored. If the channels are not a multiple of 32,
// a row of a plane is a whole line of a window.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "core/panels/packing.h"
#include "core/panels/panels.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/elementwise/residual.h"
#include "kernels/window/convolution.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr Unit unit = Unit::BF16;
constexpr int64_t width = panels::width(unit), step = panels::blockRows(unit), group = 32; // values of a row
constexpr int64_t rowBytes = group * 2, sumBytes = step * width * static_cast<int64_t>(sizeof(float));

/// The planes of an image.
struct Planes {
  /// The elements of windows along an axis: of an element, the plane and the distance from the first one.
  struct Along {
    int64_t phases = 1; // planes
    int64_t reach = 0;  // the longest distance
  };

  explicit Planes(const Window &window)
      : channels(window.channels), down{1, 1, 1, 1, 0, 0, 1}, across(window.axes.back()),
        byLines(window.channels % group != 0) {
    if (window.axes.size() == 2)
      down = window.axes.front();
    const auto along = [](const Axis &a) {
      return Along{std::min(a.stride, (a.kernel - 1) * a.dilation + 1), (a.kernel - 1) * a.dilation / a.stride};
    };
    downwards = along(down);
    if (!byLines)
      sideways = along(across);
    values = byLines ? across.kernel * channels : channels;
    groups = ceilDivide(values, group);
    pitch = across.out + sideways.reach;
    positions = (down.out - 1) * pitch + across.out;
    steps = ceilDivide(positions, step);
    count = downwards.phases * sideways.phases * groups;
  }

  /// The steps along k: a row of the window, a column (none if a row is a whole line) and a group of values. f(row,
  /// column, group) is called for each.
  template <class F> void forEachStep(F f) const {
    for (int64_t row = 0; row < down.kernel; ++row)
      for (int64_t column = 0; column < (byLines ? 1 : across.kernel); ++column)
        for (int64_t g = 0; g < groups; ++g)
          f(row, column, g);
  }
  int64_t depth() const { return down.kernel * (byLines ? 1 : across.kernel) * groups * group; }

  /// Lines of planes that positions [first, last) need, from that of `first` on.
  int64_t linesOf(int64_t first, int64_t last) const {
    return (last - 1) / pitch - first / pitch + 1 + downwards.reach;
  }
  /// Bytes of a plane of so many lines. Rows that lie below each other in all planes would share few lines of the
  /// first-level cache if this were a multiple of a page.
  int64_t planeBytes(int64_t lines) const {
    constexpr int64_t page = 4096, apart = 1088;
    return ceilDivide(lines * pitch * rowBytes, page) * page + apart;
  }
  /// Bytes of planes from one to the next that are `plane` apart, with what is read beyond the last one.
  int64_t allBytes(int64_t plane) const {
    return count * plane + (step + sideways.reach + downwards.reach * pitch) * rowBytes;
  }

  /// Bytes from the row of a position to that of an element of its window.
  int64_t place(int64_t row, int64_t column, int64_t g, int64_t plane) const {
    const int64_t y = row * down.dilation, x = byLines ? 0 : column * across.dilation;
    const int64_t index = (y % down.stride * sideways.phases + x % across.stride) * groups + g;
    return index * plane + (y / down.stride * pitch + x / across.stride) * rowBytes;
  }

  /// Copies lines [first, first + lines) of all planes of an image; the rows of a line are `pitch`.
  void copy(const std::byte *image, int64_t first, int64_t lines, int64_t plane, std::byte *to) const {
    for (int64_t phase = 0; phase < downwards.phases; ++phase)
      for (int64_t line = 0; line < lines; ++line) {
        const int64_t y = (first + line) * down.stride + phase - down.low;
        const std::byte *from = y >= 0 && y < down.size ? image + y * across.size * channels * 2 : nullptr;
        std::byte *target = to + phase * sideways.phases * groups * plane + line * pitch * rowBytes;
        if (byLines)
          copyWindows(from, plane, target);
        else
          for (int64_t p = 0; p < sideways.phases; ++p)
            copyPixels(from, p, plane, target + p * groups * plane);
      }
  }

  int64_t channels;
  Axis down, across; // of sequences, the first has one element
  bool byLines;      // a row of planes is a line of a window, else a pixel
  Along downwards, sideways;
  int64_t values, groups; // of a row of all planes
  int64_t pitch;          // rows of a line
  int64_t positions;      // of windows, with those beyond the ends of lines
  int64_t steps;
  int64_t count; // of planes

private:
  void copyPixels(const std::byte *line, int64_t phase, int64_t plane, std::byte *to) const {
    const int64_t bytes = channels * 2;
    // The rows [begin, end) are inside of the image.
    const int64_t offset = phase - across.low;
    const int64_t begin = std::clamp<int64_t>(ceilDivide(std::max<int64_t>(0, -offset), across.stride), 0, pitch);
    const int64_t room = across.size - offset;
    const int64_t end =
        line ? std::clamp<int64_t>(room > 0 ? ceilDivide(room, across.stride) : 0, begin, pitch) : begin;
    for (int64_t g = 0; g < groups; ++g, to += plane) {
      std::memset(to, 0, static_cast<size_t>(begin * rowBytes));
      std::memset(to + end * rowBytes, 0, static_cast<size_t>((pitch - end) * rowBytes));
    }
    to -= groups * plane;
    if (begin == end)
      return;
    const std::byte *from = line + (begin * across.stride + offset) * bytes;
    for (int64_t x = begin; x < end; ++x, from += across.stride * bytes) {
      std::byte *target = to + x * rowBytes;
      for (int64_t g = 0; g < groups; ++g, target += plane)
        std::memcpy(target, from + g * rowBytes, rowBytes);
    }
  }

  void copyWindows(const std::byte *line, int64_t plane, std::byte *to) const {
    if (!line)
      return panels::copyPart({to, 0, 0, pitch, 0}, groups, plane, to);
    for (int64_t x = 0, together; x < pitch; x += together) {
      const int64_t first = x * across.stride - across.low, room = across.size - across.kernel - first;
      const int64_t low = std::clamp<int64_t>(-first, 0, across.kernel);
      const int64_t high = std::clamp<int64_t>(across.size - first, low, across.kernel);
      // Windows that are inside follow each other.
      together = first >= 0 && room >= 0 ? std::min(pitch - x, room / across.stride + 1) : 1;
      panels::copyPart(
          {line + first * channels * 2, low * channels, high * channels, together, across.stride * channels * 2},
          groups, plane, to + x * rowBytes);
    }
  }
};

class PlaneConvolution final : public Kernel, public PacksOperand, public AddsResidual {
public:
  PlaneConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation)
      : planes(c.window), batch(c.window.batch), channels(c.window.channels), out(c.out), taps(c.window.area()),
        panelCount(ceilDivide(out, width)), panelBytes(panels::panelBytes(unit, planes.depth())),
        finish(unit, produced, activation), producedBytes(static_cast<int64_t>(storageBytes(produced))),
        biased(optionalOperand(call, 2) != nullptr) {
    divide();
    if (biased)
      bias = library::Packed(call, 2, DataType::Float32, layout);
    placeWeights(call); // nothing can fail any more
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? !packed : operand == 2 && bias.reads());
  }
  std::optional<Packing> packsInEveryRun() const override {
    if (packed)
      return std::nullopt;
    return Packing{1, static_cast<size_t>(panelCount * panelBytes)};
  }
  bool addsResidual(DataType type) const override { return finish.adds(type); }
  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    Values now{buffers.ins[0], packed.data(), nullptr, buffers.outs[0], residual};
    if (!packed) {
      pack(reinterpret_cast<const uint16_t *>(weights.get(buffers.ins[1], buffers.scratch)), {0, panelCount},
           buffers.scratch + packedPlace);
      now.panels = buffers.scratch + packedPlace;
    }
    if (biased)
      now.bias = reinterpret_cast<const float *>(bias.get(buffers.ins[2], buffers.scratch));
    const int64_t blocks = batch * blocksOfImage, items = byPanels ? panelCount : batch * planes.steps;
    // A thread copies all windows for its panels, hence takes all of them at once.
    const int64_t atOnce = byPanels ? ceilDivide(panelCount, slots) : stepsOfBlock;
    parallelRuns(items, atOnce, slots, [&](int64_t s, Runs &runs) {
      const panels::Session session(unit, step);
      std::byte *scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot;
      for (ItemRange run; runs.take(run);) {
        if (byPanels) {
          for (int64_t b = 0; b < blocks; ++b) {
            const int64_t from = b % blocksOfImage * stepsOfBlock;
            block(session, now, b / blocksOfImage, {from, std::min(planes.steps, from + stepsOfBlock)}, run, scratch);
          }
          continue;
        }
        while (run.begin < run.end) {
          const int64_t image = run.begin / planes.steps, from = run.begin % planes.steps;
          const int64_t until = std::min({planes.steps, from + stepsOfBlock, from + run.size()});
          block(session, now, image, {from, until}, {0, panelCount}, scratch);
          run.begin += until - from;
        }
      }
    });
  }

private:
  struct Values {
    const std::byte *images, *panels;
    const float *bias;
    std::byte *result;
    const Residual &residual;
  };
  /// Threads share the panels if these do not stay in the second cache, else the windows.
  void divide() {
    constexpr int64_t weightsInCache = 1 << 19, planesInCache = 1 << 19;
    byPanels = panelCount * panelBytes > weightsInCache && panelCount >= threads();
    slots = std::min<int64_t>(threads(), byPanels ? panelCount : batch * planes.steps);
    // As many windows as planes may have; of a thread, if it has fewer.
    const int64_t lineBytes = planes.count * planes.pitch * rowBytes;
    const int64_t lines = std::max<int64_t>(1, planesInCache / lineBytes - planes.downwards.reach);
    const int64_t most = std::max<int64_t>(1, (lines * planes.pitch) / step);
    const int64_t each = byPanels ? planes.steps : std::min(planes.steps, ceilDivide(batch * planes.steps, slots));
    stepsOfBlock = ceilDivide(each, ceilDivide(each, most));
    blocksOfImage = ceilDivide(planes.steps, stepsOfBlock);
    // A block may begin at the end of a line.
    plane = planes.planeBytes(ceilDivide(stepsOfBlock * step, planes.pitch) + 1 + planes.downwards.reach);
    planes.forEachStep(
        [&](int64_t row, int64_t column, int64_t g) { places.push_back(planes.place(row, column, g, plane)); });
    ScratchLayout slot;
    planesPlace = slot.take(static_cast<size_t>(planes.allBytes(plane)));
    sumsPlace = slot.take(static_cast<size_t>(sumsAtOnce * sumBytes));
    // A chunk of a long panel stays in the first-level cache for some steps. It is not worth reading sums again if the
    // rows do not stay there, or if they are read from memory only once or twice.
    const int64_t steps = planes.depth() / group;
    const bool chunks = byPanels ? stepsOfBlock <= 2 : panelBytes > longPanel;
    stepsOfChunk = chunks ? ceilDivide(steps, ceilDivide(steps, mostOfChunk)) : steps;
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  void placeWeights(const OpCall &call) {
    weights = library::Packed(call, 1, DataType::BFloat16, layout);
    const auto form = library::formOf(library::FormOf::Planes, storageType(operand(call, 1).dtype),
                                      {out, channels, planes.down.kernel, planes.across.kernel, planes.byLines});
    const std::byte *constant = library::constantOperand(call, 1);
    if (constant && call.constants)
      packed = library::AlignedBytes(call.constants->sharedForm(constant, form));
    if (packed)
      return;
    const auto bytes = static_cast<size_t>(panelCount * panelBytes);
    const std::byte *values = weights.constantValues();
    const std::span given{values, operand(call, 1).bytes()};
    if (!values || (call.constants && (!call.constants->affords(given, bytes) || call.constants->defers(given)))) {
      packedPlace = layout.take(bytes);
      return;
    }
    packed = library::AlignedBytes(bytes);
    const ConstantStore *store = weights.storeOf(call.constants);
    const int64_t filterBytes = channels * taps * 2;
    // Packed values are released: both forms of all the weights need not exist at once.
    const int64_t atOnce = std::max<int64_t>(1, (int64_t(1) << 22) / (width * filterBytes));
    for (int64_t panel = 0; panel < panelCount; panel += atOnce) {
      const int64_t last = std::min(panelCount, panel + atOnce);
      pack(reinterpret_cast<const uint16_t *>(values), {panel, last}, packed.data());
      if (store)
        store->release({values, static_cast<size_t>(std::min(last * width, out) * filterBytes)});
    }
    if (call.constants)
      call.constants->shareForm(constant, form, packed.share());
  }

  /// Packs weights [O, I, window...] in the order of the steps, on all threads.
  void pack(const uint16_t *values, ItemRange which, std::byte *panels) const {
    const int64_t filter = channels * taps, kernel = planes.across.kernel;
    parallelFor(which.size(), 1, [&](int64_t begin, int64_t end) {
      alignas(64) uint16_t rows[width * group];
      for (int64_t panel = which.begin + begin; panel < which.begin + end; ++panel) {
        std::byte *to = panels + panel * panelBytes;
        const int64_t columns = std::min(width, out - panel * width);
        planes.forEachStep([&](int64_t row, int64_t column, int64_t g) {
          const int64_t count = std::min(group, planes.values - g * group);
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t i = 0; i < count; ++i) {
              const int64_t value = g * group + i, channel = value % channels;
              const int64_t tap = row * kernel + (planes.byLines ? value / channels : column);
              rows[c * group + i] = values[(panel * width + c) * filter + channel * taps + tap];
            }
          panels::pack(unit, reinterpret_cast<const std::byte *>(rows), {1, group}, count, columns, to, panelBytes);
          to += panels::panelBytes(unit, group);
        });
      }
    });
  }

  /// Steps of windows of an image in the columns of panels.
  void block(const panels::Session &session, const Values &now, int64_t image, ItemRange which, ItemRange columns,
             std::byte *scratch) const {
    const int64_t firstLine = which.begin * step / planes.pitch;
    const int64_t last = std::min(planes.positions, which.end * step);
    planes.copy(now.images + image * planes.down.size * planes.across.size * channels * 2, firstLine,
                planes.linesOf(which.begin * step, last), plane, scratch + planesPlace);
    const std::byte *rows = scratch + planesPlace - firstLine * planes.pitch * rowBytes;
    auto *sums = reinterpret_cast<float *>(scratch + sumsPlace);
    if (byPanels) {
      for (int64_t panel = columns.begin; panel < columns.end; ++panel)
        for (int64_t some = which.begin; some < which.end; some += sumsAtOnce)
          piece(session, now, image, {some, std::min(which.end, some + sumsAtOnce)}, panel, some == which.begin, rows,
                sums);
      return;
    }
    for (int64_t some = which.begin; some < which.end; some += sumsAtOnce)
      for (int64_t panel = columns.begin; panel < columns.end; ++panel)
        piece(session, now, image, {some, std::min(which.end, some + sumsAtOnce)}, panel, some == which.begin, rows,
              sums);
  }

  /// Some steps in the columns of a panel. isFirst: the panel is read from memory.
  void piece(const panels::Session &session, const Values &now, int64_t image, ItemRange which, int64_t panel,
             bool isFirst, const std::byte *rows, float *sums) const {
    const auto steps = static_cast<int64_t>(places.size());
    panels::Block work{};
    work.where = {rowBytes, 16 * rowBytes, 0};
    work.columns = width;
    for (int64_t from = 0; from < steps; from += stepsOfChunk) {
      const int64_t count = std::min(stepsOfChunk, steps - from);
      work.k = count * group;
      work.places = places.data() + from;
      work.panel = now.panels + panel * panelBytes + from * panels::panelBytes(unit, group);
      work.accumulate = from > 0;
      work.nextBytes = isFirst ? ceilDivide(panels::panelBytes(unit, work.k), which.size() * 64) * 64 : 0;
      work.next = work.panel + aheadBytes;
      for (int64_t at = which.begin; at < which.end; ++at, work.next += work.nextBytes) {
        work.c = sums + (at - which.begin) * sumBytes / 4;
        multiply(session, work, rows, at);
        if (from + count == steps)
          store(now, image, at, panel, work.c);
      }
    }
  }

  void multiply(const panels::Session &session, panels::Block &work, const std::byte *rows, int64_t at) const {
    work.a = rows + at * step * rowBytes;
    work.rows = session.rowsFor(std::min(step, planes.positions - at * step));
    session.multiply(work);
  }

  /// Writes the sums of a step, line by line.
  void store(const Values &now, int64_t image, int64_t at, int64_t panel, float *sums) const {
    const int64_t length = planes.across.out, first = at * step;
    const int64_t last = std::min(planes.positions, first + step), columns = std::min(width, out - panel * width);
    const float *added = now.bias ? now.bias + panel * width : nullptr;
    const auto write = [&](int64_t position, int64_t result, int64_t count) {
      const int64_t byte = (result * out + panel * width) * producedBytes;
      finish(sums + (position - first) * width, added, count, columns, now.result + byte, out * producedBytes,
             now.residual.from(byte));
    };
    const int64_t results = image * planes.down.out * length;
    if (planes.pitch == length)
      return write(first, results + first, last - first);
    for (int64_t position = first, count; position < last; position += count) {
      const int64_t line = position / planes.pitch, x = position % planes.pitch;
      count = std::min(last - position, x < length ? length - x : planes.pitch - x);
      if (x < length)
        write(position, results + line * length + x, count);
    }
  }

  static constexpr int64_t aheadBytes = 32768, sumsAtOnce = 8, longPanel = 40960, mostOfChunk = 18;
  Planes planes;
  int64_t batch, channels, out, taps;
  int64_t panelCount, panelBytes;
  SumsFinish finish;
  int64_t producedBytes;
  bool biased;
  ScratchLayout layout;
  library::Packed weights, bias;
  bool byPanels = false;
  int64_t slots, stepsOfBlock, blocksOfImage;
  int64_t stepsOfChunk;        // along k
  int64_t plane;               // bytes from one plane to the next
  std::vector<int64_t> places; // of each step
  size_t planesPlace, sumsPlace, perSlot, slotPlace;
  library::AlignedBytes packed; // constants
  size_t packedPlace = 0;       // of others
};

} // namespace

std::unique_ptr<Kernel> makePlaneConvolution(const OpCall &call, const Convolution &c) {
  constexpr int64_t mostWork = 4;                          // of the products, if all rows and values were needed
  constexpr int64_t mostLines = 8, mostDistance = 1 << 20; // lines that are read for one of windows
  const std::vector<Axis> &axes = c.window.axes;
  const bool simple = std::ranges::all_of(axes, [](const Axis &a) { return a.kernel * a.dilation < mostDistance; });
  if (!simple || axes.size() > 2)
    return nullptr;
  const Axis &across = axes.back();
  if (c.window.channels % group != 0 && (across.dilation > 1 || across.kernel > mostLines * across.stride))
    return nullptr;
  const Planes planes(c.window);
  const int64_t needed = planes.down.out * planes.across.out * panels::depth(unit, c.window.area() * c.window.channels);
  if (planes.steps * step * planes.depth() > mostWork * needed)
    return nullptr;
  const DataType produced = result(call).dtype == DataType::BFloat16 ? DataType::BFloat16 : DataType::Float32;
  return withEpilogue(call, std::make_unique<PlaneConvolution>(call, c, produced, activationOf(call)), produced, {});
}

} // namespace tt::ttnn
