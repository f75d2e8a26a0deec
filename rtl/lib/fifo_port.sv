// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A deep queue of wide words at a port: the words pass from a memory with an output register
// (`fifo_late`) to a short queue in logic (`fifo`), whose head drives the port. Throughput is one
// word per cycle.

module fifo_port
  import sealwright_pkg::*;
#(
  parameter queue_cfg_t Cfg = queue(8, 32),
  localparam int unsigned W = Cfg.width
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         push_i,
  input  logic [W-1:0] data_i,
  output logic         near_full_o,
  output logic         valid_o,
  output logic [W-1:0] data_o,
  input  logic         pop_i
);

  // most words between u_deep and the port: one more than that path has cycles
  localparam int unsigned Short = 8;

  logic some, ask, came, unused_full;
  logic [W-1:0] word;
  logic [3:0] out_q;  // words that left u_deep and were not popped at the port
  assign ask = some && out_q != 4'(Short);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_q <= '0;
    else out_q <= out_q + 4'(ask) - 4'(pop_i);
  end
  fifo_late #(.Cfg(Cfg)) u_deep (
    .clk_i, .rst_ni, .push_i, .data_i, .near_full_o, .valid_o(some), .data_o(word), .pop_i(ask)
  );
  delay_valid #(.Cycles(Late)) u_came (.clk_i, .rst_ni, .valid_i(ask), .valid_o(came));
  fifo #(.Cfg(queue(W, Short))) u_head (
    .clk_i, .rst_ni, .push_i(came), .data_i(word), .near_full_o(unused_full), .valid_o, .data_o,
    .pop_i
  );

endmodule
