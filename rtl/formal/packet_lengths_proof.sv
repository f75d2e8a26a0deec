// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A packet's lengths in blocks and beats against division, for every pair of lengths in bytes.

module packet_lengths_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            open_i,
  input  logic [LenW-1:0] ad_len_i,
  input  logic [LenW-1:0] text_len_i,
  input  logic            refused_i,
  output logic            right_o
);

  lengths_t lengths;
  packet_lengths #(.Lanes(Lanes)) u_lengths (
    .clk_i, .open_i, .ad_len_i, .text_len_i, .refused_i, .lengths_o(lengths)
  );

  // Wide enough for every sum.
  logic [31:0] ad, text, blocks, beats;
  logic [2*LenW:0] q1, q2, q3;
  logic refused_q;
  logic [2:0] seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= {seen_q[1:0], 1'b1};
  end
  always_ff @(posedge clk_i) begin
    {q1, q2, q3} <= {{open_i, ad_len_i, text_len_i}, q1, q2};
    refused_q <= refused_i;
  end
  assign ad     = (32'(q3[LenW+:LenW]) + 15) / 16;
  assign text   = (32'(q3[0+:LenW]) + 15) / 16;
  assign blocks = ad + text;
  assign beats  = (blocks + Lanes - 1) / Lanes;
  assign right_o = !rst_ni || !seen_q[2] || (
      lengths.open == q3[2*LenW] && lengths.refused == refused_q
      && lengths.has_text == (q3[0+:LenW] != '0)
      && 32'(lengths.ad_tail) == 32'(q3[LenW+:LenW]) % 16
      && 32'(lengths.text_tail) == 32'(q3[0+:LenW]) % 16
      && 32'(lengths.ad_blocks) == ad && 32'(lengths.blocks) == blocks
      && 32'(lengths.beats) == (beats == 0 ? 0 : beats - 1));

endmodule
