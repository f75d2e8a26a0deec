// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The queues of text_hold with two places each, for formal/text_hold_proof.sv: what the queues
// themselves do is proved by itself (fifo_proof.sv, fifo_port_proof.sv).

module fifo
  import sealwright_pkg::*;
#(
  parameter queue_cfg_t Cfg = queue(8, 16),
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

  logic [1:0] count_q;
  logic [1:0][W-1:0] words_q;  // from the head on
  assign near_full_o = count_q == 2'd2;
  assign valid_o     = count_q != 2'd0;
  assign data_o      = words_q[0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 2'(push_i) - 2'(pop_i);
  end
  always_ff @(posedge clk_i) begin
    if (pop_i) words_q[0] <= words_q[1];
    if (push_i) words_q[1'(count_q - 2'(pop_i))] <= data_i;
  end

endmodule

module fifo_port
  import sealwright_pkg::*;
#(
  parameter queue_cfg_t Cfg = queue(8, 16),
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

  fifo #(.Cfg(Cfg)) u_fifo (
    .clk_i, .rst_ni, .push_i, .data_i, .near_full_o, .valid_o, .data_o, .pop_i
  );

endmodule
