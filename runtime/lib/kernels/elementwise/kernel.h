//===- kernel.h - elementwise ops as stages of a kernel -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/elementwise/steps.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

namespace tt::ttnn {

/// Elementwise ops over results with the same number of elements: each chunk passes through all of them while it is in
/// cache. Values between two ops are the same as in memory.
class ElementwiseKernel final : public Kernel {
public:
  explicit ElementwiseKernel(std::vector<Stage> given) : stages(std::move(given)) {
    total = static_cast<size_t>(volume(stages.front().spec.shape));
    bool integer = false;
    for (Stage &stage : stages) {
      unit = std::max(unit, stage.unit);
      integer = integer || stage.i;
    }
    chunk = slotBytes / (integer ? sizeof(int64_t) : sizeof(float));
    assignSlots();
    if (Steps::fit(stages))
      steps = Steps(stages);
    else if (stages.size() > 1)
      findStreams();
  }

  void run(const Buffers &buffers) const override { runPart(buffers, 0, total); }

  void runOnce(const Buffers &buffers, const ConstantStore &store) const override {
    constexpr size_t pieceBytes = size_t(1) << 21;
    const Stage &stage = stages.front();
    const size_t piece = std::max(pieceBytes / (stage.outBytes * unit), size_t(1)) * unit;
    for (size_t begin = 0; begin < total; begin += piece) {
      const size_t end = std::min(total, begin + piece);
      runPart(buffers, begin, end);
      for (const Operand &operand : stage.operands)
        if (operand.access != Access::Stage && liesLikeResult(stage, operand))
          store.release({buffers.ins[operand.index], end * operand.bytes});
    }
  }

  /// Returns the bytes of an element of a result.
  size_t outBytes(size_t result) const {
    const auto stage = std::ranges::find(stages, static_cast<int>(result), &Stage::out);
    return stage == stages.end() ? 0 : stage->outBytes;
  }

  std::vector<Stage> stages;
  size_t total, unit = 1;

  /// The slots that the stages may need, in any order.
  static constexpr size_t mostSlots = maxChainSlots;
  static size_t slotsOf(const Stage &stage) {
    return 1 + static_cast<size_t>(std::ranges::count(stage.operands, Access::Scalar, &Operand::access));
  }

private:
  static constexpr size_t slotBytes = 8192;
  static constexpr uint32_t work = Stage::work, firstSlot = work + 1;
  using Slots = std::byte (*)[slotBytes];

  /// An operand or result that is read or written from one end to the other.
  struct Stream {
    bool written;
    uint32_t index; // of the kernel's operand or result
    size_t bytes;   // of an element
    bool operator==(const Stream &) const = default;
  };

  void findStreams() {
    for (const Stage &stage : stages) {
      for (const Operand &operand : stage.operands)
        if (const Stream stream{false, operand.index, operand.bytes};
            operand.access == Access::Same && std::ranges::find(streams, stream) == streams.end())
          streams.push_back(stream);
      if (stage.out >= 0)
        streams.push_back({true, static_cast<uint32_t>(stage.out), stage.outBytes});
    }
  }

  void assignSlots() {
    std::vector<uint32_t> free, last(stages.size(), 0);
    uint32_t next = firstSlot;
    for (uint32_t s = 0; s < stages.size(); ++s)
      for (size_t k = 0; k < stages[s].operands.size(); ++k) {
        const Operand &operand = stages[s].operands[k];
        if (operand.access == Access::Stage)
          last[operand.index] = s;
        else if (operand.access == Access::Scalar)
          stages[s].scalarSlots[k] = next++;
      }
    for (uint32_t s = 0; s < stages.size(); ++s) {
      if (stages[s].kept) {
        stages[s].slot = free.empty() ? next++ : free.back();
        if (!free.empty())
          free.pop_back();
      }
      for (uint32_t before = 0; before < s; ++before)
        if (stages[before].kept && last[before] == s)
          free.push_back(stages[before].slot);
    }
  }

  static bool liesLikeResult(const Stage &stage, const Operand &operand) {
    int64_t stride = 1;
    for (size_t d = stage.dims.size(); d-- > 0; stride *= stage.dims[d])
      if (operand.strides[d] != stride)
        return false;
    return true;
  }

  /// Elements [begin, end), both multiples of the unit, on all threads.
  void runPart(const Buffers &buffers, size_t begin, size_t end) const {
    const auto grain = static_cast<int64_t>(std::max<size_t>(1, 16384 / unit));
    parallelFor(static_cast<int64_t>((end - begin) / unit), grain, [&](int64_t first, int64_t last) {
      part(buffers, begin + static_cast<size_t>(first) * unit, begin + static_cast<size_t>(last) * unit);
    });
  }

  void part(const Buffers &buffers, size_t begin, size_t end) const {
    if (!steps.empty())
      return steps.run(buffers, begin, end);
    alignas(64) std::byte slots[firstSlot + mostSlots][slotBytes];
    const size_t most = std::min(chunk, end - begin);
    for (const Stage &stage : stages)
      stage.i ? fillScalars<int64_t>(stage, buffers, slots, most) : fillScalars<float>(stage, buffers, slots, most);
    forEachPiece(begin, end, unit, chunk, [&](size_t first, size_t count) {
      for (size_t s = 0; s < stages.size(); ++s) {
        const Stage &stage = stages[s];
        stage.i ? piece<int64_t>(stage, buffers, slots, first, count)
                : piece<float>(stage, buffers, slots, first, count);
        prefetch(buffers, first + count, std::min(count, end - first - count), s);
      }
    });
  }

  /// Prefetches a share of the memory that the next piece reads and writes, so that memory works while stages compute.
  void prefetch(const Buffers &buffers, size_t first, size_t count, size_t share) const {
    for (const Stream &stream : streams) {
      const std::byte *at =
          (stream.written ? buffers.outs[stream.index] : buffers.ins[stream.index]) + first * stream.bytes;
      const size_t lines = count * stream.bytes / 64;
      for (size_t i = lines * share / stages.size(); i < lines * (share + 1) / stages.size(); ++i)
        stream.written ? __builtin_prefetch(at + i * 64, 1, 2) : __builtin_prefetch(at + i * 64, 0, 2);
    }
  }

  template <class T> static T *values(Slots slots, uint32_t slot) { return reinterpret_cast<T *>(slots[slot]); }

  template <class T> void fillScalars(const Stage &stage, const Buffers &buffers, Slots slots, size_t count) const {
    for (size_t k = 0; k < stage.operands.size(); ++k) {
      if (stage.operands[k].access != Access::Scalar)
        continue;
      T *to = values<T>(slots, stage.scalarSlots[k]);
      stage.load<T>(k)(buffers.ins[stage.operands[k].index], to, 1);
      std::fill_n(to + 1, count - 1, to[0]);
    }
  }

  template <class T>
  void piece(const Stage &stage, const Buffers &buffers, Slots slots, size_t first, size_t count) const {
    std::byte *out = stage.out >= 0 ? buffers.outs[static_cast<size_t>(stage.out)] + first * stage.outBytes : nullptr;
    // f32 is computed in place; other types are stored from the buffer.
    T *result = values<T>(slots, work);
    if (stage.direct)
      result = out ? reinterpret_cast<T *>(out) : values<T>(slots, stage.slot);
    else if (stage.rounded)
      result = values<T>(slots, stage.slot);
    if (!stage.function<T>()) {
      const Operand &operand = stage.operands.front();
      stage.load<T>(0)(buffers.ins[operand.index] + first * operand.bytes, result, count);
      return;
    }
    const Run<T> function = stage.function<T>();
    const T *at[maxElementwiseIns] = {};
    const auto row = static_cast<size_t>(stage.dims.back());
    for (size_t i = first, n; i < first + count; i += n) {
      n = first + count - i;
      if (stage.rowAligned)
        n = std::min(n, row - i % row);
      for (size_t k = 0; k < stage.operands.size(); ++k)
        at[k] = read<T>(stage, k, buffers, slots, first, i, n);
      function(at, result + (i - first), n, stage.scalars);
    }
    if (stage.direct)
      return;
    // A piece of a block format is stored as a whole: its groups begin where it does.
    if (out)
      storePiece(stage.store<T>(), stage.spec, unit, result, out, count);
    if constexpr (std::is_same_v<T, float>)
      if (stage.rounded)
        return stage.fRounded ? void() : sim::roundToBf16(result, count);
    if (stage.kept)
      storePiece(stage.store<T>(), stage.spec, unit, result, slots[stage.slot], count);
  }

  /// Values [i, i + n) of an operand: in place if possible, else converted. `first` begins the piece.
  template <class T>
  const T *read(const Stage &stage, size_t k, const Buffers &buffers, Slots slots, size_t first, size_t i,
                size_t n) const {
    const Operand &operand = stage.operands[k];
    T *buffer = values<T>(slots, static_cast<uint32_t>(k));
    const std::byte *base;
    switch (operand.access) {
    case Access::Scalar:
      return values<T>(slots, stage.scalarSlots[k]);
    case Access::Same:
      base = buffers.ins[operand.index] + i * operand.bytes;
      break;
    case Access::Stage: {
      const Stage &from = stages[operand.index];
      base = from.direct && from.out >= 0 ? buffers.outs[static_cast<size_t>(from.out)] + i * operand.bytes
                                          : slots[from.slot] + (i - first) * operand.bytes;
      break;
    }
    case Access::Broadcast:
      return readBroadcast<T>(stage, k, buffers.ins[operand.index], i, n, buffer);
    }
    if (operand.direct)
      return reinterpret_cast<const T *>(base);
    stage.load<T>(k)(base, buffer, n);
    return buffer;
  }

  template <class T>
  const T *readBroadcast(const Stage &stage, size_t k, const std::byte *base, size_t i, size_t n, T *buffer) const {
    const Operand &operand = stage.operands[k];
    const auto &dims = stage.dims;
    const auto row = static_cast<size_t>(dims.back());
    size_t column = i % row, outer = i / row, done = 0;
    while (done < n) {
      const size_t count = std::min(n - done, row - column);
      int64_t offset = static_cast<int64_t>(column) * operand.strides.back();
      for (size_t d = dims.size() - 1, rest = outer; d-- > 0; rest /= static_cast<size_t>(dims[d]))
        offset += static_cast<int64_t>(rest % static_cast<size_t>(dims[d])) * operand.strides[d];
      const std::byte *from = base + static_cast<size_t>(offset) * operand.bytes;
      if (operand.strides.back() == 0) {
        stage.load<T>(k)(from, buffer + done, 1);
        std::fill_n(buffer + done + 1, count - 1, buffer[done]);
      } else if (operand.direct && count == n) {
        return reinterpret_cast<const T *>(from);
      } else {
        stage.load<T>(k)(from, buffer + done, count);
      }
      done += count;
      column = 0;
      ++outer;
    }
    return buffer;
  }

  size_t chunk;
  std::vector<Stream> streams; // of a chain
  Steps steps;                 // instead of pieces, if the stages fit
};

} // namespace tt::ttnn
