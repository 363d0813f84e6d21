//===- hash.cpp - hashing of input values ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/inputs.h"
#include "program/prepared.h"
#include "tt/parallel.h"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

namespace tt::runtime {
namespace {

// Pieces are hashed separately, so that the result does not depend on the number of threads.
constexpr size_t pieceBytes = size_t(1) << 18;
constexpr size_t lanes = 16;
constexpr uint64_t odd = 0x9e3779b97f4a7c15u, other = 0xd6e8feb86659fd93u;

constexpr uint64_t factors[] = {odd, 0xc2b2ae3d27d4eb4fu};
constexpr int rotations[] = {0, 32};

uint64_t mix(uint64_t h, uint64_t word, uint64_t factor = odd) {
  h = (h ^ word) * factor;
  return h ^ (h >> 29);
}

/// `count` hashes that are independent of each other: a difference in the highest bit of a word stays there for any odd
/// factor, so they have the words in different positions.
template <size_t count> std::array<uint64_t, count> hashesOfPiece(const std::byte *from, size_t bytes) {
  std::array<std::array<uint64_t, lanes>, count> h;
  for (size_t c = 0; c < count; ++c)
    for (size_t i = 0; i < lanes; ++i)
      h[c][i] = other * (i + 1 + c * lanes);
  std::array<uint64_t, lanes> words;
  size_t at = 0;
  for (; at + sizeof words <= bytes; at += sizeof words) {
    std::memcpy(words.data(), from + at, sizeof words);
    for (size_t c = 0; c < count; ++c)
      for (size_t i = 0; i < lanes; ++i)
        h[c][i] = mix(h[c][i], std::rotl(words[i], rotations[c]), factors[c]);
  }
  words.fill(0);
  std::memcpy(words.data(), from + at, bytes - at);
  std::array<uint64_t, count> result;
  for (size_t c = 0; c < count; ++c) {
    result[c] = bytes;
    for (size_t i = 0; i < lanes; ++i)
      result[c] = mix(std::rotl(result[c], 23), mix(h[c][i], std::rotl(words[i], rotations[c]), factors[c]));
  }
  return result;
}

uint64_t hashPiece(const std::byte *from, size_t bytes) { return hashesOfPiece<1>(from, bytes)[0]; }

} // namespace

uint64_t hashOf(const Tensor &tensor) {
  const size_t bytes = tensor.bytes(), pieces = (bytes + pieceBytes - 1) / pieceBytes;
  std::vector<uint64_t> hashes(pieces);
  uint64_t result = tensor.shards();
  for (size_t shard = 0; shard < tensor.shards(); ++shard) {
    if (!tensor.has(shard))
      continue;
    const std::byte *values = tensor.data(shard);
    parallelFor(static_cast<int64_t>(pieces), 4, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
        hashes[i] = hashPiece(values + i * pieceBytes, std::min(pieceBytes, bytes - i * pieceBytes));
    });
    for (uint64_t hash : hashes)
      result = mix(std::rotl(result, 23), hash);
  }
  return result;
}

Identity identityOf(std::span<const std::byte> values) {
  const size_t pieces = (values.size() + pieceBytes - 1) / pieceBytes;
  std::vector<std::array<uint64_t, 2>> hashes(pieces);
  parallelFor(static_cast<int64_t>(pieces), 4, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      hashes[i] =
          hashesOfPiece<2>(values.data() + i * pieceBytes, std::min(pieceBytes, values.size() - i * pieceBytes));
  });
  Identity result{values.size(), ~values.size(), values.size()};
  for (const auto &[low, high] : hashes) {
    result.low = mix(std::rotl(result.low, 23), low, factors[0]);
    result.high = mix(std::rotl(result.high, 23), high, factors[1]);
  }
  return result;
}

std::string identityOf(const BinaryImage &image) {
  // For a large file, whose weights are read by their users, the ends and a page here and there.
  constexpr size_t whole = size_t(64) << 20, ends = size_t(16) << 20, step = size_t(1) << 20, page = 4096;
  const std::span<const std::byte> bytes = image.bytes;
  uint64_t hash = bytes.size();
  const auto add = [&](size_t from, size_t count) {
    for (size_t at = from; at < from + count; at += pieceBytes) {
      const size_t size = std::min(pieceBytes, from + count - at);
      hash = mix(std::rotl(hash, 23), hashPiece(bytes.data() + at, size));
    }
  };
  if (bytes.size() <= whole) {
    add(0, bytes.size());
  } else {
    add(0, ends);
    for (size_t at = ends; at + ends < bytes.size(); at += step)
      add(at, page);
    add(bytes.size() - ends, ends);
    image.settle();
  }
  char text[64];
  std::snprintf(text, sizeof text, "%016llx (%zu bytes)", static_cast<unsigned long long>(hash), bytes.size());
  return text;
}

} // namespace tt::runtime
