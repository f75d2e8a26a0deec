// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes the verdicts. A tag is a hash XOR the mask that waits for it. The tag of a sealed packet is
// output; that of a packet to open is compared, and never leaves this module. No tag is output for
// a packet with any other status than StatusOk.
//
// Masks arrive in the order of the hashes, each at least two cycles before its hash. The sender of
// the masks must keep the number of pending verdicts at Depth or below.

module tag_check
  import sealwright_pkg::*;
#(
  parameter int unsigned Depth    = 16,
  parameter int unsigned TagBytes = 16  // length of the tag: the first bytes
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     mask_valid_i,
  input  block_t   mask_i,
  input  logic     open_i,
  input  logic     text_i,
  input  status_e  status_i,   // as known without the tag
  input  block_t   claim_i,
  input  logic     hash_valid_i,
  input  block_t   hash_i,
  output logic     valid_o,
  input  logic     ready_i,
  output verdict_t verdict_o
);

  localparam block_t Shown = {16{8'hff}} >> (8 * (16 - TagBytes));

  typedef struct packed {
    logic    open, text;
    status_e status;
  } about_t;

  logic hash_valid, unused_full, unused_full2, unused_valid;
  about_t about, about_q, about_q2;
  block_t hash, mask, claim;

  delay_valid #(.Cycles(Late)) u_hash_valid (
    .clk_i, .rst_ni, .valid_i(hash_valid_i), .valid_o(hash_valid)
  );
  delay #(.W(128), .Cycles(Late)) u_hash (.clk_i, .d_i(hash_i), .q_o(hash));
  fifo_late #(.Cfg(queue($bits(about_t) + 256, Depth))) u_masks (
    .clk_i, .rst_ni, .push_i(mask_valid_i), .data_i({open_i, text_i, status_i, claim_i, mask_i}),
    .near_full_o(unused_full), .valid_o(unused_valid), .data_o({about, claim, mask}),
    .pop_i(hash_valid_i)
  );

  logic [2:0] valid_q;
  logic good_q, shows_q2, differ_q2, judge_q2;
  logic [15:0] same_q2;  // byte by byte
  block_t tag_q, tag_q2, claim_q;
  verdict_t verdict_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], hash_valid};
  end
  assign good_q    = about_q.status == StatusOk;
  assign differ_q2 = judge_q2 && same_q2 != '1;

  always_ff @(posedge clk_i) begin
    tag_q   <= hash ^ mask;
    claim_q <= claim;
    about_q <= about;

    for (int i = 0; i < 16; i++) same_q2[i] <= i >= TagBytes || tag_q[8*i+:8] == claim_q[8*i+:8];
    tag_q2   <= tag_q;
    about_q2 <= about_q;
    shows_q2 <= good_q && !about_q.open;
    judge_q2 <= good_q && about_q.open;

    verdict_q.tag       <= shows_q2 ? tag_q2 & Shown : '0;
    verdict_q.text      <= about_q2.text;
    verdict_q.status    <= differ_q2 ? StatusForged : about_q2.status;
    verdict_q.open      <= about_q2.open;
    verdict_q.authentic <= judge_q2 && !differ_q2;
  end

  fifo_port #(.Cfg(queue($bits(verdict_t), Depth))) u_verdicts (
    .clk_i, .rst_ni,
    .push_i(valid_q[2]), .data_i(verdict_q), .near_full_o(unused_full2),
    .valid_o, .data_o(verdict_o), .pop_i(valid_o && ready_i)
  );

endmodule
