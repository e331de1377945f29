// SIGINT and SIGTERM as a question. While one of these lives the signals wait; programs that are
// started meanwhile get them as ever. Must hold: it is made before any thread.
#pragma once

#include <csignal>

namespace choreo::driver {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool Asked() const;

 private:
  sigset_t signals_, before_;
};

}  // namespace choreo::driver
