// Weir for C++: open a Context, connect, post, poll.
#pragma once

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "nic_drivers/host/context.h"
#include "nic_drivers/registry.h"
