#!/usr/bin/env bash
# rdma_link.sh up|down: the wire between rxe0 and rxe1, at rxe0's end. Routes and neighbours go with a
# link, so they are set each time it comes up.
set -euo pipefail
ip link set v0 "$1"
[ "$1" = up ] || exit 0
ip route replace 10.9.1.1/32 dev v0 table 101 src 10.9.0.1
ip route replace 10.9.0.1/32 dev v1 table 102 src 10.9.1.1
ip neigh replace 10.9.1.1 lladdr "$(cat /sys/class/net/v1/address)" dev v0
ip neigh replace 10.9.0.1 lladdr "$(cat /sys/class/net/v0/address)" dev v1
