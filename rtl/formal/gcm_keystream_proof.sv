// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The counter blocks of every packet of GCM, for ever and for all lengths, beside SP 800-38D read
// plainly: text block i, from 0, takes counter 2 + i, under its own packet's nonce and slot, in the
// lane of its place in the frame behind the associated data. A packet with text has as many beats
// as these take.
//
// The queues have one place (keystream_stubs.sv): the next packet waits while one goes.

module gcm_keystream_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  input  logic            slot_i,
  input  logic [95:0]     nonce_i,
  input  logic [LenW-1:0] ad_len_i,
  input  logic [LenW-1:0] text_len_i,
  input  logic            go_i,
  output logic            right_o
);

  typedef logic [BlockW-1:0] count_t;
  typedef struct packed {
    logic slot;
    logic [95:0] nonce;
    logic [LenW-1:0] ad_len, text_len;
  } packet_t;

  // ---- what the lengths in bytes say ----
  function automatic count_t blocks(logic [LenW-1:0] bytes);
    return count_t'((32'(bytes) + 15) / 16);
  endfunction
  function automatic count_t lead(packet_t packet);  // lanes before the text
    return count_t'(32'(blocks(packet.ad_len)) % Lanes);
  endfunction
  function automatic count_t beats(packet_t packet);
    return count_t'((32'(lead(packet)) + 32'(blocks(packet.text_len)) + Lanes - 1) / Lanes);
  endfunction

  // ---- one packet waits, one goes ----
  logic waits_q, comes, busy_q, goes, ends;
  logic [2:0] age_q, since_q;  // cycles since it came, since it began: at most 5
  packet_t next_q, now_q;
  count_t beat_q;  // its beat, from 0
  logic valid, full;
  block_t [Lanes-1:0] block;
  logic slot;
  assign comes = valid_i && !waits_q && text_len_i != '0;
  gcm_keystream #(.Lanes(Lanes), .Slots(2)) u_stream (
    .clk_i, .rst_ni, .valid_i(valid_i && !waits_q), .full_o(full), .slot_i, .nonce_i, .ad_len_i,
    .text_len_i, .go_i(valid && go_i), .valid_o(valid), .slot_o(slot), .block_o(block)
  );
  assign goes = busy_q && go_i;
  assign ends = goes && beat_q + count_t'(1) == beats(now_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {waits_q, busy_q, age_q, since_q} <= '0;
    else begin
      waits_q <= comes || (waits_q && !u_stream.load);
      busy_q  <= u_stream.load || (busy_q && !ends);
      age_q   <= comes ? 3'd1 : age_q == 3'd5 ? age_q : age_q + 3'd1;
      since_q <= u_stream.load ? 3'd1 : since_q == 3'd5 ? since_q : since_q + 3'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (comes) next_q <= '{slot: slot_i, nonce: nonce_i, ad_len: ad_len_i, text_len: text_len_i};
    if (u_stream.load) {now_q, beat_q} <= {next_q, count_t'(0)};
    else if (goes) beat_q <= beat_q + count_t'(1);
  end

  // ---- what a beat must be, Late cycles later ----
  logic [3:1] goes_q;
  packet_t q1, q2, q3;
  count_t first, first_q1, first_q2, first_q3;  // the counter of lane 0
  assign first = count_t'(2) - lead(now_q) + count_t'(32'(beat_q) * Lanes);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) goes_q <= '0;
    else goes_q <= {goes_q[2:1], goes};
  end
  always_ff @(posedge clk_i) begin
    {q1, q2, q3} <= {now_q, q1, q2};
    {first_q1, first_q2, first_q3} <= {first, first_q1, first_q2};
  end
  logic blocks_right;
  always_comb begin
    automatic count_t counter;
    blocks_right = slot == q3.slot;
    for (int l = 0; l < Lanes; l++) begin
      counter = first_q3 + count_t'(l);
      // The counter is the last four bytes, most significant first.
      blocks_right = blocks_right
          && block[l] == {counter[7:0], 2'b0, counter[BlockW-1:8], 16'b0, q3.nonce};
    end
  end

  // ---- what is true in every cycle ----
  logic in_queue, queued, going, counts, named;
  assign in_queue = waits_q && age_q >= 3'd4;
  assign queued = u_stream.came == in_queue && (!in_queue || (
      u_stream.came_first == count_t'(2) - lead(next_q)
      && 32'(u_stream.came_left) == 32'(beats(next_q))
      && u_stream.came_last == (beats(next_q) == count_t'(1))
      && u_stream.u_nonces.u_word.valid_o
      && u_stream.u_nonces.word_q == {next_q.slot, next_q.nonce}));
  assign going = valid == busy_q && u_stream.load == (in_queue && (!busy_q || ends))
      && (!waits_q || (next_q.text_len != '0 && age_q != '0))
      && (!busy_q || (beat_q < beats(now_q) && now_q.text_len != '0 && since_q != '0
      && 32'(u_stream.left_q) == 32'(beats(now_q) - beat_q)
      && u_stream.last_q == (beat_q + count_t'(1) == beats(now_q))));
  // The counter is a cycle behind.
  assign counts = !busy_q || first == (!u_stream.moves_q ? u_stream.counter_q
      : u_stream.fresh_q ? u_stream.first_q : u_stream.counter_q + count_t'(Lanes));
  assign named = !busy_q || since_q < 3'd4
      || {u_stream.slot_o, u_stream.nonce_q} == {now_q.slot, now_q.nonce};
  assign right_o = !rst_ni || (queued && going && counts && named
      && (!goes_q[3] || blocks_right));

endmodule
