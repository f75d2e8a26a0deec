// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A queue whose words have two parts: a few flags, valid at the head (`fifo`), and the rest, Late
// cycles after the pop (`fifo_late`). Both queues become valid for a word in the same cycle.

module fifo_split
  import sealwright_pkg::*;
#(
  parameter int unsigned Flags = 1,  // width of the flags
  parameter queue_cfg_t  Cfg   = queue(8, 16),  // width: of the rest
  localparam int unsigned W = Cfg.width
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Flags-1:0] flags_i,
  input  logic [W-1:0]     data_i,
  output logic             near_full_o,
  output logic             valid_o,
  output logic [Flags-1:0] flags_o,
  output logic [W-1:0]     data_o,   // of the word that was popped Late cycles ago
  input  logic             pop_i
);

  logic unused_full, unused_valid;
  fifo #(.Cfg(queue(Flags, Cfg.depth, Cfg.slack))) u_flags (
    .clk_i, .rst_ni, .push_i, .data_i(flags_i), .near_full_o(unused_full), .valid_o,
    .data_o(flags_o), .pop_i
  );
  fifo_late #(.Cfg(Cfg)) u_data (
    .clk_i, .rst_ni, .push_i, .data_i, .near_full_o, .valid_o(unused_valid), .data_o, .pop_i
  );

endmodule
