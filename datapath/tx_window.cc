#include "datapath/tx_window.h"

namespace weir {

void TxWindow::Reset(Pool<TxPage>& pool, Psn first) {
  ReleaseAll();
  pool_ = &pool;
  una_ = next_ = first;
  in_flight = lost = List{};
}

void TxWindow::ReleaseAll() {
  for (uint32_t& page : pages_) {
    if (page == Pool<TxPage>::kNone) continue;
    pool_->Give(page);
    page = Pool<TxPage>::kNone;
  }
}

TxRecord& TxWindow::Append() {
  const uint16_t slot = Slot(next_);
  uint32_t& page = pages_[slot / kPageRecords];
  if (page == Pool<TxPage>::kNone) {
    page = pool_->Take();
    WEIR_CHECK(page != Pool<TxPage>::kNone);  // HasRoom was asked
    (*pool_)[page].acked = 0;
  }
  next_ = next_ + 1;
  TxRecord& record = (*pool_)[page].records[slot % kPageRecords];
  record = TxRecord{};
  return record;
}

void TxWindow::PushBack(List& list, uint16_t slot) {
  TxRecord& record = At(slot);
  record.next = kNil;
  record.prev = list.tail;
  if (list.empty()) {
    list.head = slot;
  } else {
    At(list.tail).next = slot;
  }
  list.tail = slot;
}

void TxWindow::Remove(List& list, uint16_t slot) {
  const TxRecord& record = At(slot);
  if (record.prev == kNil) {
    list.head = record.next;
  } else {
    At(record.prev).next = record.next;
  }
  if (record.next == kNil) {
    list.tail = record.prev;
  } else {
    At(record.next).prev = record.prev;
  }
}

}  // namespace weir
