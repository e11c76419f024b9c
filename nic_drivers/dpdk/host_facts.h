// What the operating system says of this host.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

int64_t FreeHugeBytes();
// The first line of a file, or "".
std::string FirstLine(const std::string& path);
// Kernel driver of a PCI device; "": none, or no such device.
std::string KernelDriver(const std::string& pci);
bool HasInterface(const std::string& name);
// Of a network interface; 0: there is none of this index or name.
uint32_t InterfaceMtu(unsigned index);
bool SetInterfaceMtu(unsigned index, uint32_t mtu);
// NUMA node of the calling thread's core; -1: not known.
int CurrentNode();

}  // namespace weir
