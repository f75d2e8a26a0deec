// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The two queues of gcm_keystream with one place each, for formal/gcm_keystream_proof.sv: what the
// queues themselves do is proved by itself (fifo_proof.sv, fifo_late_proof.sv).

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

  assign near_full_o = valid_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= push_i || (valid_o && !pop_i);
  end
  always_ff @(posedge clk_i) if (push_i) data_o <= data_i;

endmodule

module fifo_late
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
  input  logic         pop_i,
  output logic [W-1:0] data_o
);

  logic [W-1:0] word_q;
  fifo #(.Cfg(Cfg)) u_word (
    .clk_i, .rst_ni, .push_i, .data_i, .near_full_o, .valid_o, .data_o(word_q), .pop_i
  );
  delay #(.W(W), .Cycles(Late)) u_late (.clk_i, .d_i(word_q), .q_o(data_o));

endmodule
