// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gives every packet exactly as many beats as its command says, however many its frame has: missing
// beats are added, surplus ones dropped. Every packet takes one whole frame
// (formal/frame_fit_proof.sv proves both).

module frame_fit
  import sealwright_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              next_valid_i, // a packet waits
  input  logic              next_only_i,  // it has one beat
  input  logic [BlockW-1:0] next_beats_i, // it has one beat more than this
  output logic              load_o,       // the packet is taken
  input  logic              s_valid_i,
  output logic              s_ready_o,
  input  logic              s_last_i,
  input  logic              full_i,
  output logic              push_o,       // a beat of the packet goes on
  output logic              short_o,      // the frame does not have that beat
  output logic              long_o        // it is the packet's last, but not the frame's
);

  logic busy_d, fill_d, drop_d, busy_q, fill_q, drop_q, final_q, take, ends, early;
  logic [BlockW-1:0] left_q;  // beats of the packet after this one

  // What ready says goes to every bit of the port, far away: by a register of its own, which the
  // tools must not merge with those that it repeats.
  (* keep *) logic may_q;
  assign s_ready_o = !full_i && may_q;
  assign take      = s_valid_i && !full_i && (drop_q || (busy_q && !fill_q));
  assign push_o    = (take && !drop_q) || (fill_q && !full_i);
  assign ends      = push_o && final_q;
  assign early     = take && !drop_q && s_last_i && !final_q;
  assign long_o    = take && !drop_q && !s_last_i && final_q;
  assign short_o   = fill_q;
  assign load_o    = next_valid_i && (!busy_q || ends);

  always_comb begin
    busy_d = next_valid_i || (busy_q && !ends);
    fill_d = fill_q ? !ends : early;
    drop_d = drop_q ? !(take && s_last_i) : long_o;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, fill_q, drop_q, may_q} <= '0;
    else {busy_q, fill_q, drop_q, may_q} <= {busy_d, fill_d, drop_d, drop_d || (busy_d && !fill_d)};
  end
  // Without a packet these follow what may come: whether one does is known late in the cycle.
  always_ff @(posedge clk_i) begin
    if (!busy_q || push_o) begin
      {final_q, left_q} <= !busy_q || final_q ? {next_only_i, next_beats_i}
          : {left_q == BlockW'(1), left_q - BlockW'(1)};
    end
  end

endmodule
