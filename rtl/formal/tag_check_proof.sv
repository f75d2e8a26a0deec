// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What goes into the queue of verdicts: no tag of an opened packet nor of one with anything wrong,
// the tag of every other; authentic means opened, right in every other way, and with the claimed
// tag bit by bit, as many as a tag has. For all hashes, masks and claims.

module tag_check_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned TagBytes = 16
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       mask_valid_i,
  input  logic       hash_valid_i,
  input  block_t     hash_i,
  input  block_t     mask_i,
  input  block_t     claim_i,
  input  logic       open_i,
  input  logic       text_i,
  input  logic [2:0] status_i,
  output logic       right_o
);

  logic unused_valid;
  verdict_t verdict, unused_verdict;
  logic [8*TagBytes-1:0] tag;
  logic same;
  tag_check #(.Depth(8), .TagBytes(TagBytes)) u_check (
    .clk_i, .rst_ni, .mask_valid_i, .mask_i, .open_i, .text_i, .status_i(status_e'(status_i)),
    .claim_i, .hash_valid_i, .hash_i, .valid_o(unused_valid), .ready_i(1'b1),
    .verdict_o(unused_verdict)
  );
  assign verdict = u_check.verdict_q;

  // What the queue of masks gave two cycles before, whatever it was.
  typedef struct packed {
    logic open, text;
    logic [2:0] status;
    block_t claim, tag;
  } was_t;
  was_t was_q, was_q2, was_q3;
  always_ff @(posedge clk_i) begin
    was_q <= '{open: u_check.about.open, text: u_check.about.text, status: u_check.about.status,
        claim: u_check.claim,
               tag: u_check.hash ^ u_check.mask};
    was_q2 <= was_q;
    was_q3 <= was_q2;
  end
  assign tag  = was_q3.tag[8*TagBytes-1:0];
  assign same = tag == was_q3.claim[8*TagBytes-1:0];

  assign right_o = !rst_ni || (
      verdict.open == was_q3.open && verdict.text == was_q3.text
      && (verdict.tag == (!was_q3.open && was_q3.status == StatusOk ? 128'(tag) : '0))
      && (verdict.authentic == (was_q3.open && was_q3.status == StatusOk && same))
      && (verdict.status == (was_q3.status != StatusOk ? status_e'(was_q3.status)
          : was_q3.open && !same ? StatusForged : StatusOk)));

endmodule
