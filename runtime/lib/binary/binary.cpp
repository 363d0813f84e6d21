//===- binary.cpp - a TTNN or TTMetal flatbuffer, checked -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/runtime/binary.h"
#include "base/flatbuffer.h"
#include "binary/generic.h"
#include "binary/image.h"
#include "binary/metal/image.h"
#include "core/native_code.h"
#include "metal_generated.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/OutputFile.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace tt::runtime {
namespace {

std::atomic<uint64_t> nextId{1};

} // namespace

BinaryImage::BinaryImage(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : name(std::move(name)), id(nextId.fetch_add(1)), bytes(bytes), owner(std::move(owner)) {
  files::verifyPrefix(this->name, bytes, {target::BinaryIdentifier(), target::metal::TTMetalBinaryIdentifier()},
                      "\"TTNN\" (is it a TTNN flatbuffer?), or \"TTM0\" of a TTMetal one");
  if (metal::isMetal(bytes)) {
    metal::readImage(*this);
    return;
  }
  root = &files::verifiedRoot<target::Binary>(this->name, bytes, target::schemaVersion);
  schemaVersion = root->schema_version();
  version = root->version();
  mlir = files::text(root->mlir());
  readImage(*this);
}

BinaryImage::BinaryImage(const std::shared_ptr<BinaryImage> &open, size_t program, std::span<const int64_t> sizes)
    : name(open->name), id(nextId.fetch_add(1)), bytes(open->bytes), owner(open->owner), isMapped(open->isMapped),
      root(open->root), version(open->version), system(open->system), schemaVersion(open->schemaVersion),
      mlir(open->mlir), systemDesc(open->systemDesc), specsOfOpen(open->specs), constants(open->constants),
      alignedConstants(open->alignedConstants), nativeHash(open->nativeHash), nativeTriple(open->nativeTriple),
      nativeBytes(open->nativeBytes), boundOf(open) {
  programs = bindPrograms(*open->open, open->programs, program, sizes, *specs, alignedConstants);
  checkCalls(*this);
}

void BinaryImage::release(std::span<const std::byte> values) const {
  // The system maps a large page of a file as a whole, including the ends of values that were released before.
  constexpr size_t largePage = size_t(1) << 21;
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (!isMapped || !holds(values))
    return;
  const auto first = static_cast<size_t>(values.data() - bytes.data()), last = first + values.size();
  const size_t begin = (first - std::min(first, largePage)) / page * page,
               end = std::min(last + largePage, bytes.size());
  ::madvise(const_cast<std::byte *>(bytes.data()) + begin, end - begin, MADV_DONTNEED);
}

void BinaryImage::settle() const {
  if (isMapped)
    ::madvise(const_cast<std::byte *>(bytes.data()), bytes.size(), MADV_DONTNEED);
}

ttnn::OpCall Program::call(const Operation &operation) const {
  ttnn::OpCall call;
  call.name = std::string(operation.info->name);
  for (uint32_t in : operation.ins) {
    if (in == absentOperand)
      call.ins.emplace_back();
    else
      call.ins.emplace_back(spec(in));
  }
  for (uint32_t out : operation.outs)
    call.outs.push_back(spec(out));
  call.attributes = operation.attributes;
  call.meshShape = meshShape;
  return call;
}

Binary Binary::load(const std::string &path) {
  size_t size = 0;
  const std::shared_ptr<std::byte> mapping = files::mapFile(path, false, size);
  Binary binary = load({mapping.get(), size}, mapping, path);
  binary.image->isMapped = true;
  binary.image->settle(); // reading the tables between the weights has mapped weights, too
  return binary;
}

Binary Binary::load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const std::string &name) {
  if (!owner || reinterpret_cast<uintptr_t>(bytes.data()) % sim::hostAlignment != 0) {
    auto copy = sim::allocateHost(bytes.size(), "a flatbuffer");
    if (!bytes.empty())
      std::memcpy(copy.get(), bytes.data(), bytes.size());
    bytes = {copy.get(), bytes.size()};
    owner = std::move(copy);
  }
  Binary binary;
  binary.image = std::make_shared<BinaryImage>(name, bytes, std::move(owner));
  return binary;
}

BinaryImage &Binary::impl() const {
  if (!image)
    throw Error("the binary is empty");
  return *image;
}

uint64_t Binary::id() const { return impl().id; }
const std::string &Binary::fileName() const { return impl().name; }
uint32_t Binary::schemaVersion() const { return impl().schemaVersion; }
const SystemDesc &Binary::systemDesc() const { return impl().systemDesc; }
const SharedList<Program> &Binary::programs() const { return impl().programs; }
std::span<const std::byte> Binary::bytes() const { return impl().bytes; }

std::span<const OpenSize> Binary::openSizes() const {
  return impl().open ? std::span<const OpenSize>(impl().open->sizes) : std::span<const OpenSize>();
}

Binary Binary::bound(size_t program, std::span<const Shape> inputs) const {
  const BinaryImage &open = impl();
  return open.open ? boundToSizes(program, sizesOf(*open.open, this->program(program), program, inputs)) : *this;
}

Binary Binary::boundTo(size_t program, std::span<const std::pair<std::string, int64_t>> given) const {
  (void)this->program(program);
  std::vector<int64_t> sizes;
  std::string names;
  for (const OpenSize &size : openSizes()) {
    sizes.push_back(size.written);
    names += (names.empty() ? "" : ", ") + std::string(size.name);
  }
  for (const auto &[name, value] : given) {
    const auto found = std::ranges::find(openSizes(), name, &OpenSize::name);
    if (found == openSizes().end())
      throw Error(fileName() + ": has no open size \"" + name + "\"; expected " +
                  (names.empty() ? "none, as all shapes are static" : "one of " + names));
    if (value < found->least || value > found->most)
      throw Error(fileName() + ": size " + name + " is " + std::to_string(value) + "; expected " +
                  std::to_string(found->least) + " to " + std::to_string(found->most));
    sizes[static_cast<size_t>(found - openSizes().begin())] = value;
  }
  return sizes.empty() ? *this : boundToSizes(program, std::move(sizes));
}

Binary Binary::boundToSizes(size_t program, std::vector<int64_t> sizes) const {
  BinaryImage &open = impl();
  std::lock_guard lock(open.bindings.mutex);
  auto &entries = open.bindings.entries;
  auto found = std::ranges::find_if(
      entries, [&](const Bindings::Entry &entry) { return entry.program == program && entry.sizes == sizes; });
  if (found == entries.end()) {
    auto image = std::make_shared<BinaryImage>(this->image, program, sizes);
    if (entries.size() == Bindings::kept)
      entries.pop_back();
    found = entries.insert(entries.end(), {program, std::move(sizes), std::move(image)});
  }
  std::rotate(entries.begin(), found, found + 1);
  Binary bound;
  bound.image = entries.front().image;
  return bound;
}

void Binary::requireSame(const Binary &other, size_t program) const {
  std::vector<Shape> shapes;
  for (const uint32_t input : other.program(program).inputs)
    shapes.push_back(other.program(program).spec(input).shape);
  const Binary mine = bound(program, shapes);
  if (mine.programs().size() != other.programs().size())
    throw Error(fileName() + ": has " + std::to_string(mine.programs().size()) + " programs; expected " +
                std::to_string(other.programs().size()));
  runtime::requireSame(mine.programs(), other.programs(), program);
}

/// Calls f(operation) for each ttnn.generic of a TTNN file.
template <class F> static void forEachGeneric(const BinaryImage &image, F f) {
  for (const Program &program : image.programs)
    for (const Operation &operation : program.operations)
      if (operation.info && operation.info->name == "ttnn.generic")
        f(operation);
}

bool Binary::hasNative() const {
  bool hasKernels = impl().metal && !impl().metal->entries.empty();
  forEachGeneric(impl(), [&](const Operation &) { hasKernels = true; });
  return impl().nativeHash.has_value() || hasKernels;
}

void Binary::allowNative() const {
  forEachGeneric(impl(), [](const Operation &generic) { allowKernels(generic.attributes); });
  if (impl().nativeHash)
    ttnn::allowNativeCode(*impl().nativeHash);
  if (impl().metal && !impl().metal->entries.empty())
    metal::allowKernels(*impl().metal);
}

std::string_view Binary::identifier() const { return impl().metal ? "TTM0" : target::BinaryIdentifier(); }

std::vector<std::pair<std::string, std::string>> Binary::kernelSources() const {
  std::vector<std::pair<std::string, std::string>> result;
  std::map<std::string, std::string_view> taken;
  const auto add = [&](std::string_view symbol, std::string_view source) {
    std::string name(symbol);
    // The same source with other arguments is printed once.
    for (int i = 2; taken.contains(name) && taken[name] != source; ++i)
      name = std::string(symbol) + "#" + std::to_string(i);
    if (taken.emplace(name, source).second)
      result.emplace_back(name, source);
  };
  if (impl().metal)
    for (const metal::Kernel *kernel : impl().metal->entries)
      add(kernel->symbol, kernel->source);
  forEachGeneric(impl(), [&](const Operation &generic) {
    forEachKernel(generic.attributes, [&](const ttnn::StructAttribute &kernel, const std::string &source) {
      add(std::string_view(kernel.type).substr(kernel.type.find('.') + 1), source);
    });
  });
  return result;
}

std::string Binary::version() const {
  const auto *version = impl().version;
  if (!version)
    return "unknown";
  return std::to_string(version->major()) + "." + std::to_string(version->minor()) + "." +
         std::to_string(version->patch());
}

std::string_view Binary::mlir() const { return impl().mlir; }

const Program &Binary::program(size_t index) const {
  const SharedList<Program> &programs = this->programs();
  if (index >= programs.size())
    throw Error(fileName() + ": there is no program " + std::to_string(index) + "; it has " +
                std::to_string(programs.size()));
  return programs[index];
}

void Binary::store(const std::string &path) const {
  const auto bytes = this->bytes();
  ttmlir::OutputFile file(path);
  file.write({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (file.keep() != 0)
    throw Error("cannot write " + path + ": " + file.message());
}

} // namespace tt::runtime
