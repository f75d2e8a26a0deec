// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The beats of the packets to come, one a cycle: each says whether it is its packet's last
// (formal/packet_beats_proof.sv).

module packet_beats
  import sealwright_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,  // a packet waits
  input  logic              only_i,   // it has one beat
  input  logic [BlockW-1:0] beats_i,  // it has one beat more than this
  output logic              load_o,   // the packet is taken
  output logic              valid_o,
  output logic              last_o,
  input  logic              ready_i
);

  logic [BlockW-1:0] left_q;  // beats of the packet after this one
  logic goes, ends;

  assign goes   = valid_o && ready_i;
  assign ends   = goes && last_o;
  assign load_o = valid_i && (!valid_o || ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= valid_i || (valid_o && !ends);
  end
  // Without a packet these follow the inputs, valid or not: valid_i is late in the cycle.
  always_ff @(posedge clk_i) begin
    if (!valid_o || goes) begin
      {last_o, left_q} <= !valid_o || last_o ? {only_i, beats_i}
          : {left_q == BlockW'(1), left_q - BlockW'(1)};
    end
  end

endmodule
