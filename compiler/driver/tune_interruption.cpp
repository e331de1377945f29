#include "driver/tune_interruption.h"

#include <ctime>

namespace choreo::driver {

Interruption::Interruption() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

// What was asked for is done when the signal would come.
Interruption::~Interruption() {
  const timespec now = {};
  while (::sigtimedwait(&signals_, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interruption::Asked() const {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

}  // namespace choreo::driver
