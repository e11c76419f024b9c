/* Sends a message and gets it back.
 *
 *   host B:  echo b.toml                 sends back what comes, until the peer closes
 *   host A:  echo a.toml 10.0.0.2        sends "hello", prints the answer
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

/* Waits for a completion of this kind; 0: the connection ended first. */
static int wait_for(weir_context* w, uint32_t event, weir_completion* out) {
  for (;;) {
    if (weir_poll(w, out, 1) == 0) continue;
    if (out->event == event) return 1;
    if (out->event == WEIR_CLOSED || out->event == WEIR_FAILED) {
      fprintf(stderr, "the connection ended: %s\n", weir_cause_text(out->cause));
      return 0;
    }
  }
}

static int answer(weir_context* w) {
  static char buffer[65536];
  weir_completion c;
  if (!wait_for(w, WEIR_ACCEPTED, &c)) return 1;
  weir_connection peer = c.connection;
  for (;;) {
    if (weir_post_receive(w, peer, buffer, sizeof buffer, 0) != WEIR_OK) return 1;
    if (!wait_for(w, WEIR_RECEIVED, &c)) return c.event == WEIR_CLOSED ? 0 : 1;
    if (weir_post_send(w, peer, buffer, c.bytes, 0) != WEIR_OK) return 1;
    if (!wait_for(w, WEIR_SENT, &c)) return 1;
  }
}

static int ask(weir_context* w, const char* remote) {
  static char text[] = "hello";
  static char reply[65536];
  weir_completion c;
  weir_connection peer = weir_connect(w, remote);
  if (peer == 0) {
    fprintf(stderr, "%s\n", weir_last_error(w));
    return 1;
  }
  if (!wait_for(w, WEIR_OPENED, &c)) return 1;
  if (weir_post_receive(w, peer, reply, sizeof reply, 1) != WEIR_OK) return 1;
  if (weir_post_send(w, peer, text, sizeof text, 2) != WEIR_OK) return 1;
  if (!wait_for(w, WEIR_RECEIVED, &c)) return 1;
  printf("%s\n", reply);
  weir_close(w, peer);
  wait_for(w, WEIR_CLOSED, &c);
  return strcmp(text, reply) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: echo CONFIG.toml [REMOTE]\n");
    return 2;
  }
  char error[1024];
  weir_context* w = weir_open(argv[1], error, sizeof error);
  if (w == NULL) {
    fprintf(stderr, "%s\n", error);
    return 3;
  }
  int result = argc == 2 ? answer(w) : ask(w, argv[2]);
  weir_free(w);
  return result;
}
