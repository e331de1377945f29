// Happens-before for memory: per 16-byte cell, the accesses that a later one may have to be ordered
// after. Each record names its bytes, so that neighbours in a cell do not disturb each other.
// A record is dropped when a later, ordered access covers it: what is ordered after the later one
// is ordered after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace choreo::sim {

struct Cta;
struct Warp;

enum class Access : uint8_t {
  Read,
  Write,
  Atomic,        // read and written in one step: not against each other
  CopyInFlight,  // written by a cp.async that was not waited for
  LoadInFlight,  // written by a TMA load that has not landed
  AsyncRead,     // by the tensor core or a TMA store, or of global memory by a TMA load
  AsyncWrite,    // by a TMA load that has landed, or of global memory by a TMA store
};
inline bool IsAsync(Access kind) { return kind == Access::AsyncRead || kind == Access::AsyncWrite; }

struct Record {
  uint32_t next = 0;
  uint32_t lanes = 0;  // of the warp; of async accesses by TMA: the one that issued it
  uint32_t epoch = 0;  // clock of the warp; async: count of the component; LoadInFlight: its number
  uint32_t op = 0;
  uint32_t cta = 0;
  uint16_t bytes = 0;  // of the cell
  uint16_t agent = 0;  // warp; async: component (see clock.h)
  Access kind = Access::Read;
  uint8_t warp = 0;     // async by TMA: that issued it
  bool silent = false;  // a write that stored what stood there
};

class RecordPool {
 public:
  RecordPool() : records_(1) {}
  uint32_t New(const Record& record) {
    if (free_ != 0) {
      const uint32_t id = free_;
      free_ = records_[id].next;
      records_[id] = record;
      return id;
    }
    records_.push_back(record);
    return static_cast<uint32_t>(records_.size() - 1);
  }
  void Free(uint32_t id) {
    records_[id].next = free_;
    free_ = id;
  }
  Record& operator[](uint32_t id) { return records_[id]; }

 private:
  std::vector<Record> records_;  // [0] is none
  uint32_t free_ = 0;
};

// Heads of the record lists of a CTA's shared memory.
class SharedShadow {
 public:
  void Reset(size_t bytes) { heads_.assign((bytes + 15) / 16, 0); }
  uint32_t& Head(uint32_t offset) { return heads_[offset / 16]; }
  void FreeAll(RecordPool& pool) {
    for (uint32_t& head : heads_) {
      while (head != 0) {
        const uint32_t next = pool[head].next;
        pool.Free(head);
        head = next;
      }
    }
  }

 private:
  std::vector<uint32_t> heads_;
};

// The same for the memory of written parameters, by address, in pages made on demand.
class GlobalShadow {
 public:
  uint32_t& Head(uintptr_t address) {
    const uintptr_t cell = address / 16;
    const uintptr_t page = cell / kPage;
    if (page != last_page_ || last_ == nullptr) {
      auto& heads = pages_[page];
      if (heads.empty()) heads.resize(kPage);
      last_ = &heads;
      last_page_ = page;
    }
    return (*last_)[cell % kPage];
  }

 private:
  static constexpr uintptr_t kPage = 1024;
  std::unordered_map<uintptr_t, std::vector<uint32_t>> pages_;
  std::vector<uint32_t>* last_ = nullptr;
  uintptr_t last_page_ = 0;
};

// An access about to happen.
struct AccessInfo {
  Access kind = Access::Read;
  uint32_t lane = 0;                    // that makes or issues it
  bool silent = false;                  // Write: the bytes already hold the value
  uint32_t agent = 0, epoch = 0;        // of the record that async accesses leave
  bool mma = false;                     // by the tensor core for …
  uint32_t group = 0, group_parts = 0;  // … these warps of the warpgroup
};

// Checks the access of `bytes` (of one cell) by warp `w` against the cell's records, reports what
// is not ordered, and adds its record.
void CheckCell(Warp& w, const AccessInfo& access, uint32_t& head, uint16_t bytes,
               std::string_view storage);
// The copy of `lane` at op `op` has landed: its in-flight record becomes an ordinary write of now.
void LandCopy(Warp& w, uint32_t lane, uint32_t op, uint32_t& head, uint16_t bytes);
// The TMA load of this number of CTA `cta` has landed: its record is ordered before whoever sees
// `epoch` of `agent`.
void LandLoad(const Cta& cta, uint32_t number, uint32_t agent, uint32_t epoch, uint32_t& head);

}  // namespace choreo::sim
