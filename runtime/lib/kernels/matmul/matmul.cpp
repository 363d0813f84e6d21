//===- matmul.cpp - ttnn.matmul and ttnn.linear ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Four methods: panels for f32, bf16 (sums in f32) and integers of few bits if the machine has the units; the kernel
// library if it does not, or if the library is faster; direct loops if either would cost more than the product itself;
// and exact loops of integers of 32 bits. Constant weights are converted once to the required order.
//
//===----------------------------------------------------------------------===//

#include "kernels/matmul/matmul.h"

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/matmul/direct.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"
#include "tt/units.h"

#include <algorithm>
#include <array>

namespace tt::ttnn {
namespace {

//===----------------------------------------------------------------------===//
// Direct loops
//===----------------------------------------------------------------------===//

bool isSmall(const Product &p) { return double(p.batches()) * double(p.m) * double(p.n) * double(p.k) <= 32 * 32 * 32; }

/// Direct loops cost least up to this many multiplications in total, except for a right matrix with contiguous columns:
/// panels are packed from it faster than it is copied row by row in each run (measured: 7 us of 18 for 1x512x64). Each
/// kernel has a copy of a constant one, and all its readers share panels: steps of a recurrent net, whose weights then
/// stay in cache (measured: 226 us instead of 626 us for a GRU of 100 steps of 128 values).
bool suitsDirect(const Product &p, bool constantRight) {
  constexpr int64_t mostTransposed = 4096, mostCopied = 8192;
  const double work = double(p.m) * double(p.n) * double(p.k);
  const bool transposed = p.bColumn != 1 && p.n > 1;
  return isSmall(p) && (!transposed || work < (constantRight ? mostCopied : mostTransposed));
}

/// The type that direct loops store and load. T: float, or an unsigned type for integers, whose sums wrap around in the
/// same way.
template <class T> using Stored = std::conditional_t<std::same_as<T, float>, float, int64_t>;

/// Whether values of a type are in memory in the form with which loops compute.
template <class T> bool isComputedType(DataType type) {
  if (std::same_as<T, float>)
    return storageType(type) == StorageType::F32;
  return std::same_as<T, uint32_t> && (type == DataType::Int32 || type == DataType::UInt32);
}

template <class T> void loadAs(Load<Stored<T>> load, size_t bytes, const std::byte *from, T *to, size_t n) {
  if constexpr (sizeof(T) == sizeof(Stored<T>)) {
    load(from, reinterpret_cast<Stored<T> *>(to), n);
  } else {
    std::array<Stored<T>, 256> values;
    for (size_t i = 0; i < n; i += values.size()) {
      const size_t part = std::min(values.size(), n - i);
      load(from + i * bytes, values.data(), part);
      std::transform(values.begin(), values.begin() + part, to + i, [](auto value) { return static_cast<T>(value); });
    }
  }
}

template <class T> void storeAs(Store<Stored<T>> store, size_t bytes, const T *from, std::byte *to, size_t n) {
  if constexpr (sizeof(T) == sizeof(Stored<T>)) {
    store(reinterpret_cast<const Stored<T> *>(from), to, n);
  } else {
    std::array<Stored<T>, 256> values;
    for (size_t i = 0; i < n; i += values.size()) {
      const size_t part = std::min(values.size(), n - i);
      std::transform(from + i, from + i + part, values.begin(), [](auto value) { return static_cast<int32_t>(value); });
      store(values.data(), to + i * bytes, part);
    }
  }
}

/// An operand in the computed type: in place, converted once if it is constant, or in each run.
template <class T> class DirectOperand {
public:
  /// keeps: whether a constant is converted once.
  DirectOperand(const OpCall &call, size_t index, bool keeps, ScratchLayout &layout)
      : index(index), count(static_cast<size_t>(volume(operand(call, index).shape))) {
    const DataType type = operand(call, index).dtype;
    constant = reinterpret_cast<const T *>(library::constantOperand(call, index));
    if (isComputedType<T>(type))
      return;
    load = loader<Stored<T>>(type);
    bytes = storageBytes(type);
    if (!keeps)
      constant = nullptr;
    if (constant) {
      created = library::AlignedBytes(count * sizeof(T));
      loadAs(load, bytes, library::constantOperand(call, index), reinterpret_cast<T *>(created.data()), count);
      constant = reinterpret_cast<const T *>(created.data());
    } else {
      place = layout.take(count * sizeof(T));
    }
  }
  const T *get(const Buffers &buffers) const {
    if (!load)
      return reinterpret_cast<const T *>(buffers.ins[index]);
    if (created)
      return constant;
    auto *values = reinterpret_cast<T *>(buffers.scratch + place);
    loadAs(load, bytes, buffers.ins[index], values, count);
    return values;
  }
  const T *constantValues() const { return constant; }
  bool reads() const { return !created; }
  /// Frees a converted copy; `get` must not be called any more.
  void discard() { created = {}; }

private:
  size_t index, count, place = 0, bytes = 0;
  const T *constant = nullptr;
  Load<Stored<T>> load = nullptr;
  library::AlignedBytes created;
};

template <class T> class DirectMatmul final : public Kernel {
public:
  DirectMatmul(const OpCall &call, const Product &p, DataType produced)
      : p(p), a(call, 0, isSmall(p), layout), b(call, 1, isSmall(p), layout), store(storer<Stored<T>>(produced)),
        producedBytes(storageBytes(produced)), inPlace(!std::same_as<T, float> && isComputedType<T>(produced)) {
    if (b.constantValues() && !isPlain(p.k, p.n, p.bRow, p.bColumn)) {
      matrices = rightMatrices(p);
      const auto size = static_cast<size_t>(p.k * p.n);
      ordered = library::AlignedBytes(matrices.offsets.size() * size * sizeof(T));
      for (size_t i = 0; i < matrices.offsets.size(); ++i)
        copy(b.constantValues() + matrices.offsets[i], orderedMatrix(i), p.k, p.n, p.bRow, p.bColumn);
      b.discard();
    }
    if (!isPlain(p.m, p.k, p.aRow, p.aColumn))
      placeA = layout.take(static_cast<size_t>(p.m * p.k) * sizeof(T));
    if (!ordered && !isPlain(p.k, p.n, p.bRow, p.bColumn))
      placeB = layout.take(static_cast<size_t>(p.k * p.n) * sizeof(T));
    if (!inPlace)
      placeC = layout.take(static_cast<size_t>(p.m * p.n) * sizeof(T));
  }

  void run(const Buffers &buffers) const override {
    const T *allA = a.get(buffers), *allB = ordered ? nullptr : b.get(buffers);
    T *product = inPlace ? reinterpret_cast<T *>(buffers.outs[0]) : at(buffers, placeC);
    const int64_t size = p.m * p.n, batches = p.batches();
    for (int64_t batch = 0; batch < batches; ++batch) {
      const auto [offsetA, offsetB] = p.offsets(batch);
      const T *left = plain(allA + offsetA, at(buffers, placeA), p.m, p.k, p.aRow, p.aColumn);
      const T *right = ordered ? orderedMatrix(matrices.ofBatch[static_cast<size_t>(batch)])
                               : plain(allB + offsetB, at(buffers, placeB), p.k, p.n, p.bRow, p.bColumn);
      parallelFor(p.m, 1 + (int64_t(1) << 20) / std::max<int64_t>(1, p.n * p.k),
                  [&](int64_t begin, int64_t end) { multiplyRows(left, right, product, begin, end, p.n, p.k); });
      if (inPlace)
        product += size;
      else
        storeAs(store, producedBytes, product, buffers.outs[0] + static_cast<size_t>(batch * size) * producedBytes,
                static_cast<size_t>(size));
    }
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? a.reads() : operand == 1 ? !ordered && b.reads() : true;
  }

private:
  T *at(const Buffers &buffers, size_t place) const { return reinterpret_cast<T *>(buffers.scratch + place); }
  T *orderedMatrix(size_t index) const {
    return reinterpret_cast<T *>(ordered.data()) + index * static_cast<size_t>(p.k * p.n);
  }
  static bool isPlain(int64_t rows, int64_t columns, int64_t row, int64_t column) {
    return (column == 1 || columns == 1) && (row == columns || rows == 1);
  }
  static void copy(const T *from, T *to, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    constexpr int64_t tile = 16; // lines of one side that stay in the first-level cache while the other is walked
    for (int64_t first = 0; first < rows; first += tile)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = first; i < std::min(rows, first + tile); ++i)
          to[i * columns + j] = from[i * row + j * column];
  }
  static const T *plain(const T *from, T *to, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    if (isPlain(rows, columns, row, column))
      return from;
    copy(from, to, rows, columns, row, column);
    return to;
  }
  Product p;
  ScratchLayout layout;
  DirectOperand<T> a, b;
  Store<Stored<T>> store;
  size_t producedBytes;
  bool inPlace; // the result is computed where it is stored
  RightMatrices matrices;
  library::AlignedBytes ordered; // constants on the right that do not lie row by row
  size_t placeA = 0, placeB = 0, placeC = 0;
};

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// The number of rows from which the library's f32 product is faster (measured: 0.92 of the time at 1024, equal at
/// 512).
constexpr int64_t libraryRows = 1024;
/// The library's AVX2 kernels read rows in place; panels copy those that collide (measured: twice as fast at 1024 and
/// 4096 values; the library is about as fast, or faster, with fewer than 256 columns).
bool suitsLibrary(const Product &p) {
  return p.batches() == 1 && p.m >= libraryRows && (units() >= Units::AVX512 || !rowsCollide(p, sizeof(float), 4096));
}

std::unique_ptr<Kernel> makeMatmul(const OpCall &call) {
  Product p = productOf(call);
  simplify(p);
  const TensorSpec &a = operand(call, 0), &b = operand(call, 1), &out = result(call);
  const TensorSpec *bias = optionalOperand(call, 2);
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  if (bias)
    epilogue.bias = 2;

  if (isInteger(a.dtype) && isInteger(b.dtype)) {
    const bool plain = epilogue.empty() && isInteger(out.dtype);
    const DataType type = plain ? out.dtype : DataType::Int32;
    if (type == DataType::Bool) // a sum of 2^32 is not 0
      return std::make_unique<DirectMatmul<uint64_t>>(call, p, type);
    const auto direct = [&] { return std::make_unique<DirectMatmul<uint32_t>>(call, p, type); };
    return withEpilogue(call, isComputedType<uint32_t>(type) ? makeIntegerMatmul(call, p, direct) : direct(), type,
                        epilogue);
  }
  const bool bf16 = storageType(a.dtype) == StorageType::BF16 && storageType(b.dtype) == StorageType::BF16;
  if (suitsDirect(p, library::constantOperand(call, 1))) {
    const DataType produced = epilogue.empty() && !sim::isBlockFormat(out.dtype) ? out.dtype : DataType::Float32;
    return withEpilogue(call, std::make_unique<DirectMatmul<float>>(call, p, produced), produced, epilogue);
  }
  // A bias of one row is added to the sums; the activation after it, or without it, is in the same pass.
  const bool fusedBias = bias && !bias->shape.empty() && bias->shape.back() == p.n && volume(bias->shape) == p.n;
  const int biasIndex = fusedBias ? 2 : -1;
  if (fusedBias)
    epilogue.bias = -1;
  auto make = [&](DataType type, bool own) -> std::unique_ptr<Kernel> {
    Epilogue rest = epilogue;
    std::string fused;
    if (rest.bias < 0 && (own || library::fuses(rest.activation)))
      std::swap(fused, rest.activation);
    const bool narrow = rest.empty() && own && storageType(out.dtype) == StorageType::BF16;
    const DataType produced = narrow ? out.dtype : DataType::Float32;
    auto kernel =
        own ? makePanelMatmul(call, p, type, produced, biasIndex, fused) : makeLibraryMatmul(call, p, biasIndex, fused);
    return kernel && !narrow ? withEpilogue(call, std::move(kernel), produced, rest) : std::move(kernel);
  };
  if (bf16) {
    if (auto kernel = make(DataType::BFloat16, true))
      return kernel;
    // Without a unit for bf16: its values are exact in f32.
  }
  // The library's blocks are better for many rows per weight; an activation that it does not know would cost another
  // pass.
  const bool library = suitsLibrary(p) && (epilogue.activation.empty() || library::fuses(epilogue.activation));
  if (!library)
    if (auto kernel = make(DataType::Float32, true))
      return kernel;
  try {
    return make(DataType::Float32, false);
  } catch (const dnnl::error &error) {
    fail(call, std::string("the kernel library refuses shapes ") + toString(a.shape) + " and " + toString(b.shape) +
                   ": " + error.what());
  }
}

} // namespace

std::vector<OpInfo> matmulOps() {
  return {
      {"ttnn.matmul", makeMatmul},
      {"ttnn.linear", makeMatmul},
  };
}

} // namespace tt::ttnn
