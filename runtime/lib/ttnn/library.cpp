//===- library.cpp - primitives of the kernel library (oneDNN) ------------===//

#include "library.h"

#include <algorithm>
#include <mutex>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// libgomp's, which the library runs on; clang's omp.h is that of another runtime.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

namespace tt::ttnn::library {

const dnnl::engine &engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
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

dnnl::primitive_attr attributes(bool relu) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops post;
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attributes.set_post_ops(post);
  }
  return attributes;
}

Primitive::Primitive(const dnnl::primitive &primitive) : primitive(primitive), threads(omp_get_max_threads()) {}

void Primitive::add(int argument, const dnnl::memory::desc &desc) {
  memories.push_back(dnnl::memory(desc, engine(), DNNL_MEMORY_NONE));
  arguments.push_back({argument, memories.back().get()});
}

void Primitive::run(std::initializer_list<const void *> addresses) const {
  const Threads same(threads);
  size_t i = 0;
  for (const void *address : addresses)
    dnnl_memory_set_data_handle(arguments[i++].memory, const_cast<void *>(address));
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), stream().get(), static_cast<int>(arguments.size()), arguments.data());
  if (status != dnnl_success)
    throw OpError("the kernel library could not run a primitive (status " + std::to_string(status) + ")");
}

Primitive reorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to) {
  Primitive primitive(dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to, attributes(false))));
  primitive.add(DNNL_ARG_FROM, from);
  primitive.add(DNNL_ARG_TO, to);
  return primitive;
}

namespace {

constexpr size_t line = 64, hugePage = size_t(1) << 21;

/// Memory for std::free. Only what fills huge pages is asked to lie on them, so that nothing is taken for nothing.
std::shared_ptr<std::byte> aligned(size_t size, size_t alignment) {
  const size_t whole = (std::max<size_t>(size, 1) + line - 1) / line * line;
  void *data = nullptr;
  if (posix_memalign(&data, alignment, whole) != 0)
    throw std::bad_alloc();
#if defined(__linux__)
  if (alignment == hugePage)
    madvise(data, whole / hugePage * hugePage, MADV_HUGEPAGE); // a hint: small pages are right as well
#endif
  return {static_cast<std::byte *>(data), [](std::byte *p) { std::free(p); }};
}

/// Weights of a program lie behind one another in slabs: each on huge pages of its own would waste the rest of the
/// last. A slab goes with the last piece of it.
class Slabs {
public:
  std::shared_ptr<std::byte> take(size_t size) {
    const size_t whole = (size + line - 1) / line * line;
    std::lock_guard lock(mutex);
    std::shared_ptr<std::byte> slab = current.lock();
    if (!slab || used + whole > slabBytes) {
      slab = aligned(slabBytes, hugePage);
      current = slab;
      used = 0;
    }
    std::byte *const at = slab.get() + used;
    used += whole;
    return {std::move(slab), at};
  }
  static constexpr size_t slabBytes = 16 * hugePage;

private:
  std::mutex mutex;
  std::weak_ptr<std::byte> current;
  size_t used = 0;
};

} // namespace

AlignedBytes::AlignedBytes(size_t size) {
  static Slabs *const slabs = new Slabs; // outlives kernels of static duration
  if (size < hugePage / 8)
    bytes = aligned(size, line);
  else if (size > Slabs::slabBytes / 2)
    bytes = aligned(size, hugePage);
  else
    bytes = slabs->take(size);
}

Packed::Packed(const OpCall &call, size_t index, DataType type, ScratchLayout &scratch) {
  const TensorSpec &from = operand(call, index);
  constant = constantOperand(call, index);
  if (storageType(from.dtype) == storageType(type))
    return;
  TensorSpec to = from;
  to.dtype = type;
  conversion = conversionKernel(from, to);
  if (constant) {
    made = AlignedBytes(to.bytes());
    convert(constant, made.data());
  } else {
    place = scratch.take(to.bytes());
  }
}

const std::byte *Packed::get(const std::byte *from, std::byte *scratch) const {
  if (!conversion)
    return from;
  if (made)
    return made.data();
  convert(from, scratch + place);
  return scratch + place;
}

const std::byte *Packed::constantValues() const { return made ? made.data() : constant; }

void Packed::convert(const std::byte *from, std::byte *to) const { conversion->run({{&from, 1}, {&to, 1}, nullptr}); }

Ordered::Ordered(const Packed &values, const dnnl::memory::desc &given, const dnnl::memory::desc &wanted,
                 ScratchLayout &scratch) {
  if (given == wanted)
    return;
  Primitive primitive = library::reorder(given, wanted);
  if (const std::byte *constant = values.constantValues()) {
    made = AlignedBytes(wanted.get_size());
    primitive.run({constant, made.data()});
  } else {
    reorder = std::move(primitive);
    place = scratch.take(wanted.get_size());
  }
}

const std::byte *Ordered::get(const Packed &values, const std::byte *from, std::byte *scratch) const {
  if (made)
    return made.data();
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
