//===- matmul.cpp - ttnn.matmul and ttnn.linear ----------------------------===//
//
// Three ways: the kernel library for f32 and bf16 (accumulating in f32), direct
// loops where that would cost more than the product itself, and exact integer
// loops. Weights that are constants are brought into the library's order once.
//
//===----------------------------------------------------------------------===//

#include "chain.h"
#include "library.h"
#include "matmul_direct.h"
#include "storage.h"
#include "strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

/// c[batch, m, n] = a[batch or 1, m, k] * b[batch or 1, k, n], each read through strides.
struct Product {
  Shape batch;                         // of the result
  std::vector<int64_t> batchA, batchB; // strides, 0 where broadcast
  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn; // strides

  int64_t batches() const { return volume(batch); }
};

Product productOf(const OpCall &call) {
  Shape a = operand(call, 0).shape, b = operand(call, 1).shape;
  auto flag = [&](std::string_view name) { return call.attributes.get<bool>(name, false); };
  // As in torch, a vector on the left is a row and on the right a column, and its dimension is not in the result.
  const bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  const bool transposeA = flag("transpose_a") && !vectorA, transposeB = flag("transpose_b") && !vectorB;
  if (a.empty() || b.empty())
    fail(call, "operands have shapes " + toString(a) + " and " + toString(b) + "; expected at least one dimension");
  if (vectorA)
    a.insert(a.begin(), 1);
  if (vectorB)
    b.push_back(1);
  const size_t ra = a.size(), rb = b.size();

  Product p;
  p.m = a[ra - (transposeA ? 1 : 2)];
  p.k = a[ra - (transposeA ? 2 : 1)];
  const int64_t inner = b[rb - (transposeB ? 1 : 2)];
  p.n = b[rb - (transposeB ? 2 : 1)];
  if (p.k != inner)
    fail(call, "inner dimensions " + std::to_string(p.k) + " and " + std::to_string(inner) + " differ (shapes " +
                   toString(operand(call, 0).shape) + " and " + toString(operand(call, 1).shape) + ")");
  p.aRow = transposeA ? 1 : p.k;
  p.aColumn = transposeA ? p.m : 1;
  p.bRow = transposeB ? 1 : p.n;
  p.bColumn = transposeB ? p.k : 1;

  const size_t rank = std::max(ra, rb) - 2;
  const std::vector<int64_t> stridesA = rowMajorStrides(a), stridesB = rowMajorStrides(b);
  for (size_t d = 0; d < rank; ++d) {
    auto size = [&](const Shape &shape) {
      return d + shape.size() < rank + 2 ? 1 : shape[d + shape.size() - rank - 2];
    };
    auto stride = [&](const Shape &shape, const std::vector<int64_t> &strides) {
      return size(shape) == 1 ? 0 : strides[d + shape.size() - rank - 2];
    };
    const int64_t sizeA = size(a), sizeB = size(b);
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      fail(call, "batch dimensions of shapes " + toString(operand(call, 0).shape) + " and " +
                     toString(operand(call, 1).shape) + " do not broadcast");
    p.batch.push_back(sizeA == 1 ? sizeB : sizeA);
    p.batchA.push_back(stride(a, stridesA));
    p.batchB.push_back(stride(b, stridesB));
  }
  Shape expected = p.batch;
  if (!vectorA)
    expected.push_back(p.m);
  if (!vectorB)
    expected.push_back(p.n);
  expectResultShape(call, expected);
  return p;
}

/// Merges the batch dimensions where strides allow, and folds them into the rows when b is one matrix.
void simplify(Product &p) {
  Shape batch;
  std::vector<int64_t> batchA, batchB;
  for (size_t d = 0; d < p.batch.size(); ++d) {
    if (p.batch[d] == 1)
      continue;
    if (!batch.empty() && batchA.back() == p.batchA[d] * p.batch[d] && batchB.back() == p.batchB[d] * p.batch[d]) {
      batch.back() *= p.batch[d];
      batchA.back() = p.batchA[d];
      batchB.back() = p.batchB[d];
      continue;
    }
    batch.push_back(p.batch[d]);
    batchA.push_back(p.batchA[d]);
    batchB.push_back(p.batchB[d]);
  }
  if (batch.size() == 1 && batchB[0] == 0 && batchA[0] == p.m * p.aRow && p.aColumn == 1) {
    p.m *= batch[0];
    batch.clear();
    batchA.clear();
    batchB.clear();
  }
  p.batch = std::move(batch);
  p.batchA = std::move(batchA);
  p.batchB = std::move(batchB);
}

//===----------------------------------------------------------------------===//
// The kernel library
//===----------------------------------------------------------------------===//

/// The product in blocks of rows or columns that depend on the shape alone, each a primitive of one thread: the order
/// of the sums, and so every bit of the result, is the same on any number of threads.
class LibraryMatmul final : public Kernel {
public:
  /// type: Float32 or BFloat16, of both operands as computed; biasIndex: an operand to fuse or -1. Throws dnnl::error
  /// where the machine has no implementation.
  LibraryMatmul(const OpCall &call, const Product &product, DataType type, DataType produced, int biasIndex, bool relu)
      : p(product), bias(biasIndex), elementBytes(static_cast<int64_t>(storageBytes(type))),
        producedBytes(static_cast<int64_t>(storageBytes(produced))) {
    packedA = library::Packed(call, 0, type, layout);
    packedB = library::Packed(call, 1, type, layout);
    if (bias >= 0)
      packedBias = library::Packed(call, static_cast<size_t>(bias), DataType::Float32, layout);

    // Blocks are large enough to outweigh their calls (a few million multiplications), and there are enough of them for
    // the threads of a larger machine.
    auto roundUp = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
    auto blocked = [&](int64_t size, int64_t unit, int64_t other) {
      const int64_t worthwhile = (int64_t(1) << 22) / std::max<int64_t>(1, other * p.k);
      return std::min(size, roundUp(std::max({size / 8, std::min(worthwhile, size / 2), int64_t(1)}), unit));
    };
    // Every block of rows reads all weights, every block of columns all of the other operand: the larger is read once.
    const bool byColumns = p.n >= 256 && (p.m < 128 || p.n > p.m);
    blockRows = !byColumns && p.m >= 128 ? blocked(p.m, 32, p.n) : p.m;
    blockColumns = byColumns ? blocked(p.n, 64, p.m) : p.n;
    rowBlocks = (p.m + blockRows - 1) / blockRows;
    columnBlocks = (p.n + blockColumns - 1) / blockColumns;

    const std::byte *constant = packedB.constantValues();
    // The library's own order pays for itself when the weights are constant or many blocks read them.
    ownOrder = constant || (p.batches() == 1 && rowBlocks > 1);
    {
      const library::Threads one(1);
      makePlans(type, produced, relu);
    }
    if (ownOrder)
      orderWeights(constant, type);
  }

  void run(const Buffers &buffers) const override {
    const std::byte *a = packedA.get(buffers.ins[0], buffers.scratch);
    const std::byte *b = ordered ? ordered.data() : packedB.get(buffers.ins[1], buffers.scratch);
    if (!orders.empty()) {
      order(b, buffers.scratch + orderedPlace);
      b = buffers.scratch + orderedPlace;
    }
    const std::byte *biasValues =
        bias < 0 ? nullptr : packedBias.get(buffers.ins[static_cast<size_t>(bias)], buffers.scratch);
    const int64_t blocks = p.batches() * rowBlocks * columnBlocks;
    parallelFor(slots, 1, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot)
        for (int64_t i = blocks * slot / slots; i < blocks * (slot + 1) / slots; ++i)
          block(i, slot, a, b, biasValues, buffers);
    });
  }
  size_t scratchBytes() const override { return layout.bytes(); }

private:
  struct Plan {
    dnnl::matmul matmul;
    dnnl::memory::desc a, weights, c, bias, scratchpad;
    int64_t columns = 0;
  };

  void makePlans(DataType type, DataType produced, bool relu) {
    for (int column = 0; column < 2; ++column) {
      // Blocks at the lower and right edges are smaller and have plans of their own; those of one width share weights.
      plan(plans[column][0], blockRows, columns(column ? columnBlocks - 1 : 0), type, produced, relu, nullptr);
      plan(plans[column][1], p.m - (rowBlocks - 1) * blockRows, plans[column][0].columns, type, produced, relu,
           &plans[column][0].weights);
    }
    slots = std::min<int64_t>(threads(), p.batches() * rowBlocks * columnBlocks);
    size_t largest = 0;
    for (const auto &pair : plans)
      for (const Plan &plan : pair)
        largest = std::max(largest, plan.scratchpad.get_size());
    scratchpadBytes = (largest + 63) / 64 * 64;
    scratchpad = layout.take(static_cast<size_t>(slots) * scratchpadBytes);
    for (int64_t slot = 0; slot < slots; ++slot)
      for (const auto &pair : plans)
        for (const Plan &plan : pair)
          primitives.push_back(instance(plan));
  }

  int64_t columns(int64_t block) const { return std::min(blockColumns, p.n - block * blockColumns); }

  /// weights: the order to take, or nullptr for what `ownOrder` says.
  void plan(Plan &plan, int64_t rows, int64_t columns, DataType type, DataType produced, bool relu,
            const dnnl::memory::desc *weights) const {
    using dnnl::memory;
    plan.columns = columns;
    plan.a = library::describe({rows, p.k}, type, {p.aRow, p.aColumn});
    plan.c = library::describe({rows, columns}, produced, {p.n, 1});
    memory::desc b = library::describe({p.k, columns}, type, {p.bRow, p.bColumn});
    if (weights)
      b = *weights;
    else if (ownOrder)
      b = memory::desc(b.dims(), library::dataType(type), memory::format_tag::any);
    if (bias >= 0)
      plan.bias = library::describe({1, columns}, DataType::Float32, {columns, 1});
    const auto description =
        bias >= 0 ? dnnl::matmul::desc(plan.a, b, plan.bias, plan.c) : dnnl::matmul::desc(plan.a, b, plan.c);
    const dnnl::matmul::primitive_desc made(description, library::attributes(relu), library::engine());
    plan.weights = made.weights_desc();
    plan.scratchpad = made.scratchpad_desc();
    plan.matmul = dnnl::matmul(made);
  }

  library::Primitive instance(const Plan &plan) const {
    library::Primitive primitive(plan.matmul);
    primitive.add(DNNL_ARG_SRC, plan.a);
    primitive.add(DNNL_ARG_WEIGHTS, plan.weights);
    primitive.add(DNNL_ARG_DST, plan.c);
    primitive.add(DNNL_ARG_SCRATCHPAD, plan.scratchpad);
    if (bias >= 0)
      primitive.add(DNNL_ARG_BIAS, plan.bias);
    return primitive;
  }

  /// Offsets of a batch in elements.
  std::pair<int64_t, int64_t> batchOffsets(int64_t batch) const {
    int64_t a = 0, b = 0;
    for (size_t d = p.batch.size(); d-- > 0; batch /= p.batch[d]) {
      a += batch % p.batch[d] * p.batchA[d];
      b += batch % p.batch[d] * p.batchB[d];
    }
    return {a, b};
  }

  /// Weights, block by block of columns, in the order the primitives chose: made now of constant `values`, or prepared
  /// for each run when that is nullptr.
  void orderWeights(const std::byte *values, DataType type) {
    for (const auto &pair : plans)
      orderedBlock = std::max(orderedBlock, static_cast<int64_t>((pair[0].weights.get_size() + 63) / 64 * 64));
    std::vector<int64_t> offsets; // of different matrices: batches may share one
    for (int64_t batch = 0; batch < p.batches(); ++batch) {
      const int64_t offset = batchOffsets(batch).second;
      const auto found = std::ranges::find(offsets, offset);
      orderedMatrix.push_back(found - offsets.begin());
      if (found == offsets.end())
        offsets.push_back(offset);
    }
    const size_t bytes = offsets.size() * static_cast<size_t>(columnBlocks * orderedBlock);
    for (int64_t column = 0; column < columnBlocks; ++column) {
      const Plan &plan = plans[column + 1 == columnBlocks ? 1 : 0][0];
      orders.push_back(
          library::reorder(library::describe({p.k, plan.columns}, type, {p.bRow, p.bColumn}), plan.weights));
    }
    if (!values) {
      orderedPlace = layout.take(bytes);
      return;
    }
    ordered = library::AlignedBytes(bytes);
    for (size_t matrix = 0; matrix < offsets.size(); ++matrix)
      order(values + offsets[matrix] * elementBytes,
            ordered.data() + static_cast<int64_t>(matrix) * columnBlocks * orderedBlock);
    orders.clear();
  }

  void order(const std::byte *from, std::byte *to) const {
    for (int64_t column = 0; column < columnBlocks; ++column)
      orders[static_cast<size_t>(column)].run(
          {from + column * blockColumns * p.bColumn * elementBytes, to + column * orderedBlock});
  }

  void block(int64_t index, int64_t slot, const std::byte *a, const std::byte *b, const std::byte *biasValues,
             const Buffers &buffers) const {
    const int64_t row = index / columnBlocks % rowBlocks, column = index % columnBlocks;
    const int64_t batch = index / columnBlocks / rowBlocks;
    const auto [offsetA, offsetB] = batchOffsets(batch);
    const int edge = (column + 1 == columnBlocks ? 2 : 0) + (row + 1 == rowBlocks ? 1 : 0);
    const library::Primitive &primitive = primitives[static_cast<size_t>(slot * 4 + edge)];
    const std::byte *source = a + (offsetA + row * blockRows * p.aRow) * elementBytes;
    const std::byte *weights =
        ownOrder ? b + (orderedMatrix[static_cast<size_t>(batch)] * columnBlocks + column) * orderedBlock
                 : b + (offsetB + column * blockColumns * p.bColumn) * elementBytes;
    const std::byte *target =
        buffers.outs[0] + ((batch * p.m + row * blockRows) * p.n + column * blockColumns) * producedBytes;
    const std::byte *room = buffers.scratch + scratchpad + static_cast<size_t>(slot) * scratchpadBytes;
    if (bias < 0)
      primitive.run({source, weights, target, room});
    else
      primitive.run({source, weights, target, room, biasValues + column * blockColumns * int64_t(sizeof(float))});
  }

  Product p;
  int bias;
  int64_t elementBytes, producedBytes;
  ScratchLayout layout;
  library::Packed packedA, packedB, packedBias;
  int64_t blockRows, blockColumns, rowBlocks, columnBlocks, slots;
  Plan plans[2][2]; // [last column block][last row block]
  size_t scratchpad, scratchpadBytes;
  std::vector<library::Primitive> primitives; // [slot][column edge][row edge]
  bool ownOrder;
  library::AlignedBytes ordered;          // constant weights
  std::vector<library::Primitive> orders; // others, at each run; one per block of columns
  size_t orderedPlace = 0;
  int64_t orderedBlock = 0;
  std::vector<int64_t> orderedMatrix; // of each batch
};

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
  // A bias of one row goes into the library's accumulator, as does relu after it or without it.
  const bool fusedBias = bias && !bias->shape.empty() && bias->shape.back() == p.n && volume(bias->shape) == p.n;
  const bool fusedRelu = epilogue.activation == "relu" && (fusedBias || !bias);
  const int biasIndex = fusedBias ? 2 : -1;
  if (fusedBias)
    epilogue.bias = -1;
  if (fusedRelu)
    epilogue.activation.clear();
  if (bf16) {
    const DataType produced = toBf16 && epilogue.empty() ? DataType::BFloat16 : DataType::Float32;
    try {
      auto kernel = std::make_unique<LibraryMatmul>(call, p, DataType::BFloat16, produced, biasIndex, fusedRelu);
      return withEpilogue(call, std::move(kernel), produced, epilogue);
    } catch (const dnnl::error &) {
      // This CPU has no bf16 products: bf16 values are exact in f32.
    }
  }
  try {
    auto kernel = std::make_unique<LibraryMatmul>(call, p, DataType::Float32, DataType::Float32, biasIndex, fusedRelu);
    return withEpilogue(call, std::move(kernel), DataType::Float32, epilogue);
  } catch (const dnnl::error &error) {
    fail(call, std::string("the kernel library refuses shapes ") + toString(a.shape) + " and " + toString(b.shape) +
                   ": " + error.what());
  }
}

Cost matmulCost(const OpCall &call) {
  const Product p = productOf(call);
  Cost cost = traffic(call);
  auto tilesOf = [](int64_t size) { return (size + 31) / 32; };
  cost.matmulTiles = p.batches() * tilesOf(p.m) * tilesOf(p.n) * tilesOf(p.k);
  if (optionalOperand(call, 2))
    cost.fpuTiles += tiles(result(call));
  if (!activationOf(call).empty())
    cost.sfpuTiles += tiles(result(call));
  return cost;
}

} // namespace

std::vector<OpInfo> matmulOps() {
  using enum AttributeKind;
  const std::vector<AttributeSpec> attributes = {optional("transpose_a", Bool), optional("transpose_b", Bool),
                                                 optional("matmul_program_config", Struct),
                                                 optional("activation", String)};
  return {
      {"ttnn.matmul", 2, 2, 1, attributes, makeMatmul, nullptr, matmulCost},
      {"ttnn.linear", 2, 3, 1, attributes, makeMatmul, nullptr, matmulCost},
  };
}

} // namespace tt::ttnn
