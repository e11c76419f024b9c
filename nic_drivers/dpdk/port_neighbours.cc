// DpdkPort: questions and answers about addresses, between the poll thread and the wire.
#include <algorithm>

#include "nic_drivers/dpdk/buffers.h"
#include "nic_drivers/dpdk/port.h"
#include "nic_drivers/neighbour_frames.h"

namespace weir {

bool DpdkPort::HandleNeighbour(std::span<const std::byte> frame, uint32_t ip_at) {
  std::byte answer[kNeighbourFrame];
  const NeighbourNews news = ReadNeighbourFrame(config_.self, frame, ip_at, answer);
  if (news.learned) mail_.news.push(news.neighbour);
  if (news.answer > 0) SendSmall({answer, news.answer});
  return news.valid;
}

void DpdkPort::Ask() {
  NetAddress target;
  while (mail_.questions.pop(target)) {
    std::byte question[kNeighbourFrame];
    SendSmall({question, WriteQuestion(config_.self, target, question)});
  }
}

// Without room it is lost, as it might be on the wire: whoever asks repeats it.
void DpdkPort::SendSmall(std::span<const std::byte> frame) {
  if (pending_count_ + lent_ >= kPending) return;
  rte_mbuf* mbuf = AllocBuffer(config_.tx_pool);
  if (mbuf == nullptr) return;
  std::copy(frame.begin(), frame.end(), rte_pktmbuf_mtod(mbuf, std::byte*));
  mbuf->data_len = static_cast<uint16_t>(frame.size());
  mbuf->pkt_len = static_cast<uint32_t>(frame.size());
  if (AddTag(*mbuf)) {
    pending_[pending_count_++] = mbuf;
  } else {
    FreeBuffer(mbuf);
  }
}

}  // namespace weir
