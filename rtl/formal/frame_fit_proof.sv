// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Frames and packets stay together for ever, whatever comes in: a packet has exactly its beats,
// begins with the first beat of a frame, if that has any, and has taken all of it before the next
// packet takes anything; a beat is short or long exactly if the frame is. A frame ends with its
// last beat, or at a word that is no beat.

module frame_fit_proof #(
  parameter bit Numbered = 1'b0  // only then are there words that are no beat
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic next_valid_i,
  input  logic next_last_i,
  input  logic s_valid_i,
  input  logic s_last_i,
  input  logic s_ended_i,
  input  logic full_i,
  output logic right_o
);

  logic load, ready, push, short_beat, long_beat, take, ends, s_ended, closes;
  frame_fit #(.Numbered(Numbered)) u_fit (
    .clk_i, .rst_ni, .next_valid_i, .next_last_i, .load_o(load), .s_valid_i, .s_ready_o(ready),
    .s_last_i, .s_ended_i(s_ended), .full_i, .push_o(push), .short_o(short_beat), .long_o(long_beat)
  );
  assign take    = s_valid_i && ready;
  assign s_ended = Numbered && s_ended_i;
  assign closes  = s_last_i || s_ended;

  // Beside it, counted plainly: the beat that is to come, and whether its packet has had one;
  // whether the stream is between two frames, and how many frames and packets have ended
  // (modulo 4).
  logic held_q, last_q, begun_q, between_q;
  logic [1:0] frames_q, packets_q;
  assign ends = push && last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {held_q, begun_q} <= '0;
      between_q <= 1'b1;
      frames_q  <= '0;
      packets_q <= '0;
    end else begin
      held_q <= load || (held_q && !push);
      if (push) begun_q <= !last_q;
      if (take) between_q <= closes;
      frames_q  <= frames_q + 2'(take && closes);
      packets_q <= packets_q + 2'(ends);
    end
  end
  always_ff @(posedge clk_i) if (load) last_q <= next_last_i;

  logic fits, states, claims, stands;
  assign fits = u_fit.busy_q == held_q && (!held_q || u_fit.final_q == last_q)
      && u_fit.may_q == (u_fit.drop_q || (u_fit.busy_q && !u_fit.fill_q));
  // Dropping is the rest of a frame whose packet has all its beats; filling is a packet whose frame
  // has ended.
  assign states = !(u_fit.fill_q && u_fit.drop_q) && (!u_fit.drop_q || (!between_q && !begun_q))
      && (!u_fit.fill_q || between_q)
      && (u_fit.fill_q || u_fit.drop_q || between_q == !begun_q)
      && frames_q - packets_q == (u_fit.fill_q ? 2'd1 : u_fit.drop_q ? 2'd3 : 2'd0);
  // A beat that counts and came: of the packet's own frame. A beat that is pushed and did not come:
  // short.
  assign claims = !push || (held_q && (short_beat ? !take : take && !s_ended
      && between_q == !begun_q && long_beat == (last_q && !s_last_i)));
  // Nothing waits without a reason: a beat that came, of a packet or to be dropped, is taken unless
  // the queue is full, and so is a beat that is filled up and one that is to come.
  assign stands = full_i || ((!held_q || u_fit.fill_q || u_fit.drop_q || !s_valid_i || push || take)
      && (!u_fit.drop_q || !s_valid_i || take) && (!u_fit.fill_q || !held_q || push)
      && (!next_valid_i || load || (held_q && !push)));
  assign right_o = !rst_ni
      || (fits && states && claims && stands && (!take || push || u_fit.drop_q || s_ended)
      && !(full_i && (push || take)) && !(load && held_q && !push));

endmodule
