// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What every beat of a packet of OCB is, and the offsets of its blocks, for ever and for packets of
// every length, beside RFC 7253 read plainly: one block after the other, Offset_i = Offset_{i-1} +
// L_ntz(i), a last partial one under Offset_* = Offset_m + L_*; the chain of the associated data
// from zero, that of the text from the nonce's offset.
//
// Every bit of a block goes the same way: the values of L and of the nonces have one bit here, and
// any value.

module ocb_control_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic              slot_i,
  input  logic              open_i,
  input  logic              refused_i,
  input  logic [3:0]        ad_tail_i,
  input  logic [3:0]        text_tail_i,
  input  logic [BlockW-1:0] ad_blocks_i,
  input  logic [BlockW-1:0] blocks_i,
  input  logic              offset_i,
  input  logic [17:0]       values_i,
  input  logic              go_i,
  output logic              right_o
);

  // ---- packet_lengths (formal/packet_lengths_proof.sv) ----
  function automatic logic [BlockW-1:0] beats_of(logic [BlockW-1:0] blocks);
    return blocks == '0 ? '0 : (blocks - BlockW'(1)) >> LaneW;
  endfunction

  logic [BlockW-1:0] ad_blocks, blocks;
  lengths_t lengths;
  assign blocks    = blocks_i > BlockW'(8192) ? '0 : blocks_i;
  assign ad_blocks = ad_blocks_i > blocks ? blocks : ad_blocks_i;
  assign lengths   = '{open: open_i, refused: refused_i, has_text: blocks != ad_blocks,
      ad_tail: ad_tail_i, text_tail: text_tail_i, ad_blocks: ad_blocks, blocks: blocks,
      beats: beats_of(blocks)};

  // ---- ocb_tables: any values, which are there since the reset ----
  logic [15:0] l_q;
  logic star_q, dollar_q, ln_q, ln_q2;
  logic [3:0] ntz;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {l_q, star_q, dollar_q} <= values_i;
    {ln_q, ln_q2} <= {l_q[ntz], ln_q};
  end

  typedef struct packed {
    logic slot, open, out, has_text, ends;
    logic [Lanes-1:0] lane, full, part;
    logic [16*Lanes-1:0] keep;
  } beat_t;
  beat_t beat;
  logic ready, valid, unused_table_slot;
  block_t [Lanes-1:0] offset;
  block_t last;
  ocb_control #(.Lanes(Lanes), .Slots(2)) u_control (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .slot_i, .lengths_i(lengths),
    .offset_i(128'(offset_i)), .go_i, .table_slot_o(unused_table_slot), .table_ntz_o(ntz),
    .star_i(128'(star_q)), .dollar_i(128'(dollar_q)), .l0_i(128'(l_q[0])), .l1_i(128'(l_q[1])),
    .ln_i(128'(ln_q2)), .valid_o(valid), .slot_o(beat.slot), .open_o(beat.open),
    .out_o(beat.out), .has_text_o(beat.has_text), .end_o(beat.ends), .lane_o(beat.lane),
    .full_o(beat.full), .part_o(beat.part), .keep_o(beat.keep), .offset_o(offset), .final_o(last)
  );

  // ---- the packet under way, counted plainly ----
  typedef struct packed {
    logic slot;
    lengths_t lengths;
    logic [BlockW-1:0] beat;  // from 0
  } place_t;
  logic load, busy_q, goes, ends;
  place_t now_q;
  assign load = valid_i && ready;
  assign goes = busy_q && go_i;
  assign ends = goes && now_q.beat == now_q.lengths.beats;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= load || (busy_q && !ends);
  end
  always_ff @(posedge clk_i) begin
    if (load) now_q <= '{slot: slot_i, lengths: lengths, beat: '0};
    else if (goes) now_q.beat <= now_q.beat + BlockW'(1);
  end

  // ---- a beat, once its nonce's offset is there ----
  logic [5:1] goes_q;
  place_t q1, q2, q3, q4;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) goes_q <= '0;
    else goes_q <= {goes_q[4:1], goes};
  end
  always_ff @(posedge clk_i) {q1, q2, q3, q4} <= {now_q, q1, q2, q3};

  function automatic logic value(logic [15:0] l, logic [BlockW-1:0] i);
    value = l[15];
    for (int n = BlockW - 1; n >= 0; n--) if (i[n]) value = l[n];
  endfunction

  logic ad_q, text_q;  // the offsets of the last blocks of both chains, of the packet so far
  logic ad, text;
  beat_t wanted, wanted_q;
  logic [Lanes-1:0] wanted_offset, wanted_offset_q;
  logic wanted_last, wanted_last_q;
  logic [BlockW-1:0] first;
  assign first = q4.beat << LaneW;
  always_comb begin
    automatic logic [BlockW-1:0] place;
    automatic lengths_t of = q4.lengths;
    automatic logic is_ad, is_text, part, add;
    wanted = '{slot: q4.slot, open: of.open, ends: q4.beat == of.beats,
        has_text: of.has_text && !of.refused, default: '0};
    wanted_offset = '0;
    ad   = q4.beat == '0 ? 1'b0 : ad_q;
    text = q4.beat == '0 ? u_control.start_q[0] : text_q;
    for (int l = 0; l < Lanes; l++) begin
      place   = first + BlockW'(l);
      is_ad   = place < of.ad_blocks;
      is_text = !is_ad && place < of.blocks;
      part    = (is_ad && place + BlockW'(1) == of.ad_blocks && of.ad_tail != '0)
          || (is_text && place + BlockW'(1) == of.blocks && of.text_tail != '0);
      add     = part ? star_q
          : value(l_q, place + BlockW'(1) - (is_ad ? BlockW'(0) : of.ad_blocks));
      if (is_ad) ad ^= add;
      if (is_text) text ^= add;
      wanted_offset[l] = is_ad ? ad : text;
      wanted.lane[l]   = is_text;
      wanted.part[l]   = part;
      wanted.full[l]   = (is_ad || is_text) && !part;
      for (int i = 0; i < 16; i++)
        wanted.keep[16*l+i] = (is_ad || is_text)
            && (!part || 4'(i) < (is_ad ? of.ad_tail : of.text_tail));
    end
    wanted.out  = |wanted.lane && !of.refused;
    wanted_last = wanted.ends && (text ^ dollar_q);
  end
  always_ff @(posedge clk_i) begin
    if (goes_q[4]) {ad_q, text_q} <= {ad, text};
    {wanted_q, wanted_offset_q, wanted_last_q} <= {wanted, wanted_offset, wanted_last};
  end

  // The nonce's offset comes three cycles after its packet was taken, and stays for all its beats.
  logic [4:1] load_q;
  logic offset_q1, offset_q2, start_q, came_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {load_q, came_q} <= '0;
    else {load_q, came_q} <= {load_q[3:1], load, load_q[4]};
  end
  always_ff @(posedge clk_i)
    {offset_q1, offset_q2, start_q} <= {offset_i, offset_q1, u_control.start_q[0]};
  logic seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seen_q <= 1'b0;
    else seen_q <= 1'b1;
  end
  logic stays;
  assign stays = !seen_q || u_control.start_q[0] == (came_q ? offset_q2 : start_q);

  // ---- what is true in every cycle ----
  logic [BlockW-1:0] at, number, turn;
  lengths_t held;
  assign at     = now_q.beat << LaneW;
  assign held   = now_q.lengths;
  assign turn   = (held.ad_blocks + BlockW'(Lanes - 1)) >> LaneW;  // beats with associated data
  assign number = now_q.beat + BlockW'(1) - (held.ad_blocks > at ? BlockW'(0) : turn);

  logic whole, counts;
  assign whole = held.blocks <= BlockW'(8192) && held.ad_blocks <= held.blocks
      && held.has_text == (held.blocks != held.ad_blocks) && held.beats == beats_of(held.blocks)
      && now_q.beat <= held.beats;
  assign counts = u_control.now_q.blocks == held.blocks - at
      && u_control.now_q.beats == held.beats - now_q.beat
      && u_control.now_q.ad_blocks == (held.ad_blocks > at ? held.ad_blocks - at : '0)
      && {u_control.now_q.open, u_control.now_q.refused, u_control.now_q.has_text,
          u_control.now_q.ad_tail, u_control.now_q.text_tail} == {held.open, held.refused,
          held.has_text, held.ad_tail, held.text_tail} && u_control.slot_q == now_q.slot
      && u_control.last_q == (now_q.beat == held.beats)
      && u_control.first_q == (now_q.beat == '0) && u_control.text_first_q == (at <= held.ad_blocks)
      && u_control.ad_last_q == (held.ad_blocks <= at + BlockW'(Lanes))
      && (Lanes == 1 || 32'(u_control.turn_q) == 32'(held.ad_blocks) % Lanes)
      && u_control.number_q == number;

  // The loop holds the offset of the last lane, as long as its packet goes on.
  place_t then_q;      // of the beat that left it there
  logic left_q, loops;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) left_q <= 1'b0;
    else if (goes_q[4]) left_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (goes_q[4]) then_q <= q4;
  logic [BlockW-1:0] next;
  assign next  = (then_q.beat + BlockW'(1)) << LaneW;
  assign loops = !left_q || then_q.beat >= then_q.lengths.beats
      || u_control.loop_q[0] == (next <= then_q.lengths.ad_blocks ? ad_q : text_q);
  // Text that has not begun leaves its chain where it starts.
  logic begins;
  assign begins = !left_q || then_q.beat >= then_q.lengths.beats
      || next > then_q.lengths.ad_blocks || text_q == u_control.start_q[0];

  logic offsets;
  always_comb begin
    offsets = last[0] == wanted_last_q;
    for (int l = 0; l < Lanes; l++)
      if (wanted_q.full[l] || wanted_q.part[l])
        offsets = offsets && offset[l][0] == wanted_offset_q[l];
  end

  // From the beat that left the loop to the one that comes: each is the next one of its packet, or
  // a first one behind a last one.
  logic follows;
  always_comb begin
    automatic place_t prior = then_q, here;
    automatic logic some = left_q, there;
    follows = 1'b1;
    for (int i = 4; i >= 0; i--) begin
      unique case (i)
        4:       {there, here} = {goes_q[4], q4};
        3:       {there, here} = {goes_q[3], q3};
        2:       {there, here} = {goes_q[2], q2};
        1:       {there, here} = {goes_q[1], q1};
        default: {there, here} = {busy_q, now_q};
      endcase
      if (there) begin
        follows = follows && (here.beat == '0
            ? !some || prior.beat == prior.lengths.beats
            : some && {prior.slot, prior.lengths} == {here.slot, here.lengths}
                && prior.beat + BlockW'(1) == here.beat && here.beat <= here.lengths.beats);
        {prior, some} = {here, 1'b1};
      end
    end
    if (!busy_q && some) follows = follows && prior.beat == prior.lengths.beats;
  end
  assign right_o = !rst_ni || (
      u_control.busy_q == busy_q && ready == (!busy_q || ends) && stays
      && (!busy_q || (whole && counts)) && loops && begins && follows
      && valid == goes_q[5] && (!valid || (beat == wanted_q && offsets)));

endmodule
