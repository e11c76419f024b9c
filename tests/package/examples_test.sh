#!/usr/bin/env bash
# The examples build against the installed package, by find_package and by pkg-config, and talk to
# each other over memif. Arguments: the build folder.
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT

for tool in cmake make pkg-config cc c++; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
cmake --install "$build" --prefix "$work/installed" >/dev/null
lib=$(dirname "$(find "$work/installed" -name libweir.so)")
export LD_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig

cmake -S "$source/docs/examples/write_cpp" -B "$work/write" -DCMAKE_PREFIX_PATH="$work/installed" \
  >/dev/null
cmake --build "$work/write" >/dev/null
cp -r "$source/docs/examples/echo_c" "$work/echo"
make -s -C "$work/echo"

config() { # name, role, address
  cat >"$work/$1.toml" <<TOML
schema = 1
[device]
name = "dpdk:net_memif0,role=$2,socket=$work/memif.sock,socket-abstract=no"
address = "$3/24"
[engine]
idle_sleep = true
connections = 8
messages = 64
[connections]
listen = true
TOML
}
config b server 10.0.0.2
config a client 10.0.0.1

talk() { # program
  "$1" "$work/b.toml" >"$work/b.out" 2>&1 &
  server=$!
  timeout 60 "$1" "$work/a.toml" 10.0.0.2
  timeout 60 tail --pid=$server -f /dev/null
  wait $server
  cat "$work/b.out"
}
[ "$(talk "$work/echo/echo" | head -n 1)" = hello ]
talk "$work/write/write" | grep -q '1048576 bytes were written'
echo "both examples built and ran"
