// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Frames and packets stay together for ever, whatever comes in: a packet has exactly its beats,
// begins with the first beat of a frame and has taken all of it before the next packet takes
// anything; a beat is short or long exactly if the frame is.

module frame_fit_proof
  import sealwright_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              next_valid_i,
  input  logic [BlockW-1:0] next_beats_i,
  input  logic              s_valid_i,
  input  logic              s_last_i,
  input  logic              full_i,
  output logic              right_o
);

  logic load, ready, push, short_beat, long_beat, take, ends;
  frame_fit u_fit (
    .clk_i, .rst_ni, .next_valid_i, .next_only_i(next_beats_i == '0), .next_beats_i, .load_o(load),
    .s_valid_i, .s_ready_o(ready), .s_last_i, .full_i, .push_o(push), .short_o(short_beat),
    .long_o(long_beat)
  );
  assign take = s_valid_i && ready;

  // Beside it, counted plainly: the packet's beats and those that it has had; whether the stream is
  // between two frames, and how many frames and packets have begun and ended (modulo 4).
  logic held_q, between_q;
  logic [BlockW-1:0] beats_q, had_q;
  logic [1:0] frames_q, packets_q;
  assign ends = push && had_q == beats_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q    <= 1'b0;
      between_q <= 1'b1;
      frames_q  <= '0;
      packets_q <= '0;
    end else begin
      held_q <= load || (held_q && !ends);
      if (take) between_q <= s_last_i;
      frames_q  <= frames_q + 2'(take && s_last_i);
      packets_q <= packets_q + 2'(ends);
    end
  end
  always_ff @(posedge clk_i) begin
    if (load) {beats_q, had_q} <= {next_beats_i, {BlockW{1'b0}}};
    else if (push) had_q <= had_q + BlockW'(1);
  end

  logic fits, states, claims;
  assign fits = u_fit.busy_q == held_q
      && u_fit.may_q == (u_fit.drop_q || (u_fit.busy_q && !u_fit.fill_q))
      && (!held_q || (had_q <= beats_q && u_fit.left_q == beats_q - had_q
      && u_fit.final_q == (u_fit.left_q == '0)));
  // Dropping is the rest of a frame whose packet has all its beats; filling is a packet whose frame
  // has ended.
  assign states = !(u_fit.fill_q && u_fit.drop_q) && (!u_fit.drop_q || !between_q)
      && (!u_fit.fill_q || (held_q && between_q))
      && (!u_fit.drop_q || !held_q || had_q == '0)
      && (u_fit.fill_q || u_fit.drop_q || between_q == (!held_q || had_q == '0))
      && frames_q - packets_q == (u_fit.fill_q ? 2'd1 : u_fit.drop_q ? 2'd3 : 2'd0);
  // A beat that counts and came: of the packet's own frame. A beat that is pushed and did not come:
  // short.
  assign claims = !push || (held_q && (short_beat ? !take : take && between_q == (had_q == '0)
      && long_beat == (ends && !s_last_i)));
  assign right_o = !rst_ni
      || (fits && states && claims && (!take || push || u_fit.drop_q) && !(full_i && (push || take))
      && !(load && held_q && !ends));

endmodule
