//===- Arithmetic.cpp - the chip's arithmetic for Python ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/arithmetic.h"
#include "Bindings.h"

#include <bit>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <vector>

namespace tt::python {
namespace {

namespace exact = sim::exact;
using In = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<nb::numpy, float>;

std::vector<size_t> shapeOf(const In &array) {
  std::vector<size_t> shape(array.ndim());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = array.shape(i);
  return shape;
}

/// Returns a new array of f32 with the bits `bits(index)`.
template <class F> Out created(const std::vector<size_t> &shape, F &&bits) {
  size_t count = 1;
  for (const size_t size : shape)
    count *= size;
  auto *values = new float[count];
  nb::capsule owner(values, [](void *data) noexcept { delete[] static_cast<float *>(data); });
  for (size_t i = 0; i < count; ++i)
    values[i] = std::bit_cast<float>(static_cast<uint32_t>(bits(i)));
  return Out(values, shape.size(), shape.data(), owner);
}

void requireAlike(const char *function, const In &a, const In &b) {
  if (shapeOf(a) != shapeOf(b))
    throw Error(std::string("arithmetic.") + function + ": operands have different shapes; expected equal ones");
}

int phasesOf(const char *function, const std::string &fidelity) {
  static constexpr const char *names[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};
  for (int i = 0; i < 4; ++i)
    if (fidelity == names[i])
      return i + 1;
  throw Error(std::string("arithmetic.") + function + ": fidelity is \"" + fidelity +
              "\"; expected LoFi, HiFi2, HiFi3 or HiFi4");
}

exact::Destination width(bool fp32) { return fp32 ? exact::Destination::Bits32 : exact::Destination::Bits16; }
uint32_t at(const In &array, size_t i) { return std::bit_cast<uint32_t>(array.data()[i]); }
/// A value in the form of a source register.
uint32_t source(const In &array, size_t i) { return exact::unpackToTf32(at(array, i)); }

Out packBlock(const In &x, int bits) {
  const int magnitude = bits - 1;
  if (bits != 8 && bits != 4 && bits != 2)
    throw Error("arithmetic.pack_block: bits is " + std::to_string(bits) + "; expected 8, 4 or 2");
  if (x.ndim() == 0 || x.shape(x.ndim() - 1) % 16 != 0)
    throw Error("arithmetic.pack_block: the last dimension is not a multiple of 16; 16 values share an exponent");
  std::vector<uint32_t> packed(x.size());
  for (size_t begin = 0; begin < packed.size(); begin += 16) {
    uint16_t values[16];
    for (size_t i = 0; i < 16; ++i)
      values[i] = exact::packToE8M6(at(x, begin + i));
    const exact::Group group = exact::packBlock(values, 16, magnitude);
    for (size_t i = 0; i < 16; ++i)
      packed[begin + i] = uint32_t{exact::unpackBlock(group.negative[i], group.magnitude[i], magnitude, group.exponent)}
                          << 16;
  }
  return created(shapeOf(x), [&](size_t i) { return packed[i]; });
}

Out dot(const In &a, const In &b, const std::string &fidelity, bool fp32) {
  requireAlike("dot", a, b);
  const int phases = phasesOf("dot", fidelity);
  std::vector<size_t> shape = shapeOf(a);
  if (shape.empty() || shape.back() == 0 || shape.back() % 32 != 0)
    throw Error("arithmetic.dot: the last dimension is not a multiple of 32, the size of a tile");
  const size_t k = shape.back();
  shape.pop_back();
  std::vector<uint32_t> left(k), right(k);
  return created(shape, [&](size_t row) {
    for (size_t i = 0; i < k; ++i) {
      left[i] = source(a, row * k + i);
      right[i] = source(b, row * k + i);
    }
    // The left operand is in SrcB.
    return exact::dot(right.data(), left.data(), k, 0, phases, width(fp32));
  });
}

} // namespace

void bindArithmetic(nb::module_ &module) {
  // Arrays are taken unchanged: of f32, in C order. A conversion would be a rounding that the chip does not have.
  module.def(
      "pack_bfloat16",
      [](const In &x) {
        return created(shapeOf(x), [&](size_t i) { return uint32_t{exact::packToBf16(at(x, i))} << 16; });
      },
      nb::arg("x").noconvert(),
      "What the packer stores of f32 values as bfloat16: ties away from zero, NaN as Inf, denormals as +0.");
  module.def("pack_block", packBlock, nb::arg("x").noconvert(), nb::arg("bits"),
             "What is read again of values stored as bfp8, bfp4 or bfp2 (`bits` 8, 4, 2): 16 values of the last "
             "dimension share an exponent. Raises Error for other sizes.");
  module.def(
      "add",
      [](const In &a, const In &b, bool fp32) {
        requireAlike("add", a, b);
        return created(shapeOf(a), [&](size_t i) { return exact::add(source(a, i), source(b, i), width(fp32)); });
      },
      nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("fp32_dest_acc_en") = false,
      "a + b of the matrix unit: operands of 10 mantissa bits, a sum of 7, or 23 with `fp32_dest_acc_en`.");
  module.def(
      "multiply",
      [](const In &a, const In &b, const std::string &fidelity, bool fp32) {
        requireAlike("multiply", a, b);
        const int phases = phasesOf("multiply", fidelity);
        return created(shapeOf(a),
                       [&](size_t i) { return exact::multiply(source(a, i), source(b, i), phases, width(fp32)); });
      },
      nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("math_fidelity") = "HiFi4",
      nb::arg("fp32_dest_acc_en") = false,
      "a * b of the matrix unit, in the 1 to 4 phases of LoFi, HiFi2, HiFi3 and HiFi4. `a` is in SrcA.");
  module.def("dot", dot, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("math_fidelity") = "HiFi4",
             nb::arg("fp32_dest_acc_en") = false,
             "The sums of a * b over the last dimension, a multiple of 32, in the matrix unit's order: what an element "
             "of a matrix product is. `a` is the left operand.");
  module.def(
      "multiply_add",
      [](const In &x, const In &y, const In &z) {
        requireAlike("multiply_add", x, y);
        requireAlike("multiply_add", x, z);
        return created(shapeOf(x), [&](size_t i) { return exact::multiplyAdd(at(x, i), at(y, i), at(z, i)); });
      },
      nb::arg("x").noconvert(), nb::arg("y").noconvert(), nb::arg("z").noconvert(),
      "x * y + z of the vector unit, in f32.");
}

} // namespace tt::python
