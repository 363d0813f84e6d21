//===- op.cpp - helpers of all kernels ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"

#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <cstring>

namespace tt::ttnn {

void fail(const OpCall &call, const std::string &message) { throw OpError(call.name + ": " + message); }

const TensorSpec *optionalOperand(const OpCall &call, size_t index) {
  return index < call.ins.size() && call.ins[index] ? &*call.ins[index] : nullptr;
}

const TensorSpec &operand(const OpCall &call, size_t index) {
  if (const TensorSpec *spec = optionalOperand(call, index))
    return *spec;
  fail(call, "operand " + std::to_string(index) + " is absent");
}

const TensorSpec &result(const OpCall &call, size_t index) {
  if (index < call.outs.size())
    return call.outs[index];
  fail(call, "result " + std::to_string(index) + " is absent");
}

void expectResultShape(const OpCall &call, const Shape &expected, size_t index) {
  if (result(call, index).shape != expected)
    fail(call, "result " + std::to_string(index) + " has shape " + toString(result(call, index).shape) + "; expected " +
                   toString(expected));
}

void expectOperandShape(const OpCall &call, size_t index, const Shape &expected) {
  if (operand(call, index).shape != expected)
    fail(call, "operand " + std::to_string(index) + " has shape " + toString(operand(call, index).shape) +
                   "; expected " + toString(expected));
}

double number(const OpCall &call, std::string_view name) {
  if (const auto *integer = call.attributes.find<int64_t>(name))
    return static_cast<double>(*integer);
  return call.attributes.get<double>(name);
}

int64_t wrapDimension(const OpCall &call, std::string_view name, int64_t value, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (value < -r || value >= r)
    fail(call, "attribute '" + std::string(name) + "' names dimension " + std::to_string(value) +
                   " of a tensor of rank " + std::to_string(r));
  return value < 0 ? value + r : value;
}

int64_t dimension(const OpCall &call, std::string_view name, size_t rank) {
  return wrapDimension(call, name, call.attributes.get<int64_t>(name), rank);
}

std::string quoted(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::vector<int64_t> integers(const OpCall &call, std::string_view name, size_t size, int64_t least) {
  const auto &values = call.attributes.get<std::vector<int64_t>>(name);
  bool bad = values.size() != size;
  for (int64_t value : values)
    bad |= value < least || value > INT32_MAX;
  if (bad)
    fail(call, "attribute '" + std::string(name) + "' is " + quoted(values) + "; expected " + std::to_string(size) +
                   " integers of at least " + std::to_string(least));
  return values;
}

const Attribute *field(const StructAttribute &value, std::string_view fieldName) {
  for (const auto &[name, attribute] : value.fields)
    if (name == fieldName)
      return &attribute;
  return nullptr;
}

const Attribute *field(const OpCall &call, std::string_view structName, std::string_view fieldName) {
  const auto *value = call.attributes.find<StructAttribute>(structName);
  return value ? field(*value, fieldName) : nullptr;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

class FunctionKernel final : public Kernel {
public:
  FunctionKernel(std::function<void(const Buffers &)> function, size_t scratch)
      : function(std::move(function)), scratch(scratch) {}
  void run(const Buffers &buffers) const override { function(buffers); }
  size_t scratchBytes() const override { return scratch; }

private:
  std::function<void(const Buffers &)> function;
  size_t scratch;
};

class AliasKernel final : public Kernel {
public:
  explicit AliasKernel(size_t bytes) : bytes(bytes) {}
  void run(const Buffers &buffers) const override {
    if (bytes != 0 && buffers.ins[0] != buffers.outs[0])
      std::memcpy(buffers.outs[0], buffers.ins[0], bytes);
  }
  int alias() const override { return 0; }

private:
  size_t bytes;
};

/// Values of one tensor, [from, to) in units that may be stored separately.
class ConversionKernel final : public Kernel {
public:
  ConversionKernel(const TensorSpec &from, const TensorSpec &to, Store<float> store = nullptr)
      : total(static_cast<size_t>(volume(to.shape))), unit(storeGroup(to)), integer(isInteger(from.dtype)),
        fromBytes(storageBytes(from.dtype)), toBytes(storageBytes(to.dtype)), spec(to) {
    if (integer) {
      loadInt = loader<int64_t>(from.dtype);
      storeInt = storer<int64_t>(to.dtype);
    } else {
      loadFloat = loader<float>(from.dtype);
      storeFloat = store ? store : storer<float>(to.dtype);
    }
  }
  void run(const Buffers &buffers) const override { convert(buffers.ins[0], buffers.outs[0]); }
  void convert(const std::byte *from, std::byte *to) const {
    if (total == 0)
      return;
    const auto units = static_cast<int64_t>(total / unit);
    const int64_t grain = std::max<int64_t>(1, 32768 / static_cast<int64_t>(unit));
    parallelFor(units, grain, [&](int64_t begin, int64_t end) {
      if (integer)
        piece<int64_t>(from, to, begin * unit, end * unit, loadInt, storeInt);
      else
        piece<float>(from, to, begin * unit, end * unit, loadFloat, storeFloat);
    });
  }

private:
  template <class T>
  void piece(const std::byte *from, std::byte *to, size_t begin, size_t end, Load<T> load, Store<T> store) const {
    constexpr size_t chunk = 2048;
    alignas(64) T buffer[chunk];
    forEachPiece(begin, end, unit, chunk, [&](size_t i, size_t n) {
      load(from + i * fromBytes, buffer, n);
      storePiece(store, spec, unit, buffer, to + i * toBytes, n);
    });
  }
  size_t total, unit;
  bool integer;
  size_t fromBytes, toBytes;
  TensorSpec spec;
  Load<float> loadFloat = nullptr;
  Store<float> storeFloat = nullptr;
  Load<int64_t> loadInt = nullptr;
  Store<int64_t> storeInt = nullptr;
};

/// Runs a kernel whose first result is written to scratch memory, then converts that.
class ConvertedKernel final : public Kernel {
public:
  ConvertedKernel(std::unique_ptr<Kernel> inner, const TensorSpec &produced, const TensorSpec &result)
      : inner(std::move(inner)), conversion(produced, result) {
    ScratchLayout layout;
    innerScratch = layout.take(this->inner->scratchBytes());
    values = layout.take(produced.bytes());
    scratch = layout.bytes();
  }
  void run(const Buffers &buffers) const override {
    std::vector<std::byte *> outs(buffers.outs.begin(), buffers.outs.end()); // further results are written in place
    outs[0] = buffers.scratch + values;
    inner->run({buffers.ins, outs, buffers.scratch + innerScratch});
    conversion.convert(outs[0], buffers.outs[0]);
  }
  size_t scratchBytes() const override { return scratch; }
  bool reads(size_t operand) const override { return inner->reads(operand); }

private:
  std::unique_ptr<Kernel> inner;
  ConversionKernel conversion;
  size_t innerScratch, values, scratch;
};

/// Runs a kernel that writes bf16, then quantizes its result in place.
class QuantisedKernel final : public Kernel {
public:
  QuantisedKernel(std::unique_ptr<Kernel> inner, const TensorSpec &result) : inner(std::move(inner)), spec(result) {}
  void run(const Buffers &buffers) const override {
    inner->run(buffers);
    const int64_t row = spec.shape.empty() ? 1 : spec.shape.back();
    const int64_t rows = row == 0 ? 0 : volume(spec.shape) / row;
    parallelFor(rows, 1 + 16384 / std::max<int64_t>(row, 1), [&](int64_t begin, int64_t end) {
      auto *values = reinterpret_cast<uint16_t *>(buffers.outs[0]) + begin * row;
      sim::quantiseRows(spec.dtype, values, static_cast<size_t>(end - begin), static_cast<size_t>(row));
    });
  }
  size_t scratchBytes() const override { return inner->scratchBytes(); }
  bool reads(size_t operand) const override { return inner->reads(operand); }

private:
  std::unique_ptr<Kernel> inner;
  TensorSpec spec;
};

} // namespace

std::unique_ptr<Kernel> kernelOf(std::function<void(const Buffers &)> run, size_t scratchBytes) {
  return std::make_unique<FunctionKernel>(std::move(run), scratchBytes);
}

std::unique_ptr<Kernel> aliasKernel(size_t bytes) { return std::make_unique<AliasKernel>(bytes); }

std::unique_ptr<Kernel> conversionKernel(const TensorSpec &from, const TensorSpec &to,
                                         void (*store)(const float *, std::byte *, size_t)) {
  return std::make_unique<ConversionKernel>(from, to, store);
}

std::unique_ptr<Kernel> roundedTo(const TensorSpec &result, DataType produced, std::unique_ptr<Kernel> inner) {
  const bool block = sim::isBlockFormat(result.dtype);
  if (produced == result.dtype && !block)
    return inner;
  if (block && storageType(produced) == StorageType::BF16)
    return std::make_unique<QuantisedKernel>(std::move(inner), result);
  TensorSpec values = result;
  values.dtype = produced;
  return std::make_unique<ConvertedKernel>(std::move(inner), values, result);
}

} // namespace tt::ttnn
