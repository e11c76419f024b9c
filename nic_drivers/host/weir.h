/* Weir for C: a context from a configuration file, memory, connections, messages, completions.
 *
 * A context belongs to one thread at a time. A function that can fail returns a negative number, or
 * NULL, and weir_last_error(context) says why in a sentence. weir_post_*, and weir_poll take neither
 * lock nor system call; the others wait for the endpoint's thread.
 */
#ifndef WEIR_H_
#define WEIR_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_API_VERSION 1

typedef struct weir_context weir_context;
typedef uint32_t weir_connection; /* 0 is none */

enum weir_error {
  WEIR_OK = 0,
  WEIR_EINVALID = -1,     /* an argument or a configuration is wrong */
  WEIR_ENOTFOUND = -2,    /* no such connection, region, device or way */
  WEIR_EAGAIN = -3,       /* no room, or not yet: poll and try again */
  WEIR_EUNSUPPORTED = -4, /* the device, the network or this build lacks it */
  WEIR_EFAILED = -5       /* anything else */
};

enum weir_event {
  WEIR_OPENED = 0,   /* a connection that we opened */
  WEIR_ACCEPTED = 1, /* a connection that a peer opened */
  WEIR_SENT = 2,     /* every byte of a message is acknowledged */
  WEIR_RECEIVED = 3, /* a send is in its buffer, or a notifying write in its region */
  WEIR_CLOSED = 4,
  WEIR_FAILED = 5,  /* the connection is gone; `cause` */
  WEIR_REJECTED = 6 /* what was posted came too late or found no room */
};

typedef struct weir_completion {
  uint32_t event; /* enum weir_event */
  uint32_t cause; /* weir_cause_text(cause) */
  weir_connection connection;
  uint32_t bytes;
  uint64_t cookie; /* of what was posted; of a peer's notifying write: its message number */
  int64_t at_ns;   /* on the port's clock */
} weir_completion;

/* What a connection is and did, also after its end until another takes its place. */
typedef struct weir_connection_info {
  char remote[48];
  char algorithm[32];
  char policy[32];
  uint32_t payload_bytes; /* negotiated */
  int64_t smoothed_rtt_ns;
  int64_t min_rtt_ns;
  int64_t in_flight_bytes;
  int64_t window_bytes;
  int64_t rate_bps; /* INT64_MAX: not limited */
  uint64_t packets;
  uint64_t retransmits;
  uint64_t spurious_retransmits;
  uint64_t timeouts;
} weir_connection_info;

/* Reads the configuration file and opens the device. NULL: `error` has the reason. */
weir_context* weir_open(const char* config_file, char* error, size_t error_size);
/* The same with the configuration's text. */
weir_context* weir_open_text(const char* config, char* error, size_t error_size);
/* Aborts what is open. */
void weir_free(weir_context* context);
/* Of the last call that failed; never NULL. */
const char* weir_last_error(const weir_context* context);
const char* weir_cause_text(uint32_t cause);

/* Takes bytes where they arrived, in the port's own buffers, instead of having them placed. Called
 * by an endpoint's thread, once for each packet, in the order of arrival, and returns soon. The bytes
 * are gone when it returns. */
typedef void (*weir_take)(void* argument, uint64_t offset, const void* bytes, size_t size);

/* What lies in [base, base + size) is sent without a copy. */
int weir_register_memory(weir_context* context, void* base, size_t size);
int weir_unregister_memory(weir_context* context, void* base);
/* Peers may write to it. Returns the region's number for their writes. */
int64_t weir_open_region(weir_context* context, void* base, uint64_t size);
/* The same, with what they write taken in place, by all endpoints' threads. */
int64_t weir_open_region_in_place(weir_context* context, weir_take take, void* argument,
                                  uint64_t size);
int weir_close_region(weir_context* context, uint32_t region);

/* WEIR_OPENED or WEIR_FAILED follows. Returns 0 if it could not be tried. */
weir_connection weir_connect(weir_context* context, const char* remote);
int weir_close(weir_context* context, weir_connection connection); /* after what was posted */
int weir_abort(weir_context* context, weir_connection connection);
int weir_describe(weir_context* context, weir_connection connection, weir_connection_info* out);

/* Memory that was posted stays as it is until its completion. WEIR_EAGAIN: poll and try again. */
int weir_post_send(weir_context* context, weir_connection connection, const void* data,
                   uint32_t length, uint64_t cookie);
int weir_post_receive(weir_context* context, weir_connection connection, void* data,
                      uint32_t capacity, uint64_t cookie);
int weir_post_receive_in_place(weir_context* context, weir_connection connection, weir_take take,
                               void* argument, uint32_t capacity, uint64_t cookie);
/* To offset `address` of the peer's `region`; `notify`: the peer gets a completion, too. */
int weir_post_write(weir_context* context, weir_connection connection, const void* data,
                    uint32_t length, uint32_t region, uint64_t address, int notify,
                    uint64_t cookie);
/* Returns how many completions were taken. */
int weir_poll(weir_context* context, weir_completion* out, int room);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_H_ */
