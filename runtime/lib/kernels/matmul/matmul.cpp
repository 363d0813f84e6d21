//===- matmul.cpp - ttnn.matmul and ttnn.linear ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Four ways: panels for f32 and bf16 (sums in f32) where the machine has the
// units, the kernel library where it has not or is faster, direct loops where
// either would cost more than the product itself, and exact integer loops. Weights
// that are constants are brought into the order that is wanted once.
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

namespace tt::ttnn {
namespace {

//===----------------------------------------------------------------------===//
// Direct loops
//===----------------------------------------------------------------------===//

/// T: float, or uint64_t for integers.
template <class T> class DirectMatmul final : public Kernel {
  using Stored = std::conditional_t<std::same_as<T, float>, float, int64_t>;

public:
  DirectMatmul(const OpCall &call, const Product &p, DataType produced)
      : p(p), a(operand(call, 0)), b(operand(call, 1)), c(result(call)), loadA(loader<Stored>(a.dtype)),
        loadB(loader<Stored>(b.dtype)), store(storer<Stored>(produced)), producedBytes(storageBytes(produced)) {
    placeA = layout.take(static_cast<size_t>(volume(a.shape)) * sizeof(T));
    placeB = layout.take(static_cast<size_t>(volume(b.shape)) * sizeof(T));
    plainA = layout.take(static_cast<size_t>(p.m * p.k) * sizeof(T));
    plainB = layout.take(static_cast<size_t>(p.k * p.n) * sizeof(T));
    placeC = layout.take(static_cast<size_t>(p.m * p.n) * sizeof(T));
  }

  void run(const Buffers &buffers) const override {
    T *allA = at(buffers, placeA), *allB = at(buffers, placeB), *product = at(buffers, placeC);
    loadA(buffers.ins[0], reinterpret_cast<Stored *>(allA), static_cast<size_t>(volume(a.shape)));
    loadB(buffers.ins[1], reinterpret_cast<Stored *>(allB), static_cast<size_t>(volume(b.shape)));
    const int64_t size = p.m * p.n, batches = p.batches();
    for (int64_t batch = 0; batch < batches; ++batch) {
      int64_t offsetA = 0, offsetB = 0, rest = batch;
      for (size_t d = p.batch.size(); d-- > 0; rest /= p.batch[d]) {
        offsetA += rest % p.batch[d] * p.batchA[d];
        offsetB += rest % p.batch[d] * p.batchB[d];
      }
      const T *left = plain(allA + offsetA, at(buffers, plainA), p.m, p.k, p.aRow, p.aColumn);
      const T *right = plain(allB + offsetB, at(buffers, plainB), p.k, p.n, p.bRow, p.bColumn);
      parallelFor(p.m, 1 + (int64_t(1) << 20) / std::max<int64_t>(1, p.n * p.k),
                  [&](int64_t begin, int64_t end) { multiplyRows(left, right, product, begin, end, p.n, p.k); });
      store(reinterpret_cast<const Stored *>(product),
            buffers.outs[0] + static_cast<size_t>(batch * size) * producedBytes, static_cast<size_t>(size));
    }
  }
  size_t scratchBytes() const override { return layout.bytes(); }

private:
  T *at(const Buffers &buffers, size_t place) const { return reinterpret_cast<T *>(buffers.scratch + place); }
  static const T *plain(const T *from, T *to, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    if (column == 1 && row == columns)
      return from;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        to[i * columns + j] = from[i * row + j * column];
    return to;
  }
  Product p;
  TensorSpec a, b, c;
  Load<Stored> loadA, loadB;
  Store<Stored> store;
  size_t producedBytes;
  ScratchLayout layout;
  size_t placeA, placeB, plainA, plainB, placeC;
};

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Multiplications below which the library's dispatch costs more than the product.
constexpr int64_t directLimit = 32 * 32 * 32;
/// Rows from which the library's f32 product is the faster one (measured: 0.92 of it at 1024, as fast at 512).
constexpr int64_t libraryRows = 1024;
/// The library's AVX2 kernels read rows where they are; panels copy those that collide (measured: twice as fast at 1024
/// and 4096 values; the library is about as fast, or faster, with less than 256 columns).
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
    return withEpilogue(call, std::make_unique<DirectMatmul<uint64_t>>(call, p, type), type, epilogue);
  }
  const double work = double(p.batches()) * double(p.m) * double(p.n) * double(p.k);
  const bool bf16 = storageType(a.dtype) == StorageType::BF16 && storageType(b.dtype) == StorageType::BF16;
  const bool toBf16 = out.dtype == DataType::BFloat16;
  if (work <= directLimit) {
    const DataType produced = epilogue.empty() && !sim::isBlockFormat(out.dtype) ? out.dtype : DataType::Float32;
    return withEpilogue(call, std::make_unique<DirectMatmul<float>>(call, p, produced), produced, epilogue);
  }
  // A bias of one row goes into the sums, and the activation after it or without it into the same pass.
  const bool fusedBias = bias && !bias->shape.empty() && bias->shape.back() == p.n && volume(bias->shape) == p.n;
  const int biasIndex = fusedBias ? 2 : -1;
  if (fusedBias)
    epilogue.bias = -1;
  auto make = [&](DataType type, bool own) -> std::unique_ptr<Kernel> {
    Epilogue rest = epilogue;
    std::string fused;
    if (rest.bias < 0 && (own || library::fuses(rest.activation)))
      std::swap(fused, rest.activation);
    const bool narrow = toBf16 && rest.empty() && own;
    const DataType produced = narrow ? DataType::BFloat16 : DataType::Float32;
    auto kernel =
        own ? makePanelMatmul(call, p, type, produced, biasIndex, fused) : makeLibraryMatmul(call, p, biasIndex, fused);
    return kernel ? withEpilogue(call, std::move(kernel), produced, rest) : nullptr;
  };
  if (bf16) {
    if (auto kernel = make(DataType::BFloat16, true))
      return kernel;
    // Without a unit for bf16: its values are exact in f32.
  }
  // The library's blocks are better where there are many rows for each weight; an activation that it does not know
  // would cost it another pass.
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

int64_t tilesOfCore(const OpCall &call, std::string_view part) {
  const Attribute *found = field(call, "matmul_program_config", part);
  const auto *value = found ? std::get_if<int64_t>(&found->value) : nullptr;
  return value ? *value : 0;
}

Cost matmulCost(const OpCall &call) {
  const Product p = productOf(call);
  Cost cost = trafficOfShards(call);
  const bool byTurns = !call.attributes.find<StructAttribute>("matmul_program_config") && fetchesByTurns(call);
  addProduct(cost, {p.batches(), p.m, p.k, p.n, byTurns, volume(operand(call, 1).shape) == p.k * p.n});
  cost.cores = ttmlir::cost::coresOfProduct(lying(result(call)),
                                            {tilesOfCore(call, "per_core_m"), tilesOfCore(call, "per_core_n")});
  if (optionalOperand(call, 2))
    cost.fpuTiles += tiles(result(call));
  addActivation(cost, activationOf(call), lying(result(call)));
  return cost;
}

} // namespace

std::vector<OpInfo> matmulOps() {
  return {
      {"ttnn.matmul", makeMatmul, nullptr, matmulCost},
      {"ttnn.linear", makeMatmul, nullptr, matmulCost},
  };
}

} // namespace tt::ttnn
