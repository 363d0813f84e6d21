//===- library.h - primitives of the kernel library (oneDNN) -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A primitive is created with all its memory objects when a kernel is created; running it only sets their addresses.
// Scratchpads are in the kernel's scratch memory. The library's errors become OpError.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/deferred.h"
#include "core/op.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tt::ttnn::library {

const dnnl::engine &engine();
/// Returns the stream of the calling thread.
const dnnl::stream &stream();

/// While it exists, the library creates and runs primitives for that many threads. A primitive's blocking, and with it
/// the order of its sums, depends on the number for which it was created, and so does the size of its scratchpad.
class Threads {
public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads &) = delete;

private:
  int before;
};

/// f32 or bf16.
dnnl::memory::data_type dataType(DataType type);
/// A dense or strided tensor.
dnnl::memory::desc describe(const Shape &dims, DataType type, const std::vector<int64_t> &strides);

/// Whether a primitive can compute an activation, by its name in the elementwise table, while it stores results, with
/// the values of the elementwise kernels: before the only rounding, so that results in bf16 need no separate pass.
bool fuses(std::string_view activation);
/// Attributes with a scratchpad that the caller provides, and an activation that the library fuses or none.
dnnl::primitive_attr attributes(std::string_view activation = {});

/// The code of a primitive, for as many threads as the library had when this was created. The library generates it,
/// which takes most of the time that a primitive costs; within DeferredWork, this happens at its end or at the first
/// run.
class Code final : public Work {
public:
  static std::shared_ptr<const Code> make(dnnl::primitive_desc_base plan);
  /// Returns the code of a convolution: within DeferredWork, equal ones share one, planned once.
  static std::shared_ptr<const Code> make(const dnnl_convolution_desc_t &convolution, std::string_view activation,
                                          const std::function<dnnl::primitive_desc_base()> &plan);

  explicit Code(dnnl::primitive_desc_base plan);
  const dnnl::primitive_desc_base &plan() const { return planned; }
  const dnnl::primitive &primitive() const;
  void perform() const override { primitive(); }

  const int threads;

private:
  const dnnl::primitive_desc_base planned;
  std::string key; // of a convolution
  mutable std::once_flag once;
  mutable dnnl::primitive generated;
};

/// A primitive with its arguments, in the order in which they were added.
class Primitive {
public:
  Primitive() = default;
  explicit Primitive(std::shared_ptr<const Code> code) : code(std::move(code)) {}
  explicit operator bool() const { return code != nullptr; }
  /// argument: DNNL_ARG_SRC and so on.
  void add(int argument, const dnnl::memory::desc &desc);
  /// The same without its activation, and the size of its scratchpad.
  using Plain = std::function<std::pair<dnnl::primitive, size_t>()>;
  /// Keeps NaN in a primitive that fuses an activation. The library's activations return 0 or another bound for NaN, so
  /// a run that read or produced a NaN is repeated without the activation, which follows.
  void keepNaN(std::string_view activation, Plain plain);
  /// Runs with one address per added argument; an argument of size 0 may have nullptr. Uses as many threads as it was
  /// created for.
  void run(std::initializer_list<const void *> addresses) const;

private:
  void execute(const dnnl::primitive &what, const std::vector<dnnl_exec_arg_t> &with) const;
  void runPlainly() const;

  std::shared_ptr<const Code> code;
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
  std::string_view activation;
  Plain plain;
};

/// A reorder between two descriptions of the same values.
Primitive reorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to);

/// 64-byte aligned memory that a kernel owns: weights in the order in which it reads them, on huge pages unless they
/// are few.
class AlignedBytes {
public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size);
  /// Shares the bytes of another kernel.
  explicit AlignedBytes(std::shared_ptr<std::byte> bytes) : bytes(std::move(bytes)) {}
  std::byte *data() const { return bytes.get(); }
  const std::shared_ptr<std::byte> &share() const { return bytes; }
  explicit operator bool() const { return bytes != nullptr; }

private:
  std::shared_ptr<std::byte> bytes;
};

/// The values of an operand that never change, or nullptr.
const std::byte *constantOperand(const OpCall &call, size_t index);

/// The code that converts a constant to a form: each writes other bytes.
enum class FormOf : int64_t {
  Panels,
  BlockColumns,
  IntegerPanels,
  ConvolutionPanels,
  IntegerConvolution,
  Product,
  Primitive,
  Planes,
};
/// Begins the name of a form: the kernel, and the type of the values. The same bytes have other values in another type.
ConstantStore::Form formOf(FormOf by, StorageType values, std::initializer_list<int64_t> sizes = {});

/// An operand in the computed type: unchanged, converted once if it is constant, or in each run.
class Packed {
public:
  Packed() = default;
  Packed(const OpCall &call, size_t index, DataType type, ScratchLayout &scratch);
  const std::byte *get(const std::byte *from, std::byte *scratch) const;
  /// Whether `get` needs the operand's own values.
  bool reads() const { return !created; }
  /// The converted values when they are constant, else nullptr.
  const std::byte *constantValues() const;
  /// The operand's own values if they are constant, by which a store knows them.
  const std::byte *operandValues() const { return constant; }
  StorageType operandType() const { return given; }
  /// The store to which these are to be released: none if they are a converted copy.
  const ConstantStore *storeOf(const ConstantStore *store) const { return created ? nullptr : store; }
  /// Frees a converted copy; `get` must not be called any more.
  void discard() { created = {}; }

private:
  void convert(const std::byte *from, std::byte *to) const;
  std::unique_ptr<Kernel> conversion;
  AlignedBytes created;
  const std::byte *constant = nullptr;
  StorageType given{};
  size_t place = 0;
};

/// Adds to a form the order of elements of a description. False if it is one of the library's own.
bool appendOrder(ConstantStore::Form &form, const dnnl::memory::desc &desc);

/// Weights in the order that a primitive requires, reordered once if they are constant, or in each run. Must be created
/// when nothing else can fail: constant values may be freed (see ConstantStore) once they have been reordered, and so
/// is their converted copy.
class Ordered {
public:
  Ordered() = default;
  Ordered(Packed &values, const dnnl::memory::desc &given, const dnnl::memory::desc &target, ScratchLayout &scratch,
          const ConstantStore *store);
  const std::byte *get(const Packed &values, const std::byte *from, std::byte *scratch) const;
  /// Whether `get` needs the operand's own values.
  bool reads(const Packed &values) const { return !created && values.reads(); }

private:
  /// Reorders constant values into `made`.
  void order(Packed &values, const dnnl::memory::desc &given, const dnnl::memory::desc &target,
             const ConstantStore *store);

  Primitive reorder;
  AlignedBytes created;
  size_t place = 0;
};

} // namespace tt::ttnn::library
