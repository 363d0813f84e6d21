//===- elementwise.cpp - elementwise ops as the chip has them ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/exact.h"
#include "kernels/exact/lanes.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tt::ttnn::exact {
namespace {

//===----------------------------------------------------------------------===//
// Sums, products, extremes
//===----------------------------------------------------------------------===//

enum class Unit : uint8_t { Matrix, Vector };

template <auto G> void overBits(const float *const *ins, float *out, size_t n, const Scalars &) {
  overLanes(ins, 2, out, n, [](I a, I b) { return G(a, b); });
}

/// Returns a value after the unpacker: f32 is rounded, bf16 is unchanged.
template <Destination width> I source(I bits) {
  return width == Destination::Bits32 ? bits & ~0x1fff
                                      : bits & chosen(exponentsOf(bits) != 0, I{} + ~0xffff, I{} + INT32_MIN);
}
template <Destination width> I sum(I a, I b) { return add<width>(source<width>(a), source<width>(b)); }
template <Destination width> I difference(I a, I b) { return sum<width>(a, b ^ INT32_MIN); }
template <Destination width, int phases> I product(I a, I b) {
  return multiply<width, phases>(source<width>(a), source<width>(b));
}
I vectorSum(I a, I b) { return (Lanes(a) + Lanes(b)).bits; }
I vectorDifference(I a, I b) { return (Lanes(a) - Lanes(b)).bits; }
I vectorProduct(I a, I b) { return (Lanes(a) * Lanes(b)).bits; }

/// Returns a value that the vector unit has only moved.
template <Destination width> I moved(Lanes x) {
  return chosen(x.isZero(), x.bits & INT32_MIN, width == Destination::Bits32 ? x.bits : x.bits & ~0xffff);
}
template <Destination width> I largerOf(I a, I b) { return moved<width>(larger(Lanes(a), Lanes(b))); }
template <Destination width> I smallerOf(I a, I b) { return moved<width>(smaller(Lanes(a), Lanes(b))); }

/// Rounded to even in 16 bits before it is stored; f32 that is unpacked to such a destination becomes bf16.
template <Destination width> I quotient(I a, I b) {
  if constexpr (width == Destination::Bits32)
    return moved<width>(quotientOf(Lanes(a), Lanes(b)));
  const I bits = quotientOf(Lanes(a), Lanes(b)).bits;
  return moved<width>(Lanes(bits + 0x7fff + ((bits >> 16) & 1)));
}

template <Destination width> Run<float> productRun(int phases) {
  switch (phases) {
  case 1:
    return overBits<product<width, 1>>;
  case 2:
    return overBits<product<width, 2>>;
  case 3:
    return overBits<product<width, 3>>;
  default:
    return overBits<product<width, 4>>;
  }
}

template <Destination width> Run<float> runOf(std::string_view op, Unit unit, int phases) {
  const bool matrix = unit == Unit::Matrix;
  if (op == "ttnn.add")
    return matrix ? overBits<sum<width>> : overBits<vectorSum>;
  if (op == "ttnn.subtract")
    return matrix ? overBits<difference<width>> : overBits<vectorDifference>;
  if (op == "ttnn.multiply")
    return matrix ? productRun<width>(phases) : overBits<vectorProduct>;
  if (op == "ttnn.divide")
    return overBits<quotient<width>>;
  return op == "ttnn.maximum" ? overBits<largerOf<width>> : overBits<smallerOf<width>>;
}

/// The vector unit's results as a 16-bit destination stores them: cut, but for products, which are rounded to even and
/// 0 where a factor is (ckernel_sfpu_binary.h).
template <auto G> I cutTo16(I a, I b) { return moved<Destination::Bits16>(Lanes(G(a, b))); }
I productIn16(I a, I b) {
  const I bits = vectorProduct(a, b);
  const I none = Lanes(a).isZero() | Lanes(b).isZero();
  return chosen(none, I{}, moved<Destination::Bits16>(Lanes(bits + 0x7fff + ((bits >> 16) & 1))));
}

/// A row of the elementwise table in f32, whose result is packed.
std::unique_ptr<Kernel> packedRow(const OpCall &call, const Compute &compute, const ElementwiseRow &row) {
  OpCall wide = call;
  wide.outs[0].dtype = DataType::Float32;
  return packedResult(result(call), compute.width, makeElementwise(wide, row));
}

/// The matrix unit computes, except for two operands of f32 (binary_ng).
std::unique_ptr<Kernel> makeBinary(const OpCall &call) {
  if (!areKnown(call))
    return nullptr;
  const bool floats = operand(call, 0).dtype == DataType::Float32 && operand(call, 1).dtype == DataType::Float32;
  Compute compute = elementwise(call);
  if (floats && !field(call, "compute_config", "fp32_dest_acc_en"))
    compute.width = Destination::Bits32; // unpacked to the destination
  const Unit unit = floats ? Unit::Vector : Unit::Matrix;
  const Run<float> run = compute.wide() ? runOf<Destination::Bits32>(call.name, unit, compute.phases)
                                        : runOf<Destination::Bits16>(call.name, unit, compute.phases);
  return packedRow(call, compute, {call.name, 2, run, nullptr, nullptr});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A function of the vector unit over a tensor.
class FunctionKernel final : public Kernel {
public:
  FunctionKernel(const OpCall &call, Function function, Destination width)
      : function(function), in(operand(call, 0)), out(result(call)), store(packer(out.dtype, width)),
        load(loader<float>(in.dtype)), width(width), total(static_cast<size_t>(volume(out.shape))),
        unit(storeGroup(out)) {
    expectResultShape(call, in.shape);
  }
  void run(const Buffers &buffers) const override {
    if (total == 0)
      return;
    const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(out.dtype);
    parallelFor(static_cast<int64_t>(total / unit), static_cast<int64_t>(std::max<size_t>(1, 1024 / unit)),
                [&](int64_t begin, int64_t end) {
                  constexpr size_t chunk = 1024;
                  alignas(64) float values[chunk];
                  forEachPiece(static_cast<size_t>(begin) * unit, static_cast<size_t>(end) * unit, unit, chunk,
                               [&](size_t i, size_t n) {
                                 load(buffers.ins[0] + i * inBytes, values, n);
                                 if (width == Destination::Bits16)
                                   for (size_t j = 0; j < n; ++j)
                                     values[j] = unpacked(values[j], in.dtype, width);
                                 function(values, n);
                                 storePiece(store, out, unit, values, buffers.outs[0] + i * outBytes, n);
                               });
                });
  }

private:
  Function function;
  TensorSpec in, out;
  Store<float> store;
  Load<float> load;
  Destination width;
  size_t total, unit;
};

std::unique_ptr<Kernel> makeUnary(const OpCall &call) {
  if (!areKnown(call))
    return nullptr;
  Compute compute = elementwise(call);
  if (operand(call, 0).dtype == DataType::Float32 && !field(call, "compute_config", "fp32_dest_acc_en"))
    compute.width = Destination::Bits32;
  const Function function = vectorFunction(std::string_view(call.name).substr(5), compute);
  return function ? std::make_unique<FunctionKernel>(call, function, compute.width) : nullptr;
}

//===----------------------------------------------------------------------===//
// Conversions (ckernel_sfpu_typecast.h)
//===----------------------------------------------------------------------===//

int64_t toInt32(float x) {
  if (!(std::fabs(x) < 0x1p31f))
    return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(x);
}
int64_t toUint32(float x) {
  if (std::signbit(x))
    return 0;
  return x < 0x1p32f ? static_cast<int64_t>(x) : static_cast<int64_t>(std::numeric_limits<uint32_t>::max());
}
int64_t toUint16(float x) {
  // The larger of the value and 0 in the order of bits, rounded half away from zero.
  if (std::signbit(x))
    return 0;
  return x < 65535.0f ? static_cast<int64_t>(std::floor(x + 0.5)) : 65535;
}

void roundToEven(const float *from, std::byte *to, size_t n) {
  float rounded[256];
  for (size_t i = 0; i < n; i += 256) {
    const size_t count = std::min<size_t>(256, n - i);
    std::transform(from + i, from + i + count, rounded, roundedToEven);
    packer(DataType::BFloat16, Destination::Bits16)(rounded, to + i * sizeof(uint16_t), count);
  }
}

std::unique_ptr<Kernel> toInteger(const TensorSpec &from, const TensorSpec &to, int64_t (*convert)(float)) {
  const Load<float> load = loader<float>(from.dtype);
  const Store<int64_t> store = storer<int64_t>(to.dtype);
  const auto total = volume(to.shape);
  const auto inBytes = static_cast<int64_t>(storageBytes(from.dtype)),
             outBytes = static_cast<int64_t>(storageBytes(to.dtype));
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(total, 4096, [&](int64_t begin, int64_t end) {
      constexpr int64_t chunk = 512;
      float values[chunk];
      int64_t created[chunk];
      for (int64_t i = begin; i < end; i += chunk) {
        const int64_t n = std::min(chunk, end - i);
        load(buffers.ins[0] + i * inBytes, values, static_cast<size_t>(n));
        std::transform(values, values + n, created, convert);
        store(created, buffers.outs[0] + i * outBytes, static_cast<size_t>(n));
      }
    });
  });
}

std::unique_ptr<Kernel> makeTypecast(const OpCall &call) {
  const TensorSpec &from = operand(call, 0), &to = result(call);
  expectResultShape(call, from.shape);
  if (from.dtype == to.dtype)
    return nullptr;
  if (isKnown(from.dtype)) {
    if (const ToInteger convert = integerConversion(to.dtype))
      return toInteger(from, to, convert);
    if (to.dtype == DataType::BFloat16)
      return conversionKernel(from, to, roundToEven);
  }
  if (!isKnown(to.dtype) || (isInteger(from.dtype) && to.dtype == DataType::Float32))
    return nullptr; // not published, or exact
  if (isKnown(from.dtype)) {
    const bool wide = from.dtype == DataType::Float32 || to.dtype == DataType::Float32;
    return conversionKernel(from, to, packer(to.dtype, wide ? Destination::Bits32 : Destination::Bits16, true));
  }
  if (!isInteger(from.dtype))
    return nullptr;
  // Integers become f32, rounded to even, and are rounded again.
  TensorSpec values = from;
  values.dtype = DataType::Float32;
  return packedResult(to, Destination::Bits32, conversionKernel(from, values), true);
}

constexpr Row rows[] = {
    {"ttnn.add", makeBinary},        {"ttnn.subtract", makeBinary}, {"ttnn.multiply", makeBinary},
    {"ttnn.divide", makeBinary},     {"ttnn.maximum", makeBinary},  {"ttnn.minimum", makeBinary},
    {"ttnn.typecast", makeTypecast}, {"ttnn.abs", makeUnary},       {"ttnn.atan", makeUnary},
    {"ttnn.cos", makeUnary},         {"ttnn.erf", makeUnary},       {"ttnn.exp", makeUnary},
    {"ttnn.gelu", makeUnary},        {"ttnn.log", makeUnary},       {"ttnn.reciprocal", makeUnary},
    {"ttnn.rsqrt", makeUnary},       {"ttnn.sigmoid", makeUnary},   {"ttnn.silu", makeUnary},
    {"ttnn.sin", makeUnary},         {"ttnn.sqrt", makeUnary},      {"ttnn.tan", makeUnary},
    {"ttnn.tanh", makeUnary},
};

} // namespace

std::span<const Row> elementwiseRows() { return rows; }

ToInteger integerConversion(DataType to) {
  switch (to) {
  case DataType::Int32:
    return toInt32;
  case DataType::UInt32:
    return toUint32;
  case DataType::UInt16:
    return toUint16;
  default:
    return nullptr;
  }
}

Run<float> vectorBinary(std::string_view name, Destination width) {
  const std::string op = "ttnn." + std::string(name);
  if (std::ranges::none_of(rows, [&](const Row &row) { return row.name == op && row.make == makeBinary; }))
    return nullptr;
  if (width == Destination::Bits32)
    return runOf<Destination::Bits32>(op, Unit::Vector, 4);
  if (name == "add")
    return overBits<cutTo16<vectorSum>>;
  if (name == "subtract")
    return overBits<cutTo16<vectorDifference>>;
  if (name == "multiply")
    return overBits<productIn16>;
  return runOf<Destination::Bits16>(op, Unit::Vector, 4);
}

} // namespace tt::ttnn::exact
