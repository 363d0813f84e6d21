//===- matmul.cpp - ttnn.matmul and ttnn.linear as the chip has them --------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/plan.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/exact/finish.h"
#include "kernels/exact/matrix.h"
#include "kernels/matmul/product.h"
#include "tt/sim/formats.h"

namespace tt::ttnn::exact {
namespace {

/// The blocks of the call; nothing if operands are sharded and no program config states them: then all of K stays in
/// the destination.
ttmlir::plan::Blocks blocksOf(const OpCall &call, const Compute &compute) {
  const auto found = ttnn::blocksOf(sim::chip(Arch::WormholeB0), call,
                                    {compute.phases, compute.approximate, compute.wide(), compute.accumulatesInL1});
  return found.value_or(ttmlir::plan::Blocks{.in0BlockW = 0});
}

class ExactMatmul final : public Kernel {
public:
  ExactMatmul(const OpCall &call, Product given, const Compute &compute, const ttmlir::plan::Blocks &blocks)
      : p(std::move(given)), compute(compute), finish(call, compute, activationOf(call)),
        product(p.m, p.n, p.k, compute, blocks.in0BlockW, finish.fusesBias(),
                partialsPacker(blocks, result(call).dtype, compute)),
        a(operand(call, 0).dtype), b(operand(call, 1).dtype) {}

  void run(const Buffers &buffers) const override {
    const auto reader = [this](const std::byte *from, DataType type, int64_t offset, int64_t stride) {
      return [=, this, load = loader<float>(type),
              bytes = static_cast<int64_t>(storageBytes(type))](int64_t at, int64_t count, float *to) {
        const std::byte *first = from + (offset + at) * bytes;
        if (stride == 1)
          load(first, to, static_cast<size_t>(count));
        else
          for (int64_t i = 0; i < count; ++i)
            load(first + i * stride * bytes, to + i, 1);
        for (int64_t i = 0; i < count && type == DataType::Float32; ++i)
          to[i] = unpacked(to[i], type, compute.width);
      };
    };
    for (int64_t batch = 0; batch < p.batches(); ++batch) {
      const auto [offsetA, offsetB] = p.offsets(batch);
      const auto left = reader(buffers.ins[0], a, offsetA, p.aColumn);
      const auto right = reader(buffers.ins[1], b, offsetB, p.bColumn);
      const auto rightColumn = reader(buffers.ins[1], b, offsetB, p.bRow);
      MatrixProduct::Io io;
      io.left = [&](int64_t row, float *to) { left(row * p.aRow, p.k, to); };
      io.right = [&](int64_t k, int64_t column, int64_t count, float *to) {
        right(k * p.bRow + column * p.bColumn, count, to);
      };
      if (p.bRow == 1 && p.bColumn != 1)
        io.rightColumn = [&](int64_t column, float *to) { rightColumn(column * p.bColumn, p.k, to); };
      io.finish = [&](int64_t row, int64_t column, int64_t count, float *values) {
        finish.run(buffers, batch * p.m + row, column, count, values);
      };
      product.run(io, buffers.scratch);
    }
  }
  size_t scratchBytes() const override { return product.scratchBytes(); }

private:
  Product p;
  Compute compute;
  Finish finish;
  MatrixProduct product;
  DataType a, b;
};

std::unique_ptr<Kernel> make(const OpCall &given) {
  Product p = productOf(given);
  if (!areKnown(given))
    return nullptr;
  simplify(p);
  // Vectors are matrices of a row or a column.
  OpCall call = given;
  Shape &out = call.outs[0].shape;
  if (operand(given, 0).shape.size() == 1)
    out.insert(out.end() - (operand(given, 1).shape.size() == 1 ? 0 : 1), 1);
  if (operand(given, 1).shape.size() == 1) {
    out.push_back(1);
    if (optionalOperand(call, 2))
      call.ins[2]->shape.push_back(1);
  }
  const Compute compute = reducing(given);
  return std::make_unique<ExactMatmul>(call, std::move(p), compute, blocksOf(given, compute));
}

constexpr Row rows[] = {{"ttnn.matmul", make}, {"ttnn.linear", make}};

} // namespace

std::span<const Row> matmulRows() { return rows; }

} // namespace tt::ttnn::exact
