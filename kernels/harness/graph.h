// What enqueues work, captured in a CUDA graph and launched from there as often as one likes.
// In: a stream and a body that only enqueues on it, and did so before (modules are loaded by then).
// Out: launch(), which enqueues the same work with the same arguments. The simulator has no graphs:
// there the body is run again.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "choreo/runtime.h"

namespace harness {

#ifdef CHOREO_TARGET_SIM

class Graph {
 public:
  Graph(choreo::Stream, std::function<void()> body) : body_(std::move(body)) {}
  void launch(choreo::Stream) const { body_(); }

 private:
  std::function<void()> body_;
};

#else

class Graph {
 public:
  Graph(choreo::Stream stream, const std::function<void()>& body) {
    using choreo::host::check_cuda;
    check_cuda(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      body();
    } catch (...) {
      (void)cudaStreamEndCapture(stream.native(), &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream.native(), &graph), "cudaStreamEndCapture");
    cudaGraphExec_t ready = nullptr;
    const cudaError_t result = cudaGraphInstantiate(&ready, graph, 0);
    (void)cudaGraphDestroy(graph);
    check_cuda(result, "cudaGraphInstantiate");
    ready_.reset(ready, [](cudaGraphExec_t g) { (void)cudaGraphExecDestroy(g); });
  }

  void launch(choreo::Stream stream) const {
    choreo::host::check_cuda(cudaGraphLaunch(ready_.get(), stream.native()), "cudaGraphLaunch");
  }

 private:
  std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> ready_;
};

#endif

}  // namespace harness
