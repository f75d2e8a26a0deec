// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gives every packet exactly as many beats as its command says, however many its frame has: missing
// beats are added, surplus ones dropped. Every packet takes one whole frame
// (formal/frame_fit_proof.sv proves both).

module frame_fit (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic next_valid_i, // a beat is to come
  input  logic next_last_i,  // it is its packet's last
  output logic load_o,       // it is taken
  input  logic s_valid_i,
  output logic s_ready_o,
  input  logic s_last_i,
  input  logic full_i,
  output logic push_o,       // a beat of the packet goes on
  output logic short_o,      // the frame does not have that beat
  output logic long_o        // it is the packet's last, but not the frame's
);

  logic busy_d, fill_d, drop_d, busy_q, fill_q, drop_q, final_q, take, early;

  // What ready says goes to every bit of the port, far away: by a register of its own, which the
  // tools must not merge with those that it repeats.
  (* keep *) logic may_q;
  assign s_ready_o = !full_i && may_q;
  assign take      = s_valid_i && !full_i && (drop_q || (busy_q && !fill_q));
  assign push_o    = !full_i && !drop_q && busy_q && (fill_q || s_valid_i);
  assign early     = take && !drop_q && s_last_i && !final_q;
  assign long_o    = take && !drop_q && !s_last_i && final_q;
  assign short_o   = fill_q;
  assign load_o    = next_valid_i && (!busy_q || push_o);

  always_comb begin
    busy_d = next_valid_i || (busy_q && !push_o);
    fill_d = fill_q ? !(push_o && final_q) : early;
    drop_d = drop_q ? !(take && s_last_i) : long_o;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, fill_q, drop_q, may_q} <= '0;
    else {busy_q, fill_q, drop_q, may_q} <= {busy_d, fill_d, drop_d, drop_d || (busy_d && !fill_d)};
  end
  always_ff @(posedge clk_i) if (!busy_q || push_o) final_q <= next_last_i;

endmodule
