//===- ThreadRanks.h - ranks that are threads of the test ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/sim/ranks.h"
#include "tt/types.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace tt::test {

/// What ranks of one world have sent and not received yet.
struct Mail {
  struct Letter {
    std::string what;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Letter>> between; // from, to
  size_t bytes = 0, letters = 0;                                       // sent so far
};

class ThreadRanks final : public sim::Ranks {
public:
  ThreadRanks(uint32_t rank, uint32_t size, std::shared_ptr<Mail> mail) : Ranks(rank, size), mail(std::move(mail)) {}
  void exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) override {
    std::unique_lock lock(mail->mutex);
    for (const auto &[to, bytes] : sends) {
      mail->between[{rank(), to}].push_back({std::string(what), {bytes.begin(), bytes.end()}});
      mail->bytes += bytes.size();
      ++mail->letters;
    }
    mail->changed.notify_all();
    for (const auto &[from, bytes] : receives) {
      auto &box = mail->between[{from, rank()}];
      if (!mail->changed.wait_for(lock, std::chrono::seconds(30), [&] { return !box.empty(); }))
        abort(std::string(what) + ": nothing came from rank " + std::to_string(from));
      const Mail::Letter letter = std::move(box.front());
      box.pop_front();
      if (letter.what != what || letter.bytes.size() != bytes.size())
        abort("expected " + std::to_string(bytes.size()) + " bytes of " + std::string(what) + ", and " +
              std::to_string(letter.bytes.size()) + " of " + letter.what + " came from rank " + std::to_string(from));
      std::ranges::copy(letter.bytes, bytes.begin());
    }
  }
  [[noreturn]] void abort(const std::string &message) override {
    throw Error("rank " + std::to_string(rank()) + ": " + message);
  }

private:
  std::shared_ptr<Mail> mail;
};

/// Calls f(ranks) in a thread for each rank, and throws what the first of them threw. Returns what was sent.
template <class F> std::shared_ptr<Mail> onRanks(uint32_t size, F f) {
  auto mail = std::make_shared<Mail>();
  std::vector<std::exception_ptr> errors(size);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        f(std::make_shared<ThreadRanks>(rank, size, mail));
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &error : errors)
    if (error)
      std::rethrow_exception(error);
  return mail;
}

} // namespace tt::test
