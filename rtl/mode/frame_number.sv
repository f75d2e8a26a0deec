// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Keeps frames and commands together by the number that both of them carry: no beat reaches the
// packet of another number.
//
// Numbers count up, modulo 2^W. A beat with the number of the packet whose turn it is passes. A
// beat of a later packet says that the frame of this one has ended, without `last` or without a
// beat: `ended` is passed on in its place, and the beat waits for its own packet. A beat of an
// earlier packet is dropped.
//
// Later means by less than half of all numbers. A core takes fewer commands than that before their
// frames if W > log2(Flight), so that a beat whose command was accepted is never too far ahead.

`include "assert.svh"

module frame_number
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned W     = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                command_i,  // a command is accepted
  input  logic [W-1:0]        packet_i,   // its number
  input  logic                s_valid_i,
  output logic                s_ready_o,
  input  logic [W-1:0]        s_number_i,
  input  block_t [Lanes-1:0]  s_data_i,
  input  logic [16*Lanes-1:0] s_keep_i,
  input  logic                s_last_i,
  output logic                m_valid_o,
  input  logic                m_ready_i,
  output block_t [Lanes-1:0]  m_data_o,
  output logic [16*Lanes-1:0] m_keep_o,
  output logic                m_last_o,
  output logic                m_ended_o   // this is no beat: the frame has ended
);

  // The port is registered: no combinational path passes through it.
  logic here, ready;
  logic [W-1:0] number;
  slice #(.W(W + 144 * Lanes + 1)) u_port (
    .clk_i, .rst_ni, .valid_i(s_valid_i), .ready_o(s_ready_o),
    .data_i({s_number_i, s_last_i, s_keep_i, s_data_i}), .valid_o(here), .ready_i(ready),
    .data_o({number, m_last_o, m_keep_o, m_data_o})
  );

  // A core has at most Flight packets.
  logic wanted, done, unused_full;
  logic [W-1:0] packet, ahead;
  fifo #(.Cfg(queue(W, Flight))) u_packets (
    .clk_i, .rst_ni, .push_i(command_i), .data_i(packet_i), .near_full_o(unused_full),
    .valid_o(wanted), .data_o(packet), .pop_i(done)
  );

  logic same, earlier;
  assign ahead     = number - packet;
  assign same      = ahead == '0;
  assign earlier   = ahead[W-1];
  assign m_valid_o = here && wanted && !earlier;
  assign m_ended_o = !same;
  assign ready     = wanted && (earlier || (same && m_ready_i));
  assign done      = m_valid_o && m_ready_i && (!same || m_last_o);

  `SEALWRIGHT_STABLE(Beat, m_valid_o, m_ready_i, {m_ended_o, m_last_o, m_keep_o, m_data_o})

endmodule
