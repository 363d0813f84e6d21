//===- mpi.cpp - ranks over MPI -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A separate library that the runtime loads in processes that mpirun started: without it the runtime needs no MPI. A
// rank never waits for another without a limit: it is notified when that one ends, and gives up after a time.
//
//===----------------------------------------------------------------------===//

#include "segments.h"

#include "tt/fork.h"
#include "tt/interrupt.h"
#include "tt/sim/ranks.h"
#include "tt/types.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace tt::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *timeoutVariable = "TTRT_RANKS_TIMEOUT";
constexpr double defaultTimeout = 60; // seconds
/// Pieces of a message: MPI counts in int.
constexpr size_t pieceBytes = size_t(1) << 30;

std::string errorText(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

double timeoutSeconds() {
  const char *text = std::getenv(timeoutVariable);
  if (!text)
    return defaultTimeout;
  char *end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end || !(value > 0))
    throw DeviceError(std::string(timeoutVariable) + " is \"" + text + "\"; expected a number of seconds above 0");
  return value;
}

class MpiRanks final : public Ranks {
public:
  MpiRanks(uint32_t rank, uint32_t size, MPI_Comm data, MPI_Comm control, bool finalizes)
      : Ranks(rank, size), data(data), control(control), finalizes(finalizes), forks(forkCount()),
        timeout(timeoutSeconds()), farewells(size), ended(size, 0), listening(size, MPI_REQUEST_NULL) {
    for (uint32_t other = 0; other < size; ++other)
      if (other != rank)
        check(MPI_Irecv(&farewells[other], 1, MPI_CHAR, static_cast<int>(other), 0, control, &listening[other]),
              "listening to", other, "the start");
  }

  void exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) override {
    if (forks != forkCount())
      throw DeviceError(std::string(what) + ": a process that was forked off is no rank; open a device of its own "
                                            "where mpirun's variables are not set");
    std::lock_guard lock(mutex);
    // Ranks at different calls do not receive each other's messages: they wait until the time limit.
    sequence = (sequence + 1) % 30000;
    const int tag = static_cast<int>(sequence);
    requests.clear();
    peers.clear();
    for (const auto &[from, bytes] : receives)
      inPieces(bytes, [&](std::span<std::byte> piece) {
        check(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(from), tag, data,
                        &started(from)),
              "receiving from", from, what);
      });
    for (const auto &[to, bytes] : sends)
      inPieces(bytes, [&](std::span<const std::byte> piece) {
        check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(to), tag, data,
                        &started(to)),
              "sending to", to, what);
      });
    wait(what);
  }

  [[noreturn]] void abort(const std::string &message) override {
    std::fprintf(stderr, "ttrt: rank %u of %u: %s\n", rank(), size(), message.c_str());
    std::fflush(stderr);
    // MPI notifies its daemons, which may be unreachable.
    constexpr unsigned patience = 5; // seconds
    std::signal(SIGALRM, SIG_DFL);
    ::alarm(patience);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
  }

  /// At exit: notifies the others that nothing more will be sent, which ends those that wait for it. Waits for ranks
  /// that have not done so, because MPI ends all or none in order.
  void leave() {
    if (forks != forkCount())
      return;
    int isOver = 0;
    MPI_Finalized(&isOver);
    if (isOver)
      return;
    const char farewell = 1;
    std::vector<MPI_Request> messages;
    for (uint32_t other = 0; other < size(); ++other)
      if (other != rank()) {
        messages.emplace_back();
        MPI_Isend(&farewell, 1, MPI_CHAR, static_cast<int>(other), 0, control, &messages.back());
      }
    for (bool all = false; !all;) {
      int sent = 0;
      MPI_Testall(static_cast<int>(messages.size()), messages.data(), &sent, MPI_STATUSES_IGNORE);
      listen();
      all = sent;
      for (uint32_t other = 0; other < size(); ++other)
        all = all && (other == rank() || ended[other]);
      if (!all)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (finalizes) {
      MPI_Finalize();
      removeSegments();
    }
  }

private:
  template <class T, class F> static void inPieces(std::span<T> bytes, F f) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(pieceBytes, bytes.size())))
      f(bytes.first(std::min(pieceBytes, bytes.size())));
  }
  MPI_Request &started(uint32_t peer) {
    peers.push_back(peer);
    return requests.emplace_back(MPI_REQUEST_NULL);
  }
  void check(int code, const char *doing, uint32_t peer, std::string_view what) {
    if (code != MPI_SUCCESS)
      abort(std::string(what) + ": " + doing + " rank " + std::to_string(peer) + " failed: " + errorText(code));
  }
  /// Notes which ranks have ended.
  void listen() {
    for (uint32_t other = 0; other < size(); ++other) {
      int came = 0;
      if (listening[other] != MPI_REQUEST_NULL && !ended[other]) {
        MPI_Test(&listening[other], &came, MPI_STATUS_IGNORE);
        ended[other] = came != 0;
      }
    }
  }
  bool isDone(std::string_view what) {
    int done = 0;
    const int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS)
      abort(std::string(what) + ": an exchange with " + ranksText(pending()) + " failed: " + errorText(code));
    return done != 0;
  }
  std::vector<uint32_t> pending() {
    std::vector<uint32_t> result;
    for (size_t i = 0; i < requests.size(); ++i) {
      int done = 0;
      if (requests[i] != MPI_REQUEST_NULL)
        MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
      if (requests[i] != MPI_REQUEST_NULL && !done && std::ranges::find(result, peers[i]) == result.end())
        result.push_back(peers[i]);
    }
    return result;
  }
  static std::string ranksText(const std::vector<uint32_t> &ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (size_t i = 0; i < ranks.size(); ++i)
      text += (i ? ", " : "") + std::to_string(ranks[i]);
    return text;
  }

  void wait(std::string_view what) {
    constexpr std::chrono::microseconds spinning(50), yielding(20000);
    const auto begin = Clock::now();
    auto looked = begin;
    Clock::time_point left; // when it was first seen that one of those waited for has ended
    while (!isDone(what)) {
      const auto now = Clock::now();
      if (now - begin < spinning)
        continue;
      // With fewer processors than ranks, the rank that is awaited may need this one.
      if (now - begin < yielding)
        sched_yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (now - looked < std::chrono::milliseconds(5))
        continue;
      looked = now;
      try {
        checkInterrupt();
      } catch (...) {
        abort(std::string(what) + ": interrupted while waiting for " + ranksText(pending()));
      }
      listen();
      for (uint32_t other : pending()) {
        if (!ended[other])
          continue;
        // Its earlier messages may arrive on another route than its farewell.
        if (left == Clock::time_point())
          left = now;
        else if (now - left > std::chrono::milliseconds(200))
          abort(std::string(what) + ": rank " + std::to_string(other) + " has ended, and this rank waits for it");
      }
      if (std::chrono::duration<double>(now - begin).count() > timeout)
        abort(std::string(what) + ": nothing came from " + ranksText(pending()) + " for " + secondsText() +
              " seconds (" + timeoutVariable +
              "); it hangs, cannot be reached, or has called another function than this process");
    }
  }
  std::string secondsText() const {
    char text[32];
    std::snprintf(text, sizeof text, "%g", timeout);
    return text;
  }

  const MPI_Comm data, control;
  const bool finalizes;
  const uint32_t forks;
  const double timeout;
  std::mutex mutex;
  uint32_t sequence = 0;
  std::vector<MPI_Request> requests; // of the exchange under way
  std::vector<uint32_t> peers;
  std::vector<char> farewells; // of ranks that end
  std::vector<char> ended;
  std::vector<MPI_Request> listening;
};

MpiRanks *leaving = nullptr;

} // namespace
} // namespace tt::sim

extern "C" __attribute__((visibility("default"))) tt::sim::Ranks *ttrtOpenRanks(const char *version) {
  using namespace tt::sim;
  if (std::string_view(version) != ranksVersion)
    throw tt::DeviceError(std::string("libttrt_mpi.so speaks version ") + ranksVersion + "; expected " + version +
                          ", as libttrt.so does");
  int isThere = 0, given = MPI_THREAD_SINGLE;
  MPI_Initialized(&isThere);
  // Calls come from one thread at a time, and mpi4py may make its own calls.
  if (isThere) {
    MPI_Query_thread(&given);
  } else {
    const tt::sim::Segments segments;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  }
  if (given < MPI_THREAD_SERIALIZED)
    throw tt::DeviceError("MPI was initialised for one thread only; initialise it with MPI_THREAD_SERIALIZED or more");
  MPI_Comm data, control;
  MPI_Comm_dup(MPI_COMM_WORLD, &data);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  MPI_Comm_set_errhandler(data, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(control, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(data, &rank);
  MPI_Comm_size(data, &size);
  if (size < 2)
    return nullptr;
  // Never destroyed: threads may use it until the process ends.
  leaving = new MpiRanks(static_cast<uint32_t>(rank), static_cast<uint32_t>(size), data, control, !isThere);
  std::atexit([] { leaving->leave(); });
  return leaving;
}
