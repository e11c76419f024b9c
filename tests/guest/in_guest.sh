#!/usr/bin/env bash
# in_guest.sh WEIR SUITE...: runs each suite on the NICs that boot.sh gave it, in order.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
weir=$1
shift

report() { # suite, status
  echo "$2" >"$WEIR_GUEST_OUT/$1.status"
  echo "$1: exit code $2 after $SECONDS s"
}

number=0
for suite in "$@"; do
  log=$WEIR_GUEST_OUT/$suite.log
  if [ "$suite" = faults ]; then
    bash "$here/faults.sh" "$weir" >"$log" 2>&1
    report faults $?
    continue
  fi
  if [ "$suite" = soft_roce ]; then
    timeout 120 "$weir" nic check verbs:rxe0 verbs:rxe1 --label soft_roce \
      --link-with /run/guest/rdma_link.sh --json "$WEIR_GUEST_OUT/$suite.json" >"$log" 2>&1
    report soft_roce $?
    continue
  fi
  a=NIC$number b=NIC$((number + 1))
  # 82540EM has 1.6 s of link to wait for whenever it is opened.
  timeout 150 "$weir" nic check "${!a}" "${!b}" --label "$suite" --remove \
    --link-with "/run/guest/link.sh $number" --json "$WEIR_GUEST_OUT/$suite.json" >"$log" 2>&1
  report "$suite" $?
  number=$((number + 2))
done
