//===- library.cpp - matrix products of the kernel library --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/library.h"
#include "core/orders.h"
#include "kernels/matmul/matmul.h"
#include "tt/parallel.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

/// The product in blocks of rows or columns that depend on the shape alone, each a primitive of one thread: the order
/// of the sums, and therefore every bit of the result, is the same on any number of threads.
class LibraryMatmul final : public Kernel {
  static constexpr DataType type = DataType::Float32; // of operands, as computed, and result
  static constexpr int64_t elementBytes = sizeof(float);

public:
  /// biasIndex: an operand to fuse or -1. Throws dnnl::error if the machine has no implementation.
  LibraryMatmul(const OpCall &call, const Product &product, int biasIndex, std::string_view activation)
      : p(product), bias(biasIndex), activation(activation) {
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
    // Every block of rows reads all weights, every block of columns the whole other operand: the larger one is read
    // once.
    const bool byColumns = p.n >= 256 && (p.m < 128 || p.n > p.m);
    blockRows = !byColumns && p.m >= 128 ? blocked(p.m, 32, p.n) : p.m;
    blockColumns = byColumns ? blocked(p.n, 64, p.m) : p.n;
    rowBlocks = (p.m + blockRows - 1) / blockRows;
    columnBlocks = (p.n + blockColumns - 1) / blockColumns;

    const std::byte *constant = packedB.constantValues();
    // The library's own order pays off if the weights are constant or many blocks read them.
    ownOrder = constant || (p.batches() == 1 && rowBlocks > 1);
    {
      const library::Threads one(1);
      makePlans();
    }
    if (ownOrder)
      orderWeights(constant, call.constants);
    if (ordered)
      packedB.discard();
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
    parallelRuns(blocks, 1, slots, [&](int64_t slot, Runs &runs) {
      for (ItemRange run; runs.take(run);)
        for (int64_t i = run.begin; i < run.end; ++i)
          block(i, slot, a, b, biasValues, buffers);
    });
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? packedA.reads() : operand == 1 ? !ordered && packedB.reads() : packedBias.reads();
  }

private:
  struct Plan {
    std::shared_ptr<const library::Code> code;
    library::Primitive::Plain plain; // without the activation
    dnnl::memory::desc a, weights, c, bias, scratchpad;
    int64_t columns = 0;
  };

  void makePlans() {
    for (int column = 0; column < 2; ++column) {
      // Blocks at the lower and right edges are smaller and have separate plans; those of one width share weights.
      plan(plans[column][0], blockRows, columns(column ? columnBlocks - 1 : 0), nullptr);
      plan(plans[column][1], p.m - (rowBlocks - 1) * blockRows, plans[column][0].columns, &plans[column][0].weights);
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

  /// weights: the order to take, or nullptr for that of `ownOrder`.
  void plan(Plan &plan, int64_t rows, int64_t columns, const dnnl::memory::desc *weights) const {
    using dnnl::memory;
    plan.columns = columns;
    plan.a = library::describe({rows, p.k}, type, {p.aRow, p.aColumn});
    plan.c = library::describe({rows, columns}, type, {p.n, 1});
    memory::desc b = library::describe({p.k, columns}, type, {p.bRow, p.bColumn});
    if (weights)
      b = *weights;
    else if (ownOrder)
      b = memory::desc(b.dims(), library::dataType(type), memory::format_tag::any);
    if (bias >= 0)
      plan.bias = library::describe({1, columns}, DataType::Float32, {columns, 1});
    const auto description =
        bias >= 0 ? dnnl::matmul::desc(plan.a, b, plan.bias, plan.c) : dnnl::matmul::desc(plan.a, b, plan.c);
    const dnnl::matmul::primitive_desc created(description, library::attributes(activation), library::engine());
    plan.weights = created.weights_desc();
    plan.scratchpad = created.scratchpad_desc();
    plan.code = library::Code::make(created);
    plan.plain = [description = bias >= 0 ? dnnl::matmul::desc(plan.a, plan.weights, plan.bias, plan.c)
                                          : dnnl::matmul::desc(plan.a, plan.weights, plan.c)] {
      const dnnl::matmul::primitive_desc plain(description, library::attributes(), library::engine());
      return std::pair<dnnl::primitive, size_t>(dnnl::matmul(plain), plain.scratchpad_desc().get_size());
    };
  }

  library::Primitive instance(const Plan &plan) const {
    library::Primitive primitive(plan.code);
    primitive.add(DNNL_ARG_SRC, plan.a);
    primitive.add(DNNL_ARG_WEIGHTS, plan.weights);
    primitive.add(DNNL_ARG_DST, plan.c);
    primitive.add(DNNL_ARG_SCRATCHPAD, plan.scratchpad);
    if (bias >= 0)
      primitive.add(DNNL_ARG_BIAS, plan.bias);
    primitive.keepNaN(activation, plan.plain);
    return primitive;
  }

  /// Weights, block by block of columns, in the order that the primitives chose: prepared now from constant `values`,
  /// or prepared in each run if that is nullptr.
  void orderWeights(const std::byte *values, const ConstantStore *constants) {
    for (const auto &pair : plans)
      orderedBlock = std::max(orderedBlock, static_cast<int64_t>((pair[0].weights.get_size() + 63) / 64 * 64));
    matrices = rightMatrices(p);
    const size_t bytes = matrices.offsets.size() * static_cast<size_t>(columnBlocks * orderedBlock);
    for (int64_t column = 0; column < columnBlocks; ++column) {
      const Plan &plan = plans[column + 1 == columnBlocks ? 1 : 0][0];
      orders.push_back(
          library::reorder(library::describe({p.k, plan.columns}, type, {p.bRow, p.bColumn}), plan.weights));
    }
    if (!values) {
      orderedPlace = layout.take(bytes);
      return;
    }
    const std::byte *const operand = packedB.operandValues();
    ConstantStore::Form form =
        library::formOf(library::FormOf::Product, packedB.operandType(), {p.k, p.n, p.bRow, p.bColumn, blockColumns});
    form.insert(form.end(), matrices.offsets.begin(), matrices.offsets.end());
    const bool shares = constants && std::ranges::all_of(plans, [&](const auto &pair) {
                          return library::appendOrder(form, pair[0].weights);
                        });
    if (shares && (ordered = library::AlignedBytes(constants->sharedForm(operand, form)))) {
      WeightOrders::countReused();
      orders.clear();
      return;
    }
    ordered = library::AlignedBytes(WeightOrders::takeCurrent(bytes));
    for (size_t matrix = 0; matrix < matrices.offsets.size(); ++matrix)
      order(values + matrices.offsets[matrix] * elementBytes,
            ordered.data() + static_cast<int64_t>(matrix) * columnBlocks * orderedBlock);
    orders.clear();
    if (shares)
      constants->shareForm(operand, std::move(form), ordered.share());
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
    const auto [offsetA, offsetB] = p.offsets(batch);
    const int edge = (column + 1 == columnBlocks ? 2 : 0) + (row + 1 == rowBlocks ? 1 : 0);
    const library::Primitive &primitive = primitives[static_cast<size_t>(slot * 4 + edge)];
    const std::byte *source = a + (offsetA + row * blockRows * p.aRow) * elementBytes;
    const std::byte *weights =
        ownOrder ? b + (static_cast<int64_t>(matrices.ofBatch[static_cast<size_t>(batch)]) * columnBlocks + column) *
                           orderedBlock
                 : b + (offsetB + column * blockColumns * p.bColumn) * elementBytes;
    const std::byte *target =
        buffers.outs[0] + ((batch * p.m + row * blockRows) * p.n + column * blockColumns) * elementBytes;
    const std::byte *room = buffers.scratch + scratchpad + static_cast<size_t>(slot) * scratchpadBytes;
    if (bias < 0)
      primitive.run({source, weights, target, room});
    else
      primitive.run({source, weights, target, room, biasValues + column * blockColumns * int64_t(sizeof(float))});
  }

  Product p;
  int bias;
  std::string activation;
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
  RightMatrices matrices;
};

} // namespace

std::unique_ptr<Kernel> makeLibraryMatmul(const OpCall &call, const Product &product, int biasIndex,
                                          std::string_view activation) {
  return std::make_unique<LibraryMatmul>(call, product, biasIndex, activation);
}

} // namespace tt::ttnn
