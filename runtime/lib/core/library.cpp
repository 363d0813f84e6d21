//===- library.cpp - primitives of the kernel library (oneDNN) ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/library.h"
#include "core/orders.h"
#include "core/scalars.h"
#include "tt/parallel.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"
#include "tt/units.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <numeric>
#include <utility>

// libgomp's, on which the library runs; clang's omp.h belongs to another runtime.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

namespace tt::ttnn::library {

const dnnl::engine &engine() {
  // The units that the library may use are set before its first use.
  static const dnnl::engine engine = (units(), dnnl::engine(dnnl::engine::kind::cpu, 0));
  return engine;
}

const dnnl::stream &stream() {
  static thread_local const dnnl::stream stream(engine());
  return stream;
}

Threads::Threads(int count) : before(omp_get_max_threads()) {
  if (count != before)
    omp_set_num_threads(count);
}

Threads::~Threads() {
  if (omp_get_max_threads() != before)
    omp_set_num_threads(before);
}

dnnl::memory::data_type dataType(DataType type) {
  return storageType(type) == StorageType::BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc describe(const Shape &dims, DataType type, const std::vector<int64_t> &strides) {
  return {dims, dataType(type), strides};
}

namespace {

struct Fused {
  std::string_view activation;
  dnnl::algorithm algorithm;
  float alpha, beta;
  float (*exact)(float); // as the elementwise table has it
};

constexpr Fused fused[] = {
    {"relu", dnnl::algorithm::eltwise_relu, 0, 0, [](float x) { return scalars::relu(x); }},
    {"relu6", dnnl::algorithm::eltwise_clip, 0, 6, [](float x) { return scalars::relu6(x); }},
};

const Fused *findFused(std::string_view activation) {
  const Fused *found = std::ranges::find(fused, activation, &Fused::activation);
  return found == std::end(fused) ? nullptr : found;
}

} // namespace

bool fuses(std::string_view activation) {
#if defined(__x86_64__)
  return findFused(activation);
#else
  return false; // nothing tells what became of NaN (takeInvalid)
#endif
}

dnnl::primitive_attr attributes(std::string_view activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (const Fused *row = findFused(activation)) {
    dnnl::post_ops post;
    post.append_eltwise(1.0f, row->algorithm, row->alpha, row->beta);
    attributes.set_post_ops(post);
  }
  return attributes;
}

Code::Code(dnnl::primitive_desc_base plan) : threads(omp_get_max_threads()), planned(std::move(plan)) {}

std::shared_ptr<const Code> Code::make(dnnl::primitive_desc_base plan) {
  auto code = std::make_shared<const Code>(std::move(plan));
  if (DeferredWork *const work = DeferredWork::current())
    work->add(code);
  else
    code->perform();
  return code;
}

std::shared_ptr<const Code> Code::make(const dnnl_convolution_desc_t &convolution, std::string_view activation,
                                       const std::function<dnnl::primitive_desc_base()> &plan) {
  constexpr size_t most = 32; // layers that are equal follow each other closely
  DeferredWork *const work = DeferredWork::current();
  if (!work)
    return make(plan());
  std::string key(reinterpret_cast<const char *>(&convolution), sizeof(convolution));
  key += activation;
  const auto added = work->added();
  for (size_t i = added.size(); i-- > 0 && added.size() - i <= most;) {
    const auto other = std::dynamic_pointer_cast<const Code>(added[i].lock());
    if (other && other->threads == omp_get_max_threads() && other->key == key)
      return other;
  }
  const auto code = std::make_shared<Code>(plan());
  code->key = std::move(key);
  work->add(code);
  return code;
}

const dnnl::primitive &Code::primitive() const {
  std::call_once(once, [&] {
    const Threads same(threads);
    try {
      generated = dnnl::primitive(planned.get());
    } catch (const dnnl::error &error) {
      throw OpError("the kernel library could not make a primitive: " + std::string(error.what()));
    }
  });
  return generated;
}

void Primitive::add(int argument, const dnnl::memory::desc &desc) {
  memories.push_back(dnnl::memory(desc, engine(), DNNL_MEMORY_NONE));
  arguments.push_back({argument, memories.back().get()});
}

namespace {

/// Whether a floating-point instruction read or produced a NaN since the last call, in this thread; this includes the
/// comparison with 0 of a relu. Products of bf16 set no flag, but later instructions do.
bool takeInvalid() {
#if defined(__x86_64__)
  constexpr unsigned invalid = 1;
  const unsigned state = __builtin_ia32_stmxcsr();
  if (state & invalid)
    __builtin_ia32_ldmxcsr(state & ~invalid);
  return state & invalid;
#else
  return false;
#endif
}

/// The same in any of the first threads of the pool.
bool takeInvalid(int threads) {
  if (threads == 1)
    return takeInvalid();
  std::atomic<bool> found{false};
  GOMP_parallel(
      [](void *data) {
        if (takeInvalid())
          static_cast<std::atomic<bool> *>(data)->store(true, std::memory_order_relaxed);
      },
      &found, static_cast<unsigned>(threads), 0);
  return found;
}

/// Applies f to every value of a dense row-major tensor, in place.
void apply(float (*f)(float), const dnnl::memory::desc &desc, void *values) {
  const dnnl::memory::dims dims = desc.dims();
  const auto *strides = desc.data.format_desc.blocking.strides;
  const bool isBf16 = desc.data_type() == dnnl::memory::data_type::bf16;
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0, rest = i;
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d])
      at += rest % dims[d] * strides[d];
    if (isBf16) {
      auto &value = static_cast<uint16_t *>(values)[at];
      value = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(f(std::bit_cast<float>(static_cast<uint32_t>(value) << 16))) >> 16);
    } else {
      auto &value = static_cast<float *>(values)[at];
      value = f(value);
    }
  }
}

} // namespace

void Primitive::keepNaN(std::string_view fusedActivation, Plain makePlain) {
  if (const Fused *row = findFused(fusedActivation)) {
    activation = row->activation;
    plain = std::move(makePlain);
  }
}

void Primitive::run(std::initializer_list<const void *> addresses) const {
  if (detail::threadsAreLost())
    throw OpError("this process was forked from inside of a parallel loop: the kernel library has no threads");
  const dnnl::primitive &primitive = code->primitive();
  const int threads = code->threads;
  const Threads same(threads);
  size_t i = 0;
  for (const void *address : addresses)
    dnnl_memory_set_data_handle(arguments[i++].memory, const_cast<void *>(address));
  if (plain)
    takeInvalid(threads); // what ran in these threads before
  execute(primitive, arguments);
  if (plain && takeInvalid(threads))
    runPlainly();
}

void Primitive::runPlainly() const {
  const auto [without, bytes] = plain();
  const AlignedBytes room(bytes);
  const dnnl::memory scratchpad({{static_cast<int64_t>(bytes)}, dnnl::memory::data_type::u8, {1}}, engine(),
                                room.data());
  std::vector<dnnl_exec_arg_t> with = arguments;
  for (dnnl_exec_arg_t &argument : with)
    if (argument.arg == DNNL_ARG_SCRATCHPAD)
      argument.memory = scratchpad.get();
  execute(without, with);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].arg == DNNL_ARG_DST)
      apply(findFused(activation)->exact, memories[i].get_desc(), memories[i].get_data_handle());
  takeInvalid(code->threads);
}

void Primitive::execute(const dnnl::primitive &what, const std::vector<dnnl_exec_arg_t> &with) const {
  const dnnl_status_t status =
      dnnl_primitive_execute(what.get(), stream().get(), static_cast<int>(with.size()), with.data());
  if (status != dnnl_success)
    throw OpError("the kernel library could not run a primitive (status " + std::to_string(status) + ")");
}

Primitive reorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to) {
  Primitive primitive(Code::make(dnnl::reorder::primitive_desc(engine(), from, engine(), to, attributes())));
  primitive.add(DNNL_ARG_FROM, from);
  primitive.add(DNNL_ARG_TO, to);
  return primitive;
}

AlignedBytes::AlignedBytes(size_t size) {
  // A few are better placed between malloc's blocks, which it reuses one by one.
  constexpr size_t few = size_t(1) << 18;
  if (size >= few) {
    bytes = takeLasting(size);
    return;
  }
  constexpr size_t line = 64;
  void *data = std::aligned_alloc(line, (std::max<size_t>(size, 1) + line - 1) / line * line);
  if (!data)
    throw std::bad_alloc();
  poison(data, size);
  bytes = {static_cast<std::byte *>(data), [](std::byte *p) { std::free(p); }};
}

Packed::Packed(const OpCall &call, size_t index, DataType type, ScratchLayout &scratch) {
  const TensorSpec &from = operand(call, index);
  constant = constantOperand(call, index);
  given = storageType(from.dtype);
  if (given == storageType(type))
    return;
  TensorSpec to = from;
  to.dtype = type;
  conversion = conversionKernel(from, to);
  if (constant) {
    // Not with lasting memory: most are freed after they have been reordered.
    created = AlignedBytes(sim::allocateHostOnce(to.bytes(), "a converted constant"));
    convert(constant, created.data());
  } else {
    place = scratch.take(to.bytes());
  }
}

const std::byte *Packed::get(const std::byte *from, std::byte *scratch) const {
  if (!conversion)
    return from;
  if (created)
    return created.data();
  convert(from, scratch + place);
  return scratch + place;
}

const std::byte *Packed::constantValues() const { return created ? created.data() : constant; }

void Packed::convert(const std::byte *from, std::byte *to) const { conversion->run({{&from, 1}, {&to, 1}, nullptr}); }

namespace {

/// `count` entries of the first dimension, from `first` on: their description, and their offset.
std::pair<dnnl::memory::desc, int64_t> slice(const dnnl::memory::desc &desc, int64_t first, int64_t count) {
  dnnl::memory::dims dims = desc.dims(), offsets(dims.size(), 0);
  dims[0] = count;
  offsets[0] = first;
  dnnl::memory::desc part = desc.submemory_desc(dims, offsets);
  const int64_t start = std::exchange(part.data.offset0, 0);
  return {std::move(part), start * static_cast<int64_t>(dnnl::memory::data_type_size(desc.data_type()))};
}

/// The number of entries of the first dimension in a block, or 0 if memory is not divided along it.
int64_t blockOfFirst(const dnnl::memory::desc &desc) {
  const dnnl_memory_desc_t &data = desc.data;
  if (data.format_kind != dnnl_blocked || data.extra.flags != dnnl_memory_extra_flag_none || data.offset0 != 0)
    return 0;
  int64_t block = 1;
  for (int i = 0; i < data.format_desc.blocking.inner_nblks; ++i)
    if (data.format_desc.blocking.inner_idxs[i] == 0)
      block *= data.format_desc.blocking.inner_blks[i];
  const auto *strides = data.format_desc.blocking.strides;
  return std::max_element(strides, strides + data.ndims) == strides ? block : 0;
}

/// The number of equal pieces, each handled by one primitive, in which constant values are reordered.
int64_t piecesOf(const dnnl::memory::desc &given, const dnnl::memory::desc &target) {
  constexpr int64_t most = int64_t(1) << 21;
  const auto bytes = static_cast<int64_t>(given.get_size());
  const int64_t count = given.dims()[0], block = blockOfFirst(given) == 1 ? blockOfFirst(target) : 0;
  if (block == 0 || count % block != 0)
    return 1;
  int64_t pieces = 1;
  while (bytes / pieces > most && pieces < count / block)
    do
      ++pieces;
    while (count / block % pieces != 0);
  return pieces;
}

} // namespace

ConstantStore::Form formOf(FormOf by, StorageType values, std::initializer_list<int64_t> sizes) {
  ConstantStore::Form form = {static_cast<int64_t>(by), static_cast<int64_t>(values)};
  form.insert(form.end(), sizes);
  return form;
}

bool appendOrder(ConstantStore::Form &form, const dnnl::memory::desc &desc) {
  const dnnl_memory_desc_t &data = desc.data;
  if (data.format_kind != dnnl_blocked || data.extra.flags != dnnl_memory_extra_flag_none || data.offset0 != 0)
    return false;
  const auto &blocking = data.format_desc.blocking;
  form.insert(form.end(), {data.data_type, data.ndims, blocking.inner_nblks});
  form.insert(form.end(), data.dims, data.dims + data.ndims);
  form.insert(form.end(), data.padded_dims, data.padded_dims + data.ndims);
  form.insert(form.end(), blocking.strides, blocking.strides + data.ndims);
  form.insert(form.end(), blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks);
  form.insert(form.end(), blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks);
  return true;
}

Ordered::Ordered(Packed &values, const dnnl::memory::desc &given, const dnnl::memory::desc &target,
                 ScratchLayout &scratch, const ConstantStore *store) {
  if (given == target)
    return;
  if (!values.constantValues()) {
    reorder = library::reorder(given, target);
    place = scratch.take(target.get_size());
    return;
  }
  ConstantStore::Form form = formOf(FormOf::Primitive, values.operandType());
  const std::byte *operand = values.operandValues();
  const bool shares = store && appendOrder(form, given) && appendOrder(form, target);
  if (shares && (created = AlignedBytes(store->sharedForm(operand, form)))) {
    WeightOrders::countReused();
    values.discard();
    return;
  }
  created = AlignedBytes(WeightOrders::takeCurrent(target.get_size()));
  order(values, given, target, values.storeOf(store));
  if (shares)
    store->shareForm(operand, std::move(form), created.share());
}

void Ordered::order(Packed &values, const dnnl::memory::desc &given, const dnnl::memory::desc &target,
                    const ConstantStore *store) {
  const std::byte *constant = values.constantValues();
  const int64_t pieces = store ? piecesOf(given, target) : 1;
  if (pieces == 1) {
    library::reorder(given, target).run({constant, created.data()});
    values.discard();
    return;
  }
  const int64_t count = given.dims()[0] / pieces;
  const Primitive primitive = library::reorder(slice(given, 0, count).first, slice(target, 0, count).first);
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t from = slice(given, i * count, count).second, to = slice(target, i * count, count).second;
    primitive.run({constant + from, created.data() + to});
    store->release({constant, given.get_size() / static_cast<size_t>(pieces) * static_cast<size_t>(i + 1)});
  }
}

const std::byte *Ordered::get(const Packed &values, const std::byte *from, std::byte *scratch) const {
  if (created)
    return created.data();
  from = values.get(from, scratch);
  if (!reorder)
    return from;
  reorder.run({from, scratch + place});
  return scratch + place;
}

const std::byte *constantOperand(const OpCall &call, size_t index) {
  return index < call.constantIns.size() ? call.constantIns[index] : nullptr;
}

} // namespace tt::ttnn::library
