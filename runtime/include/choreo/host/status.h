// What can go wrong at run time, as a status code and as the one exception type.
// Every function of the host API throws `error`; `to_status` turns that into the code alone.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace choreo {

enum class status : int {
  ok = 0,
  invalid_argument,    // a shape, stride, alignment or pointer breaks a rule; nothing was launched
  assertion_failed,    // an assert of the tile function, on the host or in the kernel
  no_device,           // this machine has no CUDA device or driver
  unsupported_device,  // the device is not of compute capability 9.0
  out_of_memory,
  launch_failed,  // the launch itself was refused
  kernel_fault,   // the kernel, or an earlier one on the device, faulted
  internal,
};

inline const char* status_name(status code) {
  switch (code) {
    case status::ok:
      return "ok";
    case status::invalid_argument:
      return "invalid argument";
    case status::assertion_failed:
      return "assertion failed";
    case status::no_device:
      return "no device";
    case status::unsupported_device:
      return "unsupported device";
    case status::out_of_memory:
      return "out of memory";
    case status::launch_failed:
      return "launch failed";
    case status::kernel_fault:
      return "kernel fault";
    case status::internal:
      return "internal error";
  }
  return "unknown status";
}

struct error : std::runtime_error {
  status code;

  error(status kind, const std::string& message) : std::runtime_error(message), code(kind) {}
};

namespace host {

// Runs `body` and returns how it ended: the body of every NAME_noexcept function.
template <class F>
status to_status(F&& body) noexcept {
  try {
    body();
    return status::ok;
  } catch (const error& e) {
    return e.code;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  } catch (...) {
    return status::internal;
  }
}

}  // namespace host

}  // namespace choreo
