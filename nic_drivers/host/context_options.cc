// The configuration file of a context.
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "datapath/text/table_reader.h"
#include "nic_drivers/host/binding_text.h"
#include "nic_drivers/host/context.h"
#include "nic_drivers/host/device_text.h"

namespace weir {
namespace {

void ReadEngine(TableReader& r, ContextOptions& out) {
  r.Integer("workers", 1, kWorkersMax, out.workers);
  r.Bool("idle_sleep", out.idle_sleep);
  if (const toml::array* cores = r.Array("cores")) {
    for (const toml::node& node : *cores) {
      const int64_t core = node.value_or<int64_t>(-1);
      if (core < 0 || core > 4095) return r.Fail(&node, "cores: must be numbers of cores");
      out.cores.push_back(static_cast<int>(core));
    }
  }
  r.Integer("connections", 1, WireId::kSlots, out.connections_max);
  r.Integer("messages", 1, 1 << 24, out.messages_max);
  r.Integer("regions", 1, 65536, out.regions_max);
  r.Finish();
}

void ReadNetwork(TableReader& r, ContextOptions& out) {
  r.Time("base_rtt", out.base_rtt);
  r.Time("max_queue", out.max_queue);
  r.Bool("trimming", out.trimming);
  r.Bool("telemetry", out.telemetry);
  Bytes payload(out.payload);
  r.Size("payload", payload);
  if (r.Has("payload") && (payload < Bytes(kPayloadMin) || payload > Bytes(8900))) {
    r.FailKey("payload", "must be 64B to 8900B: it fits one jumbo frame");
  }
  out.payload = static_cast<uint16_t>(payload.count());
  r.Bool("payload_crc", out.payload_crc);
  r.Time("rto_min", out.rto_min);
  r.Time("open_timeout", out.open_timeout);
  r.Time("patience", out.patience);
  r.Time("keepalive", out.keepalive);
  if (out.base_rtt <= Duration(0)) r.FailKey("base_rtt", "must be above 0");
  if (out.rto_min <= Duration(0)) r.FailKey("rto_min", "must be above 0");
  if (out.open_timeout <= Duration(0)) r.FailKey("open_timeout", "must be above 0");
  r.Finish();
}

void ReadConnections(TableReader& r, ContextOptions& out) {
  ReadBinding(r, out.binding);
  r.Bool("listen", out.listen);
  r.Finish();
}

}  // namespace

absl::StatusOr<ContextOptions> ParseContext(const std::string& text, const std::string& file) {
  toml::table parsed;
  try {
    parsed = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", file, error.source().begin.line,
                                                      std::string(error.description())));
  }
  absl::Status status;
  ContextOptions out;
  TableReader root(parsed, "file", file, status);
  int schema = 1;
  root.Integer("schema", 1, 1, schema);
  static const toml::table kEmpty;
  const auto read = [&](const char* name, auto fn, auto& into) {
    const toml::table* table = root.Table(name);
    TableReader r(table == nullptr ? kEmpty : *table, name, file, status);
    fn(r, into);
  };
  read(
      "device",
      [](TableReader& r, DeviceOptions& device) {
        ReadDevice(r, device);
        r.Finish();
      },
      out.device);
  read("engine", ReadEngine, out);
  read("network", ReadNetwork, out);
  read("connections", ReadConnections, out);
  root.Finish();
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<ContextOptions> LoadContext(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError("cannot read " + path + "; give the path of a TOML file");
  std::ostringstream text;
  text << in.rdbuf();
  return ParseContext(text.str(), path);
}

}  // namespace weir
