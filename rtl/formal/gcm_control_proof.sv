// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What every beat of a packet of GCM is, for ever and for packets of every length, beside the
// plainest count: block p of the frame is there if p is less than the number of blocks, holds
// associated data if p is less than theirs, and a last block has the bytes that the lengths say.
//
// The exponent is that of ghash_stride: Lanes * Depth while a beat comes Depth beats later, and to
// the block behind all others from there on. From the first to the last beat of a chain they add up
// to the number of blocks from the first one to that block, which is the power of H that SP 800-38D
// gives it.

module gcm_control_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Depth = 6,
  localparam int unsigned LaneW = $clog2(Lanes),
  localparam int unsigned ExpW  = $clog2(Lanes * Depth + 2)
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

  typedef struct packed {
    logic slot, open, refused, has_text, text, ends;
    logic [Lanes-1:0] lane;
    logic [16*Lanes-1:0] keep;
    logic [ExpW-1:0] exponent;
    logic take, fold;
  } beat_t;
  beat_t beat;
  logic ready, valid;
  gcm_control #(.Lanes(Lanes), .Depth(Depth), .Slots(2)) u_control (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .slot_i, .lengths_i(lengths), .go_i,
    .valid_o(valid), .slot_o(beat.slot), .open_o(beat.open), .refused_o(beat.refused),
    .has_text_o(beat.has_text), .text_o(beat.text), .end_o(beat.ends), .lane_o(beat.lane),
    .keep_o(beat.keep), .exponent_o(beat.exponent), .take_o(beat.take), .fold_o(beat.fold)
  );

  // ---- the packet under way, counted plainly ----
  logic busy_q, goes, ends;
  logic slot_q;
  lengths_t of_q;
  logic [BlockW-1:0] beat_q, at;  // its beat, from 0, and that beat's first block
  assign at   = beat_q << LaneW;
  assign goes = busy_q && go_i;
  assign ends = goes && beat_q == of_q.beats;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= u_control.load || (busy_q && !ends);
  end
  always_ff @(posedge clk_i) begin
    if (u_control.load) begin
      {slot_q, of_q} <= {u_control.came_slot, u_control.next};
      beat_q <= '0;
    end else if (goes) begin
      beat_q <= beat_q + BlockW'(1);
    end
  end

  beat_t wanted, wanted_q, wanted_q2, wanted_q3;
  logic [3:1] goes_q;
  logic fold, fits;
  assign fold = of_q.beats - beat_q < BlockW'(Depth);
  assign fits = !fold || of_q.blocks - at <= BlockW'(Lanes * Depth);
  always_comb begin
    automatic logic [BlockW-1:0] place;
    automatic logic there, ad;
    wanted = '{slot: slot_q, open: of_q.open, refused: of_q.refused, has_text: of_q.has_text,
        ends: beat_q == of_q.beats, take: beat_q >= BlockW'(Depth), fold: fold,
        exponent: fold ? ExpW'(of_q.blocks - at) + ExpW'(1) : ExpW'(Lanes * Depth), default: '0};
    for (int l = 0; l < Lanes; l++) begin
      place = at + BlockW'(l);
      there = place < of_q.blocks;
      ad    = place < of_q.ad_blocks;
      wanted.lane[l] = there && !ad;
      for (int i = 0; i < 16; i++) begin
        wanted.keep[16*l+i] = there && !(
            (place + BlockW'(1) == of_q.ad_blocks && of_q.ad_tail != '0 && 4'(i) >= of_q.ad_tail)
            || (place + BlockW'(1) == of_q.blocks && of_q.has_text && of_q.text_tail != '0
            && 4'(i) >= of_q.text_tail));
      end
    end
    wanted.text = |wanted.lane;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) goes_q <= '0;
    else goes_q <= {goes_q[2:1], goes};
  end
  always_ff @(posedge clk_i) {wanted_q, wanted_q2, wanted_q3} <= {wanted, wanted_q, wanted_q2};

  // ---- what is true in every cycle ----
  function automatic logic whole(lengths_t of);
    return of.blocks <= BlockW'(8192) && of.ad_blocks <= of.blocks
        && of.has_text == (of.blocks != of.ad_blocks) && of.beats == beats_of(of.blocks);
  endfunction
  // What the slice holds: the slot, the lengths, and two comparisons of them.
  typedef struct packed {
    logic slot;
    lengths_t lengths;
    logic last, fold;
  } came_t;
  function automatic logic compared(came_t came);
    return whole(came.lengths) && came.last == (came.lengths.beats == '0)
        && came.fold == (came.lengths.beats < BlockW'(Depth));
  endfunction

  logic counts;
  assign counts = u_control.now_q.blocks == of_q.blocks - at
      && u_control.now_q.beats == of_q.beats - beat_q
      && u_control.now_q.ad_blocks == (of_q.ad_blocks > at ? of_q.ad_blocks - at : '0)
      && {u_control.now_q.open, u_control.now_q.refused, u_control.now_q.has_text,
          u_control.now_q.ad_tail, u_control.now_q.text_tail} == {of_q.open, of_q.refused,
          of_q.has_text, of_q.ad_tail, of_q.text_tail} && u_control.slot_q == slot_q
      && u_control.last_q == (beat_q == of_q.beats) && u_control.fold_q == fold
      && 32'(u_control.group_q) == (beat_q > BlockW'(Depth) ? Depth : 32'(beat_q));
  assign right_o = !rst_ni || (
      (!u_control.u_came.valid_o || compared(came_t'(u_control.u_came.data_o)))
      && (ready || (u_control.u_came.valid_o && compared(came_t'(u_control.u_came.spare_q))))
      && u_control.busy_q == busy_q && u_control.room == (!busy_q || ends)
      && u_control.load == (u_control.u_came.valid_o && (!busy_q || ends))
      && (!busy_q || (whole(of_q) && beat_q <= of_q.beats && counts && fits))
      && valid == goes_q[3] && (!valid || beat == wanted_q3));

endmodule
