//===- elementwise.cpp - the kernel around an elementwise row -------------===//

#include "elementwise.h"

#include "op.h"
#include "storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>

namespace tt::ttnn {
namespace {

/// How an operand is read at result position `p`: dims and strides after merging dimensions that all operands step
/// through alike, or what an earlier stage of the chain gave.
enum class Access : uint8_t { Same, Scalar, Broadcast, Stage };

struct Operand {
  Access access;
  uint32_t index;               // of the kernel's operand, or of the stage
  std::vector<int64_t> strides; // elements, per merged dimension; the last is 1 or 0
  size_t bytes;                 // of one stored value
  bool direct;                  // stored as it is computed: no conversion
};

/// Result dimensions merged as far as every operand allows.
struct Broadcasting {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides; // [operand][dim]
};

Broadcasting broadcasting(const OpCall &call) {
  const Shape &shape = result(call).shape;
  const size_t rank = shape.size(), count = call.ins.size();
  Broadcasting merged;
  merged.strides.resize(count);
  std::vector<std::vector<int64_t>> strides(count, std::vector<int64_t>(rank, 0));
  for (size_t k = 0; k < count; ++k) {
    const Shape &from = operand(call, k).shape;
    int64_t stride = 1;
    for (size_t d = from.size(); d-- > 0; stride *= from[d])
      strides[k][d + rank - from.size()] = from[d] == 1 ? 0 : stride;
  }
  for (size_t d = 0; d < rank; ++d) {
    if (shape[d] == 1)
      continue;
    bool joins = !merged.dims.empty();
    for (size_t k = 0; k < count && joins; ++k)
      joins = merged.strides[k].back() == strides[k][d] * shape[d];
    if (!joins) {
      merged.dims.push_back(shape[d]);
      for (size_t k = 0; k < count; ++k)
        merged.strides[k].push_back(strides[k][d]);
      continue;
    }
    merged.dims.back() *= shape[d];
    for (size_t k = 0; k < count; ++k)
      merged.strides[k].back() = strides[k][d];
  }
  if (merged.dims.empty()) {
    merged.dims.push_back(1);
    for (auto &s : merged.strides)
      s.push_back(0);
  }
  return merged;
}

void expectBroadcast(const OpCall &call) {
  const Shape &shape = result(call).shape;
  Shape expected;
  for (size_t k = 0; k < call.ins.size(); ++k) {
    const Shape &from = operand(call, k).shape;
    if (from.size() > expected.size())
      expected.insert(expected.begin(), from.size() - expected.size(), 1);
    for (size_t d = 0; d < from.size(); ++d) {
      int64_t &size = expected[d + expected.size() - from.size()];
      if (size != 1 && from[d] != 1 && size != from[d])
        fail(call, "operand " + std::to_string(k) + " of shape " + toString(from) +
                       " does not broadcast with the operands before it, to " + toString(shape));
      size = size == 1 ? from[d] : size;
    }
  }
  expectResultShape(call, expected);
}

/// An op, computed in f32 or in int64.
struct Stage {
  Run<float> f = nullptr;
  Run<int64_t> i = nullptr;
  std::array<Load<float>, maxElementwiseIns> loadsF{};
  std::array<Load<int64_t>, maxElementwiseIns> loadsI{};
  Store<float> storeF = nullptr;
  Store<int64_t> storeI = nullptr;
  Scalars scalars;
  TensorSpec spec; // of the result
  size_t unit, outBytes;
  std::vector<int64_t> dims;
  std::vector<Operand> operands;
  bool rowAligned = false;
  bool direct; // f32 computed as f32
  // In a chain:
  int out = 0;       // result of the kernel, or -1: used inside of the chain only
  bool kept = false; // a later stage uses it
  uint32_t slot = 0; // where its values are kept for later stages, unless these are f32 that lies in the result
  std::array<uint32_t, maxElementwiseIns> scalarSlots{}; // of operands that are one value

  Stage(const OpCall &call, const ElementwiseRow &row, bool integer, const Scalars &scalars)
      : scalars(scalars), spec(result(call)), unit(storeGroup(spec)), outBytes(storageBytes(spec.dtype)),
        direct(!integer && spec.dtype == DataType::Float32) {
    Broadcasting merged = broadcasting(call);
    dims = std::move(merged.dims);
    if (integer) {
      i = row.i;
      storeI = storer<int64_t>(spec.dtype);
    } else {
      f = row.f;
      storeF = storer<float>(spec.dtype);
    }
    for (size_t k = 0; k < call.ins.size(); ++k) {
      const TensorSpec &in = operand(call, k);
      const auto &strides = merged.strides[k];
      const bool scalar = std::ranges::all_of(strides, [](int64_t s) { return s == 0; });
      const bool same = dims.size() == 1 && strides[0] == 1;
      const bool condition = row.domain == Domain::Select && k == 0;
      if (integer)
        loadsI[k] = condition ? loadNonzero<int64_t>(in.dtype) : loader<int64_t>(in.dtype);
      else
        loadsF[k] = condition ? loadNonzero<float>(in.dtype) : loader<float>(in.dtype);
      operands.push_back({scalar ? Access::Scalar
                          : same ? Access::Same
                                 : Access::Broadcast,
                          static_cast<uint32_t>(k), strides, storageBytes(in.dtype),
                          !integer && in.dtype == DataType::Float32});
      // Long rows are cut at their ends, so that a broadcast operand is read where it lies.
      if (operands.back().access == Access::Broadcast && dims.back() >= 256)
        rowAligned = true;
    }
  }
  template <class T> Run<T> function() const;
  template <class T> Load<T> load(size_t k) const;
  template <class T> Store<T> store() const;
};
template <> Run<float> Stage::function() const { return f; }
template <> Run<int64_t> Stage::function() const { return i; }
template <> Load<float> Stage::load(size_t k) const { return loadsF[k]; }
template <> Load<int64_t> Stage::load(size_t k) const { return loadsI[k]; }
template <> Store<float> Stage::store() const { return storeF; }
template <> Store<int64_t> Stage::store() const { return storeI; }

/// Elementwise ops over results of the same number of elements: each chunk goes through all of them while it is in
/// cache. What is between two ops has the same values as it would have in memory.
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

  std::vector<Stage> stages;
  size_t total, unit = 1;

  /// Slots that the stages may need, whatever their order.
  static constexpr size_t mostSlots = maxChainSlots;
  static size_t slotsOf(const Stage &stage) {
    return 1 + static_cast<size_t>(std::ranges::count(stage.operands, Access::Scalar, &Operand::access));
  }

private:
  static constexpr size_t slotBytes = 8192;
  // The first ones are for operands that have to be converted, and for a result before it is stored.
  static constexpr uint32_t work = maxElementwiseIns, firstSlot = work + 1;
  using Slots = std::byte (*)[slotBytes];

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

  /// Elements [begin, end), both multiples of the unit, by all threads.
  void runPart(const Buffers &buffers, size_t begin, size_t end) const {
    const auto grain = static_cast<int64_t>(std::max<size_t>(1, 16384 / unit));
    parallelFor(static_cast<int64_t>((end - begin) / unit), grain, [&](int64_t first, int64_t last) {
      part(buffers, begin + static_cast<size_t>(first) * unit, begin + static_cast<size_t>(last) * unit);
    });
  }

  void part(const Buffers &buffers, size_t begin, size_t end) const {
    alignas(64) std::byte slots[firstSlot + mostSlots][slotBytes];
    const size_t most = std::min(chunk, end - begin);
    for (const Stage &stage : stages)
      stage.i ? fillScalars<int64_t>(stage, buffers, slots, most) : fillScalars<float>(stage, buffers, slots, most);
    forEachPiece(begin, end, unit, chunk, [&](size_t first, size_t count) {
      for (const Stage &stage : stages)
        stage.i ? piece<int64_t>(stage, buffers, slots, first, count)
                : piece<float>(stage, buffers, slots, first, count);
    });
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
    // f32 is computed where it belongs; all else is stored from there.
    T *result = values<T>(slots, work);
    if (stage.direct)
      result = out ? reinterpret_cast<T *>(out) : values<T>(slots, stage.slot);
    const T *at[maxElementwiseIns] = {};
    const auto row = static_cast<size_t>(stage.dims.back());
    for (size_t i = first, n; i < first + count; i += n) {
      n = first + count - i;
      if (stage.rowAligned)
        n = std::min(n, row - i % row);
      for (size_t k = 0; k < stage.operands.size(); ++k)
        at[k] = read<T>(stage, k, buffers, slots, first, i, n);
      stage.function<T>()(at, result + (i - first), n, stage.scalars);
    }
    if (stage.direct)
      return;
    // A piece of a block format is stored whole: its groups begin where it does.
    if (out)
      storePiece(stage.store<T>(), stage.spec, unit, result, out, count);
    if (stage.kept)
      storePiece(stage.store<T>(), stage.spec, unit, result, slots[stage.slot], count);
  }

  /// Values [i, i + n) of an operand: where they lie when that is possible, else converted. `first` begins the piece.
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
};

/// The scalar attributes; `integral` tells whether they are integers (or infinite bounds).
Scalars scalarsOf(const OpCall &call, const ElementwiseRow &row, bool &integral) {
  Scalars scalars;
  for (size_t i = 0; i < row.scalars.size() && !row.scalars[i].empty(); ++i) {
    const double value = number(call, row.scalars[i]);
    scalars.f[i] = static_cast<float>(value);
    integral &= std::trunc(value) == value; // NaN is not, Inf is
    scalars.i[i] = std::isnan(value)  ? 0
                   : value >= 0x1p62  ? int64_t(1) << 62
                   : value <= -0x1p62 ? -(int64_t(1) << 62)
                                      : static_cast<int64_t>(value);
  }
  return scalars;
}

/// Rows that are faster or differ for one value of an attribute.
const ElementwiseRow &specialised(const OpCall &call, const ElementwiseRow &row) {
  if (row.name == "ttnn.pow_scalar" && number(call, "rhs") == 2.0)
    return *findElementwise("square");
  if (row.name == "ttnn.gelu_bw") {
    const std::string approximate = call.attributes.get<std::string>("approximate", "none");
    if (approximate == "tanh")
      return *findElementwise("gelu_bw_tanh");
    if (approximate != "none")
      fail(call, "attribute 'approximate' is \"" + approximate + "\"; expected \"none\" or \"tanh\"");
  }
  return row;
}

Cost elementwiseCost(const OpCall &call) {
  Cost cost = vectorCost(call);
  // The matrix unit adds, subtracts and multiplies; all else is the vector unit's.
  if (call.name == "ttnn.add" || call.name == "ttnn.subtract" || call.name == "ttnn.multiply")
    std::swap(cost.sfpuTiles, cost.fpuTiles);
  return cost;
}

} // namespace

std::unique_ptr<Kernel> makeElementwise(const OpCall &call) {
  const ElementwiseRow &row = specialised(call, *findElementwise(call.name));
  expectBroadcast(call);
  bool integral = true;
  const Scalars scalars = scalarsOf(call, row, integral);
  bool integer = row.i != nullptr && integral;
  for (size_t k = row.domain == Domain::Select ? 1 : 0; k < call.ins.size(); ++k)
    integer &= isInteger(operand(call, k).dtype);
  if (row.domain == Domain::Quotient)
    integer &= isInteger(result(call).dtype);
  if (integer || row.f)
    return std::make_unique<ElementwiseKernel>(std::vector<Stage>{Stage(call, row, integer, scalars)});
  for (size_t k = 0; k < call.ins.size(); ++k)
    if (isFloat(operand(call, k).dtype))
      fail(call, "operand " + std::to_string(k) + " is of type " + std::string(toString(operand(call, k).dtype)) +
                     "; expected integers");
  fail(call, "expected integer operands");
}

std::vector<OpInfo> elementwiseOps() {
  std::vector<OpInfo> ops;
  for (const ElementwiseRow &row : elementwiseRows()) {
    if (!row.name.starts_with("ttnn."))
      continue;
    OpInfo info{row.name, row.ins, row.ins, 1, {}, makeElementwise, nullptr, elementwiseCost};
    for (std::string_view scalar : row.scalars)
      if (!scalar.empty())
        info.attributes.push_back(required(scalar, AttributeKind::Number));
    if (row.name == "ttnn.gelu_bw")
      info.attributes.push_back(optional("approximate", AttributeKind::String));
    ops.push_back(std::move(info));
  }
  return ops;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

bool isChainable(const Kernel &kernel) {
  const auto *elementwise = dynamic_cast<const ElementwiseKernel *>(&kernel);
  // Rows of a block format that end within a group are cut at their ends only.
  return elementwise && elementwise->unit <= sim::blockGroup && elementwise->total > 0;
}

size_t chainElements(const Kernel &kernel) { return dynamic_cast<const ElementwiseKernel &>(kernel).total; }

size_t chainSlots(const Kernel &kernel) {
  return ElementwiseKernel::slotsOf(dynamic_cast<const ElementwiseKernel &>(kernel).stages.front());
}

std::unique_ptr<Kernel> chainOf(std::span<const Link> links) {
  std::vector<Stage> stages;
  int outs = 0;
  for (const Link &link : links) {
    stages.push_back(dynamic_cast<const ElementwiseKernel &>(*link.kernel).stages.front());
    Stage &stage = stages.back();
    stage.out = link.stored ? outs++ : -1;
    for (size_t k = 0; k < stage.operands.size(); ++k) {
      const int from = link.ins[k];
      stage.operands[k].index = static_cast<uint32_t>(from < 0 ? ~from : from);
      if (from < 0) {
        stage.operands[k].access = Access::Stage;
        stages[static_cast<size_t>(~from)].kept = true;
      }
    }
  }
  return std::make_unique<ElementwiseKernel>(std::move(stages));
}

} // namespace tt::ttnn
