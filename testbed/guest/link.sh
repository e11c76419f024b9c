#!/bin/sh
# In the guest: link.sh NUMBER up|down: takes the cable of a NIC out, or puts it back.
case $2 in
  up) state=on ;;
  down) state=off ;;
  *) exit 2 ;;
esac
printf 'set_link n%d %s\n' "$1" "$state" >/dev/ttyS1
