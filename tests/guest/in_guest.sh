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

# Which algorithm is the better one is not asked: the arms must finish, and what they say of
# themselves must hold.
experiment() { # file, more for weir ab
  mkdir -p "$WEIR_GUEST_OUT/experiments"
  timeout 200 "$weir" ab "$here/../../testbed/experiments/$1" --quiet --set run.seeds=3 \
    --set run.time_scale=0.00003 --set traffic.iterations=2 --set traffic.size=256KiB \
    --json "$WEIR_GUEST_OUT/experiments/$suite.json" "${@:2}" >"$log" 2>&1
  report "$suite" $?
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
  # Soft-RoCE shows no marks, so that a delay takes their place.
  if [ "$suite" = soft_roce_ab ]; then
    experiment port_pair.toml \
      --set ports.0.name=verbs:rxe0 --set "ports.0.address=''" \
      --set ports.1.name=verbs:rxe1 --set "ports.1.address=''" \
      --set arms.0.cc=timely --set "arms.0.name=timely, one path" \
      --set arms.2.cc=swift --set arms.2.lb=oblivious --set "arms.2.name=swift, sprayed"
    continue
  fi
  if [ "$suite" = soft_roce_rdma_ab ]; then
    experiment rdma_pair.toml
    continue
  fi
  a=NIC$number b=NIC$((number + 1))
  if [ "$suite" = e1000e_ab ]; then
    experiment port_pair.toml --set "ports.0.name=${!a}" --set "ports.1.name=${!b}"
    number=$((number + 2))
    continue
  fi
  # 82540EM has 1.6 s of link to wait for whenever it is opened.
  remove=--remove
  [ "$suite" != igb_vf ] || remove=  # what is taken out does not come back by itself
  timeout 150 "$weir" nic check "${!a}" "${!b}" --label "$suite" $remove \
    --link-with "/run/guest/link.sh $number" --json "$WEIR_GUEST_OUT/$suite.json" >"$log" 2>&1
  report "$suite" $?
  number=$((number + 2))
done
