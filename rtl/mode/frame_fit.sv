// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Passes on exactly as many beats of each packet as its command implies, however many its frame
// has: missing beats are added, surplus ones dropped. Every packet consumes one whole frame
// (formal/frame_fit_proof.sv proves both). A frame ends with its last beat, or at a word that is no
// beat and says so.

module frame_fit #(
  parameter bit Numbered = 1'b0  // s_ended_i has a meaning
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic next_valid_i, // a beat is expected
  input  logic next_last_i,  // it is the last beat of its packet
  output logic load_o,       // takes over that expected beat
  input  logic s_valid_i,
  output logic s_ready_o,
  input  logic s_last_i,
  input  logic s_ended_i,    // this is no beat: the frame has ended
  input  logic full_i,
  output logic push_o,       // passes on a beat of the packet
  output logic short_o,      // that beat is added: the frame has ended
  output logic long_o        // that beat is the packet's last, but not the frame's
);

  logic busy_d, fill_d, drop_d, busy_q, fill_q, drop_q, final_q, take, early;

  // beat: the word is one; closes: its frame has ended; whole: with all beats of its packet
  logic beat, closes, whole;
  if (Numbered) begin : gen_numbered
    assign beat   = s_valid_i && !s_ended_i;
    assign closes = s_last_i || s_ended_i;
    assign whole  = final_q && !s_ended_i;
  end else begin : gen_plain
    logic unused_ended;
    assign unused_ended = s_ended_i;
    assign beat         = s_valid_i;
    assign closes       = s_last_i;
    assign whole        = final_q;
  end

  // Ready fans out to every bit of the port, far away: it has a register of its own, which the
  // tools must not merge with those that it duplicates.
  (* keep *) logic may_q;
  assign s_ready_o = !full_i && may_q;
  assign take      = s_valid_i && !full_i && (drop_q || (busy_q && !fill_q));
  assign push_o    = !full_i && !drop_q && busy_q && (fill_q || beat);
  assign early     = take && !drop_q && closes && !whole;
  assign long_o    = take && !drop_q && !closes && final_q;
  assign short_o   = fill_q;
  assign load_o    = next_valid_i && (!busy_q || push_o);

  always_comb begin
    busy_d = next_valid_i || (busy_q && !push_o);
    fill_d = fill_q ? !(push_o && final_q) : early;
    drop_d = drop_q ? !(take && closes) : long_o;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, fill_q, drop_q, may_q} <= '0;
    else {busy_q, fill_q, drop_q, may_q} <= {busy_d, fill_d, drop_d, drop_d || (busy_d && !fill_d)};
  end
  always_ff @(posedge clk_i) if (!busy_q || push_o) final_q <= next_last_i;

endmodule
