// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every packet has as many beats as it says, for ever: the last one, and no other, says so.

module packet_beats_proof
  import sealwright_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic [BlockW-1:0] beats_i,
  input  logic              ready_i,
  output logic              right_o
);

  logic load, valid, last;
  packet_beats u_beats (
    .clk_i, .rst_ni, .valid_i, .only_i(beats_i == '0), .beats_i, .load_o(load), .valid_o(valid),
    .last_o(last), .ready_i
  );

  // Beside it, counted plainly: the packet's beats and those that went.
  logic held_q, goes, ends;
  logic [BlockW-1:0] beats_q, had_q;
  assign goes = valid && ready_i;
  assign ends = goes && had_q == beats_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= load || (held_q && !ends);
  end
  always_ff @(posedge clk_i) begin
    if (load) {beats_q, had_q} <= {beats_i, {BlockW{1'b0}}};
    else if (goes) had_q <= had_q + BlockW'(1);
  end

  assign right_o = !rst_ni
      || (valid == held_q && !(load && held_q && !ends) && (load || held_q || !valid_i)
      && (!held_q || (had_q <= beats_q && u_beats.left_q == beats_q - had_q
      && last == (had_q == beats_q))));

endmodule
