// Between the frames of a port and the packets of a fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/wire.h"
#include "testbed/fabric/packet.h"

namespace weir {

// What the headers below Weir's say of the traffic class.
FrameClass ClassOf(std::span<const std::byte> headers);

// Where the payload of a data packet begins in a frame that holds both; all of any other frame.
uint32_t HeaderBytes(std::span<const std::byte> frame);

// The header of a data packet, read from a frame's headers; false: it is none, or damaged.
bool ReadDataHeader(std::span<const std::byte> headers, DataHeader& out);

// Fills in what switches look at; content, sequence and place in the pool are the caller's.
void DescribePacket(std::span<const std::byte> headers, uint32_t payload, FrameClass cls,
                    uint32_t from, Packet& packet);

// A NIC writes what the fabric did to a packet into its headers: here the model does.
void WriteFate(const Packet& packet, std::span<std::byte> headers);

}  // namespace weir
