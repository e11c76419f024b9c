// Fixed pools: everything is allocated at creation, nothing after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "datapath/check.h"
#include "datapath/large_memory.h"

namespace weir {

// `capacity` objects by index. T has a `uint32_t next` that the pool may use while T is free.
// Memory that was never taken is never touched.
template <class T>
class Pool {
 public:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 64);

  explicit Pool(uint32_t capacity)
      : items_(static_cast<T*>(AllocateLarge(capacity * sizeof(T)))), capacity_(capacity) {}
  ~Pool() { FreeLarge(items_, capacity_ * sizeof(T)); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // kNone when all are in use. The object is as its last user left it.
  uint32_t Take() {
    if (free_ != kNone) {
      const uint32_t index = free_;
      free_ = items_[index].next;
      ++used_;
      return index;
    }
    if (fresh_ == capacity_) return kNone;
    ++used_;
    ::new (items_ + fresh_) T();
    return fresh_++;
  }
  void Give(uint32_t index) {
    WEIR_DCHECK(index < fresh_ && used_ > 0);
    items_[index].next = free_;
    free_ = index;
    --used_;
  }
  T& operator[](uint32_t index) {
    WEIR_DCHECK(index < fresh_);
    return items_[index];
  }
  const T& operator[](uint32_t index) const { return items_[index]; }
  uint32_t IndexOf(const T* item) const { return static_cast<uint32_t>(item - items_); }
  uint32_t used() const { return used_; }
  uint32_t capacity() const { return capacity_; }
  uint32_t touched() const { return fresh_; }  // those below were taken at least once
  bool exhausted() const { return free_ == kNone && fresh_ == capacity_; }

 private:
  T* items_;
  uint32_t capacity_;
  uint32_t fresh_ = 0;  // items below were taken at least once
  uint32_t free_ = kNone;
  uint32_t used_ = 0;
};

// A first-in, first-out chain of pool objects through their `next`.
template <class T>
class Chain {
 public:
  bool empty() const { return head_ == Pool<T>::kNone; }
  uint32_t front() const { return head_; }
  void PushBack(Pool<T>& pool, uint32_t index) {
    pool[index].next = Pool<T>::kNone;
    if (empty()) {
      head_ = index;
    } else {
      pool[tail_].next = index;
    }
    tail_ = index;
  }
  uint32_t PopFront(Pool<T>& pool) {
    const uint32_t index = head_;
    head_ = pool[index].next;
    return index;
  }
  // Takes out the object behind `before` (kNone: the first).
  void RemoveAfter(Pool<T>& pool, uint32_t before) {
    if (before == Pool<T>::kNone) {
      head_ = pool[head_].next;
      return;
    }
    const uint32_t index = pool[before].next;
    pool[before].next = pool[index].next;
    if (tail_ == index) tail_ = before;
  }

 private:
  uint32_t head_ = Pool<T>::kNone;
  uint32_t tail_ = Pool<T>::kNone;
};

}  // namespace weir
