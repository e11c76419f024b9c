// Chakra execution traces: binary, one file a rank, each a row of messages behind their lengths.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <map>
#include <numeric>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/chakra.pb.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

using chakra::Node;
using google::protobuf::io::CodedInputStream;

constexpr int64_t kMicrosMax = int64_t{1} << 50;

// comm_type of a collective, in the schema's order.
constexpr std::optional<CollectiveKind> kKinds[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kReduce,        CollectiveKind::kAllGather,
    CollectiveKind::kGather,    CollectiveKind::kScatter,       CollectiveKind::kBroadcast,
    CollectiveKind::kAllToAll,  CollectiveKind::kReduceScatter, CollectiveKind::kReduceScatter,
    CollectiveKind::kBarrier};

bool ReadMessage(CodedInputStream& in, google::protobuf::MessageLite& out) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length)) return false;
  const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(length));
  const bool ok = length < (1u << 30) && out.MergeFromCodedStream(&in) && in.BytesUntilLimit() == 0;
  in.PopLimit(limit);
  return ok;
}

std::optional<int64_t> NumberOf(const Node& node, const char* name) {
  for (const chakra::Attribute& a : node.attr()) {
    if (a.name() != name) continue;
    if (a.has_int32_val()) return a.int32_val();
    if (a.has_int64_val()) return a.int64_val();
    if (a.has_uint32_val()) return a.uint32_val();
    if (a.has_uint64_val()) return static_cast<int64_t>(a.uint64_val());
    if (a.has_double_val() && a.double_val() >= 0 && a.double_val() < 9e18) {
      return static_cast<int64_t>(a.double_val());
    }
  }
  return std::nullopt;
}
std::string TextOf(const Node& node, const char* name) {
  for (const chakra::Attribute& a : node.attr()) {
    if (a.name() == name && a.has_string_val()) return a.string_val();
  }
  return "";
}

class ChakraReader {
 public:
  explicit ChakraReader(const std::vector<NamedText>& files) : files_(files) {}

  absl::StatusOr<Workload> Read() {
    workload_.name = files_[0].name;
    workload_.ranks = static_cast<uint32_t>(files_.size());
    if (workload_.ranks < 2) {
      return BadFile(files_[0].name, "is of one rank; name a folder, or a pattern with * for all");
    }
    for (uint32_t rank = 0; rank < workload_.ranks; ++rank) {
      if (absl::Status bad = ReadRank(rank); !bad.ok()) return bad;
    }
    if (absl::Status bad = CheckNoCycle(workload_); !bad.ok()) return bad;
    workload_.unused = unused_.Lines();
    return std::move(workload_);
  }

 private:
  absl::Status ReadRank(uint32_t rank) {
    const NamedText& file = files_[rank];
    google::protobuf::io::ArrayInputStream bytes(file.text.data(),
                                                 static_cast<int>(file.text.size()));
    CodedInputStream in(&bytes);
    chakra::Metadata metadata;
    if (!ReadMessage(in, metadata)) return BadFile(file.name, "does not begin with metadata");
    std::map<uint64_t, uint32_t> op_of;
    std::vector<Node> nodes;
    const uint32_t first = static_cast<uint32_t>(workload_.ops.size());
    while (in.CurrentPosition() < static_cast<int>(file.text.size())) {
      Node node;
      const int at = in.CurrentPosition();
      if (!ReadMessage(in, node)) {
        return BadFile(file.name,
                       absl::StrFormat("is damaged at byte %d, node %d", at, nodes.size()));
      }
      op_of[node.id()] = first + static_cast<uint32_t>(nodes.size());
      nodes.push_back(std::move(node));
      workload_.ops.push_back({.rank = rank, .after = {}});
    }
    calls_of_.clear();
    for (size_t i = 0; i < nodes.size(); ++i) {
      WorkOp& op = workload_.ops[first + i];
      if (absl::Status bad = ReadNode(nodes[i], file.name, op); !bad.ok()) return bad;
      for (const auto* deps : {&nodes[i].ctrl_deps(), &nodes[i].data_deps()}) {
        for (const uint64_t id : *deps) {
          const auto before = op_of.find(id);
          if (before == op_of.end()) {
            unused_.Add("dependency on a node that is not there");
          } else {
            op.after.push_back(before->second);
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadNode(const Node& node, const std::string& file, WorkOp& op) {
    switch (node.type()) {
      case chakra::COMP_NODE:
        op.kind = WorkOp::Kind::kCompute;
        op.length = Micros(
            std::clamp<int64_t>(static_cast<int64_t>(node.duration_micros()), 0, kMicrosMax));
        return absl::OkStatus();
      case chakra::COMM_SEND_NODE:
        return ReadTransfer(node, file, "comm_dst", WorkOp::Kind::kSend, op);
      case chakra::COMM_RECV_NODE:
        return ReadTransfer(node, file, "comm_src", WorkOp::Kind::kRecv, op);
      case chakra::COMM_COLL_NODE:
        return ReadCollective(node, file, op);
      default:
        unused_.Add("node of type " + std::to_string(node.type()));
        return absl::OkStatus();
    }
  }

  absl::Status ReadTransfer(const Node& node, const std::string& file, const char* peer_name,
                            WorkOp::Kind kind, WorkOp& op) {
    const auto peer = NumberOf(node, peer_name);
    const auto size = NumberOf(node, "comm_size");
    if (!peer.has_value() || *peer < 0 || *peer >= workload_.ranks || *peer == op.rank) {
      return BadFile(file, absl::StrFormat("node %d, %s: %s is not another of %d ranks", node.id(),
                                           node.name(), peer_name, workload_.ranks));
    }
    if (!size.has_value() || *size < 0 || *size > kSizeMax) {
      return BadFile(file,
                     absl::StrFormat("node %d, %s: comm_size is no size", node.id(), node.name()));
    }
    op.kind = kind;
    op.peer = static_cast<uint32_t>(*peer);
    op.size = Bytes(std::max<int64_t>(1, *size));
    op.tag = static_cast<uint32_t>(NumberOf(node, "comm_tag").value_or(0));
    return absl::OkStatus();
  }

  // The k-th collective of a process group on one rank is the k-th on the others.
  absl::Status ReadCollective(const Node& node, const std::string& file, WorkOp& op) {
    const auto type = NumberOf(node, "comm_type");
    const auto size = NumberOf(node, "comm_size");
    if (!type.has_value() || *type < 0 || *type >= std::ssize(kKinds)) {
      return BadFile(file,
                     absl::StrFormat("node %d, %s: comm_type is unknown", node.id(), node.name()));
    }
    const std::string group = TextOf(node, "pg_name");
    std::vector<uint32_t>& calls = calls_[group];
    const size_t nth = calls_of_[group]++;
    if (nth == calls.size()) {
      if (!communicators_.contains(group)) {
        std::vector<uint32_t> all(workload_.ranks);
        std::iota(all.begin(), all.end(), 0u);
        communicators_[group] = static_cast<uint32_t>(workload_.communicators.size());
        workload_.communicators.push_back({.name = group, .ranks = std::move(all)});
      }
      calls.push_back(static_cast<uint32_t>(workload_.calls.size()));
      workload_.calls.push_back({.communicator = communicators_[group],
                                 .kind = *kKinds[*type],
                                 .size = Bytes(std::clamp<int64_t>(size.value_or(1), 1, kSizeMax)),
                                 .matrix = {},
                                 .name = {}});
    }
    op.kind = WorkOp::Kind::kCollective;
    op.call = calls[nth];
    return absl::OkStatus();
  }

  const std::vector<NamedText>& files_;
  Workload workload_;
  std::map<std::string, uint32_t> communicators_;
  std::map<std::string, std::vector<uint32_t>> calls_;  // by group
  std::map<std::string, size_t> calls_of_;              // of this rank, by group
  Unused unused_;
};

}  // namespace

absl::StatusOr<Workload> ImportChakra(const std::vector<NamedText>& files, const ImportOptions&) {
  return ChakraReader(files).Read();
}

}  // namespace weir
