// The error word of one launch, for kernels with run-time checks only.
// The word lies in page-locked host memory that the device writes directly, so that reading it
// needs no copy. check() waits and throws; defer() leaves the report to the next synchronising
// call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "choreo/device/error_word.h"
#include "choreo/host/cuda.h"

namespace choreo::host {

// One run-time check of a kernel: what the printed file knows of code 1, 2, …
struct CheckInfo {
  const char* message;
  const char* file;
  bool is_wait = false;  // one that is bounded for debugging
};

// Page-locked words, handed out and taken back; allocated in blocks that live as long as the
// process.
class ErrorWordPool {
 public:
  // Never destroyed: a deferred report may still hold a word when the process ends.
  static ErrorWordPool& instance() {
    static auto* const pool = new ErrorWordPool;
    return *pool;
  }

  ErrorWord* take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) {
      constexpr int kWords = 512;
      void* memory = nullptr;
      check_cuda(cudaHostAlloc(&memory, kWords * sizeof(ErrorWord), cudaHostAllocPortable),
                 "cudaHostAlloc");
      for (int i = 0; i < kWords; ++i) free_.push_back(static_cast<ErrorWord*>(memory) + i);
    }
    ErrorWord* word = free_.back();
    free_.pop_back();
    *word = ErrorWord{};
    return word;
  }

  void give(ErrorWord* word) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(word);
  }

 private:
  std::mutex mutex_;
  std::vector<ErrorWord*> free_;
};

class ErrorSlot {
 public:
  // `checks` is a static table of the printed file; code c of the word is checks[c - 1].
  ErrorSlot(const char* function, Stream stream, const CheckInfo* checks, int count)
      : function_(function), stream_(stream), checks_(checks), count_(count) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(stream.native(), &capture), "cudaStreamIsCapturing");
    if (capture != cudaStreamCaptureStatusNone) {
      throw error(status::invalid_argument,
                  std::string(function) +
                      ": the stream is being captured, but a kernel with run-time checks must "
                      "report to the host");
    }
    word_.reset(ErrorWordPool::instance().take(),
                [](ErrorWord* word) { ErrorWordPool::instance().give(word); });
  }

  ErrorWord* device() const { return word_.get(); }

  // After the kernel was waited for.
  void check() const {
    const std::exception_ptr failure = failure_of(function_, *word_, checks_, count_);
    if (failure != nullptr) std::rethrow_exception(failure);
  }

  // After the launch: the event that follows it tells when the word is final, as does a fault.
  void defer() const {
    auto after = std::make_shared<Event>();
    after->record(stream_);
    DeferredErrors::instance().add([=, word = word_, function = function_, checks = checks_,
                                    count = count_](std::exception_ptr& failure) {
      if (cudaEventQuery(after->native()) == cudaErrorNotReady) return false;
      (void)cudaGetLastError();
      failure = failure_of(function, *word, checks, count);
      return true;
    });
  }

 private:
  static std::exception_ptr failure_of(const char* function, const ErrorWord& word,
                                       const CheckInfo* checks, int count) {
    const volatile ErrorWord& latched = word;
    const int code = latched.code;
    if (code == 0) return nullptr;
    const CheckInfo check = code <= count ? checks[code - 1] : CheckInfo{"unknown check", "?"};
    std::string message = std::string(function) + ": ";
    if (check.is_wait) {
      message += std::string("a wait in the kernel did not end: ") + check.message + ", slot " +
                 std::to_string(latched.slot) + ", parity " + std::to_string(latched.parity);
    } else {
      message += std::string("assertion failed in the kernel: ") + check.message;
    }
    message += std::string(" (") + check.file + ":" + std::to_string(latched.line) + ")";
    return std::make_exception_ptr(
        error(check.is_wait ? status::kernel_fault : status::assertion_failed, message));
  }

  const char* function_;
  Stream stream_;
  const CheckInfo* checks_;
  int count_;
  std::shared_ptr<ErrorWord> word_;
};

}  // namespace choreo::host
