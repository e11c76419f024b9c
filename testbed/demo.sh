#!/usr/bin/env bash
# What ./run demo shows. Arguments: the program, and options for the first experiment.
set -euo pipefail
weir=$(realpath "$1")
shift
cd "$(dirname "$0")/.."

say() { printf '== %s\n' "$*" >&2; }

# Bandwidth and latency between two processes over shared memory.
transfer() {
  local folder server status=1
  folder=$(mktemp -d)
  local memif="socket-abstract=no,socket=$folder/memif.sock"
  "$weir" serve --device "dpdk:net_memif0,role=server,$memif" --address 10.0.0.2/24 --idle-sleep \
    >"$folder/server" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    if grep -q listening "$folder/server"; then status=0 && break; fi
    kill -0 $server 2>/dev/null || break
    sleep 0.1
  done
  for test in "bw -n 2000" "lat -n 2000 -s 8B"; do
    # shellcheck disable=SC2086
    [ $status -ne 0 ] || "$weir" perf $test 10.0.0.2 --idle-sleep --address 10.0.0.1/24 \
      --device "dpdk:net_memif0,role=client,$memif" 2>"$folder/client" || status=1
  done
  [ $status -eq 0 ] || cat "$folder"/server "$folder"/client* >&2
  kill $server 2>/dev/null || true
  wait $server 2>/dev/null || true
  rm -rf "$folder"
  return $status
}

say "1 of 3: an A/B experiment in virtual time"
mkdir -p build
"$weir" ab testbed/experiments/demo.toml --set run.sample_every=500ns --html build/demo.html "$@"
say "the report is in $PWD/build/demo.html"
if [[ "$("$weir" doctor)" == *"no DPDK driver"* ]]; then
  say "2 and 3 are skipped: this build has no DPDK (libdpdk-dev)"
  exit
fi
say "2 of 3: an A/B experiment in the loopback testbed: real poll loops, real buffers, real time"
"$weir" ab testbed/experiments/demo_loopback.toml --quiet
say "3 of 3: a transfer between two processes over shared memory (memif)"
transfer
