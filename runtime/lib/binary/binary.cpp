//===- binary.cpp - a TTNN or TTMetal flatbuffer, checked -----------------===//

#include "tt/runtime/binary.h"
#include "binary/image.h"
#include "binary/metal/image.h"
#include "program/executable.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/OutputFile.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tt::runtime {
namespace {

std::atomic<uint64_t> nextId{1};

// Struct and list attributes nest; a real one is three tables deep per level and has at most a few levels.
constexpr uint32_t maxDepth = 64;
// A table in the file may be referred to many times; this bounds the time a hostile file can take.
constexpr uint32_t maxTables = 1u << 22;

std::string systemError(const std::string &action, const std::string &path) {
  return "cannot " + action + " " + path + ": " + std::strerror(errno);
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

struct Mapping {
  void *data;
  size_t size;
  ~Mapping() { ::munmap(data, size); }
};

/// What files of both kinds begin with. Throws BinaryError.
void verifyStart(const std::string &name, std::span<const std::byte> bytes) {
  const auto fail = [&](const std::string &what) { throw BinaryError(name + ": " + what); };
  // The prefix, the root offset and the identifier.
  constexpr size_t smallest = 12;
  if (bytes.size() < smallest)
    fail("has " + std::to_string(bytes.size()) + " bytes; a flatbuffer has at least " + std::to_string(smallest));
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    fail("has " + std::to_string(bytes.size()) + " bytes; a flatbuffer has less than 2 GiB");
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  uint32_t size;
  std::memcpy(&size, data, sizeof size);
  if (!flatbuffers::BufferHasIdentifier(data, target::BinaryIdentifier(), true) && !metal::isMetal(bytes)) {
    std::string found(reinterpret_cast<const char *>(data) + 8, 4);
    for (char &c : found)
      if (c < 32 || c > 126)
        c = '?';
    fail("file identifier is \"" + found + "\"; expected \"" + target::BinaryIdentifier() +
         "\" (is it a TTNN flatbuffer?), or \"TTM0\" of a TTMetal one");
  }
  if (size != bytes.size() - sizeof size)
    fail("says it has " + std::to_string(size) + " bytes after the prefix, but has " +
         std::to_string(bytes.size() - sizeof size) + "; the file is truncated or was appended to");
}

const target::Binary *verify(const std::string &name, std::span<const std::byte> bytes) {
  const auto fail = [&](const std::string &what) { throw BinaryError(name + ": " + what); };
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), maxDepth, maxTables);
  if (!target::VerifySizePrefixedBinaryBuffer(verifier))
    fail("is damaged: the FlatBuffers verifier refuses it (an offset, string or vector leaves the file, a required "
         "field is missing, or it is nested deeper than " +
         std::to_string(maxDepth) + ")");
  const auto *root = target::GetSizePrefixedBinary(data);
  if (root->schema_version() != target::schemaVersion)
    fail("has schema version " + std::to_string(root->schema_version()) + ", but this runtime reads " +
         std::to_string(target::schemaVersion) + "; compile it again with this version");
  return root;
}

} // namespace

ExecutableCache::ExecutableCache() = default;
ExecutableCache::~ExecutableCache() = default;

BinaryImage::BinaryImage(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : name(std::move(name)), id(nextId.fetch_add(1)), bytes(bytes), owner(std::move(owner)) {
  verifyStart(this->name, bytes);
  if (metal::isMetal(bytes)) {
    metal::readImage(*this);
    return;
  }
  root = verify(this->name, bytes);
  schemaVersion = root->schema_version();
  version = root->version();
  if (const auto *text = root->mlir())
    mlir = {text->c_str(), text->size()};
  readImage(*this);
}

void BinaryImage::release(std::span<const std::byte> values) const {
  // Of a file in large pages the system maps a page as a whole, and with it the ends of values that were let go before.
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
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0)
    throw BinaryError(systemError("open", path));
  if (!S_ISREG(status.st_mode))
    throw BinaryError("cannot read " + path + ": not a regular file");
  const auto size = static_cast<size_t>(status.st_size);
  if (!size)
    throw BinaryError(path + ": is empty");
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    throw BinaryError(systemError("map", path));
  auto mapping = std::make_shared<Mapping>(data, size);
  Binary binary = load({static_cast<const std::byte *>(data), size}, mapping, path);
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
std::span<const Program> Binary::programs() const { return impl().programs; }
std::span<const std::byte> Binary::bytes() const { return impl().bytes; }

std::string_view Binary::identifier() const { return impl().metal ? "TTM0" : target::BinaryIdentifier(); }

std::vector<std::pair<std::string, std::string>> Binary::kernelSources() const {
  if (!impl().metal)
    return {};
  return metal::sourcesOf(*impl().metal);
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
  const auto programs = this->programs();
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
