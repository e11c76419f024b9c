// The C interface: each function is one call of a Context.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "nic_drivers/host/context.h"
#include "nic_drivers/host/weir.h"

using weir::Context;

struct weir_context {
  std::unique_ptr<Context> context;
  std::string error;
};

namespace {

static_assert(WEIR_OPENED == static_cast<int>(weir::Event::kOpened));
static_assert(WEIR_ACCEPTED == static_cast<int>(weir::Event::kAccepted));
static_assert(WEIR_SENT == static_cast<int>(weir::Event::kSent));
static_assert(WEIR_RECEIVED == static_cast<int>(weir::Event::kReceived));
static_assert(WEIR_CLOSED == static_cast<int>(weir::Event::kClosed));
static_assert(WEIR_FAILED == static_cast<int>(weir::Event::kFailed));
static_assert(WEIR_REJECTED == static_cast<int>(weir::Event::kRejected));

int CodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return WEIR_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return WEIR_EINVALID;
    case absl::StatusCode::kNotFound:
      return WEIR_ENOTFOUND;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
      return WEIR_EAGAIN;
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kFailedPrecondition:
      return WEIR_EUNSUPPORTED;
    default:
      return WEIR_EFAILED;
  }
}

int Tell(weir_context* c, const absl::Status& status) {
  if (!status.ok()) c->error = std::string(status.message());
  return CodeOf(status.code());
}

weir_context* Open(const absl::StatusOr<weir::ContextOptions>& options, char* error, size_t size) {
  absl::StatusOr<std::unique_ptr<Context>> context =
      options.ok() ? Context::Open(*options) : options.status();
  if (context.ok()) return new weir_context{*std::move(context), ""};
  if (error != nullptr && size > 0) {
    std::snprintf(error, size, "%s", std::string(context.status().message()).c_str());
  }
  return nullptr;
}

template <size_t N>
void CopyText(char (&to)[N], const std::string& from) {
  std::snprintf(to, N, "%s", from.c_str());
}

}  // namespace

weir_context* weir_open(const char* config_file, char* error, size_t error_size) {
  return Open(weir::LoadContext(config_file), error, error_size);
}

weir_context* weir_open_text(const char* config, char* error, size_t error_size) {
  return Open(weir::ParseContext(config, "configuration"), error, error_size);
}

void weir_free(weir_context* context) { delete context; }

const char* weir_last_error(const weir_context* context) { return context->error.c_str(); }

const char* weir_cause_text(uint32_t cause) { return Name(static_cast<weir::Cause>(cause)); }

int weir_register_memory(weir_context* c, void* base, size_t size) {
  return Tell(c, c->context->RegisterMemory(base, size));
}

int weir_unregister_memory(weir_context* c, void* base) {
  return Tell(c, c->context->UnregisterMemory(base));
}

int64_t weir_open_region(weir_context* c, void* base, uint64_t size) {
  const absl::StatusOr<uint32_t> region = c->context->OpenRegion(base, size);
  return region.ok() ? int64_t{*region} : Tell(c, region.status());
}

int64_t weir_open_region_in_place(weir_context* c, weir_take take, void* argument, uint64_t size) {
  const absl::StatusOr<uint32_t> region =
      c->context->OpenRegion(weir::RxTarget{.in_place = {take, argument}}, size);
  return region.ok() ? int64_t{*region} : Tell(c, region.status());
}

int weir_close_region(weir_context* c, uint32_t region) {
  return Tell(c, c->context->CloseRegion(region));
}

weir_connection weir_connect(weir_context* c, const char* remote) {
  const absl::StatusOr<weir::WireId> id = c->context->Connect(remote);
  Tell(c, id.status());
  return id.ok() ? id->value : 0;
}

int weir_close(weir_context* c, weir_connection connection) {
  return Tell(c, c->context->Close({connection}));
}

int weir_abort(weir_context* c, weir_connection connection) {
  return Tell(c, c->context->Abort({connection}));
}

int weir_describe(weir_context* c, weir_connection connection, weir_connection_info* out) {
  const absl::StatusOr<weir::ConnectionInfo> info = c->context->Describe({connection});
  if (!info.ok()) return Tell(c, info.status());
  *out = weir_connection_info{};
  CopyText(out->remote, info->remote);
  CopyText(out->algorithm, info->algorithm);
  CopyText(out->policy, info->policy);
  out->payload_bytes = info->payload_max;
  out->smoothed_rtt_ns = info->smoothed_rtt.count();
  out->min_rtt_ns = info->min_rtt.count();
  out->in_flight_bytes = info->in_flight.count();
  out->window_bytes = info->allowance.window.count();
  out->rate_bps = info->allowance.rate.count();
  out->packets = info->sent.packets;
  out->retransmits = info->sent.retransmits;
  out->spurious_retransmits = info->sent.spurious;
  out->timeouts = info->sent.timeouts;
  return WEIR_OK;
}

int weir_post_send(weir_context* c, weir_connection connection, const void* data, uint32_t length,
                   uint64_t cookie) {
  return Tell(c, c->context->PostSend({connection}, {.data = static_cast<const std::byte*>(data),
                                                     .length = length,
                                                     .cookie = cookie}));
}

int weir_post_receive(weir_context* c, weir_connection connection, void* data, uint32_t capacity,
                      uint64_t cookie) {
  return Tell(c, c->context->PostReceive({connection}, {.data = static_cast<std::byte*>(data),
                                                        .capacity = capacity,
                                                        .cookie = cookie}));
}

int weir_post_receive_in_place(weir_context* c, weir_connection connection, weir_take take,
                               void* argument, uint32_t capacity, uint64_t cookie) {
  return Tell(
      c, c->context->PostReceive(
             {connection}, {.capacity = capacity, .cookie = cookie, .in_place = {take, argument}}));
}

int weir_post_write(weir_context* c, weir_connection connection, const void* data, uint32_t length,
                    uint32_t region, uint64_t address, int notify, uint64_t cookie) {
  return Tell(c, c->context->PostWrite({connection}, {.data = static_cast<const std::byte*>(data),
                                                      .length = length,
                                                      .region = region,
                                                      .address = address,
                                                      .notify = notify != 0,
                                                      .cookie = cookie}));
}

int weir_poll(weir_context* c, weir_completion* out, int room) {
  weir::Completion some[64];
  int n = 0;
  while (n < room) {
    const size_t most = std::min<size_t>(std::size(some), static_cast<size_t>(room - n));
    const size_t got = c->context->Poll(std::span(some, most));
    for (const weir::Completion& from : std::span(some, got)) {
      out[n++] = {.event = static_cast<uint32_t>(from.event),
                  .cause = static_cast<uint32_t>(from.cause),
                  .connection = from.connection.value,
                  .bytes = from.bytes,
                  .cookie = from.cookie,
                  .at_ns = from.at.nanos()};
    }
    if (got < most) break;
  }
  return n;
}
