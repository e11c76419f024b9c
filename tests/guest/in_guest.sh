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
experiment() { # device, address, device, address, more for weir ab
  mkdir -p "$WEIR_GUEST_OUT/experiments"
  timeout 200 "$weir" ab "$here/../../testbed/experiments/port_pair.toml" --quiet \
    --set "ports.0.name=$1" --set "ports.0.address='$2'" \
    --set "ports.1.name=$3" --set "ports.1.address='$4'" \
    --set run.seeds=3 --set run.time_scale=0.00003 \
    --set traffic.iterations=2 --set traffic.size=256KiB \
    --json "$WEIR_GUEST_OUT/experiments/$suite.json" "${@:5}" >"$log" 2>&1
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
  # Soft-RoCE shows no marks, so that a delay takes their place; its MTU is at most 4096 bytes.
  if [ "$suite" = soft_roce_ab ]; then
    experiment verbs:rxe0 "" verbs:rxe1 "" --set arms.0.cc=timely --set "arms.0.name=timely, one path" \
      --set arms.2.cc=swift --set arms.2.lb=oblivious --set "arms.2.name=swift, sprayed" \
      --set transport.payload=1024B
    continue
  fi
  # In RDMA mode there are times of completions alone.
  if [ "$suite" = soft_roce_rdma_ab ]; then
    experiment verbs:rxe0 "" verbs:rxe1 "" --set run.home=rdma --set transport.chunk=8KiB \
      --set arms.0.cc=timely --set "arms.0.name=timely, one queue pair" \
      --set arms.1.cc=swift --set "arms.1.name=swift, sprayed" \
      --set arms.2.cc=bbr --set arms.2.lb=power_of_two --set "arms.2.name=bbr, the faster of two"
    continue
  fi
  a=NIC$number b=NIC$((number + 1))
  if [ "$suite" = e1000e_ab ]; then
    experiment "${!a}" 10.94.0.1/24 "${!b}" 10.94.0.2/24 --set transport.payload=1400B
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
