//===- archive.cpp - the members of a ZIP file ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "archive.h"

#include "tt/sim/host.h"
#include "tt/types.h"

#include <zip.h>

namespace tt::backend {
namespace {

/// Deflate makes a file at most this many times smaller.
constexpr uint64_t mostDeflated = 1040;

} // namespace

Archive::Archive(const std::string &path) : file(path) {
  int code = 0;
  archive.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code), [](zip *open) {
    if (open)
      zip_discard(open);
  });
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(why);
  }
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t index = 0; index < count; ++index) {
    zip_stat_t found;
    if (zip_stat_index(archive.get(), index, 0, &found) != 0)
      fail(zip_strerror(archive.get()));
    constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if ((found.valid & needed) != needed)
      fail("member " + std::to_string(index) + " has no name or size");
    const std::string name = found.name;
    if (found.size > (found.comp_size + 1) * mostDeflated)
      fail(name + " is said to have " + std::to_string(found.size) + " bytes, packed in " +
           std::to_string(found.comp_size));
    if (!members.emplace(name, Member{static_cast<uint64_t>(index), found.size}).second)
      fail(name + " is in it twice");
  }
}

Bytes Archive::read(const std::string &name) const {
  const Member &member = members.at(name);
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> open(zip_fopen_index(archive.get(), member.index, 0),
                                                                zip_fclose);
  if (!open)
    fail(name + ": " + zip_strerror(archive.get()));
  Bytes bytes{sim::allocateHost(member.size, "a member of a device image"), member.size};
  uint64_t done = 0;
  // The checksum is compared when the end is read, which is after the last byte.
  for (char beyond;;) {
    const bool all = done == member.size;
    void *const to = all ? static_cast<void *>(&beyond) : bytes.data.get() + done;
    const zip_int64_t count = zip_fread(open.get(), to, all ? 1 : member.size - done);
    if (count < 0)
      fail(name + " is damaged: " + zip_file_strerror(open.get()));
    if (all && count == 0)
      return bytes;
    if (all || count == 0)
      fail(name + " is damaged: it has " + (all ? "more" : "fewer") + " than " + std::to_string(member.size) +
           " bytes");
    done += static_cast<uint64_t>(count);
  }
}

void Archive::fail(const std::string &why) const { throw Error(file + ": not loadable as a device image: " + why); }

} // namespace tt::backend
