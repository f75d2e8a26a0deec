// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Describes every beat of a packet. All is computed from the packet's lengths, ahead of the data.
//
// exponent_o is the power of H for the first block of a beat: the number of blocks from there to
// the first block of the beat Depth beats later. In the last Depth beats it is the number of blocks
// to the end, plus one for the length block, which is hashed beside the last beat (ghash_stride).

module gcm_control
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Depth = 6,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots),
  localparam int unsigned ExpW  = $clog2(Lanes * Depth + 2)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [SlotW-1:0]    slot_i,
  input  lengths_t            lengths_i,
  input  logic                go_i,        // there is room for beats
  output logic                valid_o,
  output logic [SlotW-1:0]    slot_o,
  output logic                open_o,
  output logic                refused_o,
  output logic                has_text_o,  // the packet has text
  output logic                text_o,      // the beat has text: it needs a beat of keystream
  output logic                end_o,       // the packet's last beat
  output logic [Lanes-1:0]    lane_o,      // lanes with text
  output logic [16*Lanes-1:0] keep_o,
  output logic [ExpW-1:0]     exponent_o,
  output logic                take_o,
  output logic                fold_o
);

  localparam int unsigned All    = Lanes * Depth;
  localparam int unsigned GroupW = $clog2(Depth + 1);

  // What remains of the packet. Comparisons of the counts with constants are computed a cycle
  // ahead.
  logic came, busy_q, load, ends, room;
  logic [SlotW-1:0] came_slot, slot_q;
  lengths_t next, now_q;
  logic last_q, fold_q;  // one beat is left; Depth beats or fewer are left
  logic came_last, came_fold;
  logic [GroupW-1:0] group_q;

  logic last_d, fold_d;
  assign last_d = lengths_i.beats == '0;
  assign fold_d = lengths_i.beats < BlockW'(Depth);
  slice #(.W(SlotW + $bits(lengths_t) + 2)) u_came (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i({slot_i, lengths_i, last_d, fold_d}),
    .valid_o(came), .ready_i(room), .data_o({came_slot, next, came_last, came_fold})
  );

  assign ends = go_i && last_q;
  assign room = !busy_q || ends;
  assign load = came && room;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= load || (busy_q && !ends);
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      slot_q  <= came_slot;
      now_q   <= next;
      last_q  <= came_last;
      fold_q  <= came_fold;
      group_q <= '0;
    end else if (go_i) begin
      last_q          <= now_q.beats == BlockW'(1);
      fold_q          <= now_q.beats <= BlockW'(Depth);
      now_q.beats     <= now_q.beats - BlockW'(1);
      now_q.blocks    <= now_q.blocks - BlockW'(Lanes);
      now_q.ad_blocks <= now_q.ad_blocks > BlockW'(Lanes) ? now_q.ad_blocks - BlockW'(Lanes) : '0;
      if (group_q != GroupW'(Depth)) group_q <= group_q + GroupW'(1);
    end
  end

  // First register: flags, and one bit per lane. Second: byte masks of the last blocks. Third: the
  // byte mask of the beat.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, refused, has_text, ends, take, fold;
    logic [ExpW-1:0] exponent;
    // lanes with: a block, associated data, the last block of either kind
    logic [Lanes-1:0] there, ad, ad_end, text_end;
    logic [3:0] ad_tail, text_tail;
  } step_t;
  step_t step_q, step_q2;
  logic [2:0] valid_q;
  logic [15:0] ad_keep_q, text_keep_q;

  function automatic logic [15:0] bytes(logic [3:0] tail);
    for (int i = 0; i < 16; i++) bytes[i] = tail == '0 || 4'(i) < tail;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], busy_q && go_i};
  end
  assign valid_o = valid_q[2];

  always_ff @(posedge clk_i) begin
    step_q.slot      <= slot_q;
    step_q.open      <= now_q.open;
    step_q.refused   <= now_q.refused;
    step_q.has_text  <= now_q.has_text;
    step_q.ends      <= last_q;
    step_q.take      <= group_q == GroupW'(Depth);
    step_q.fold      <= fold_q;
    step_q.exponent  <= fold_q ? ExpW'(now_q.blocks) + ExpW'(1) : ExpW'(All);
    step_q.ad_tail   <= now_q.ad_tail;
    step_q.text_tail <= now_q.text_tail;
    for (int l = 0; l < Lanes; l++) begin
      step_q.there[l]    <= now_q.blocks > BlockW'(l);
      step_q.ad[l]       <= now_q.ad_blocks > BlockW'(l);
      step_q.ad_end[l]   <= now_q.ad_blocks == BlockW'(l + 1);
      step_q.text_end[l] <= now_q.blocks == BlockW'(l + 1) && now_q.has_text;
    end

    step_q2     <= step_q;
    ad_keep_q   <= bytes(step_q.ad_tail);
    text_keep_q <= bytes(step_q.text_tail);

    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        keep_o[16*l+i] <= step_q2.there[l] && (!step_q2.ad_end[l] || ad_keep_q[i])
            && (!step_q2.text_end[l] || text_keep_q[i]);
      end
    end
    slot_o     <= step_q2.slot;
    open_o     <= step_q2.open;
    refused_o  <= step_q2.refused;
    has_text_o <= step_q2.has_text;
    text_o     <= |(step_q2.there & ~step_q2.ad);
    end_o      <= step_q2.ends;
    lane_o     <= step_q2.there & ~step_q2.ad;
    exponent_o <= step_q2.exponent;
    take_o     <= step_q2.take;
    fold_o     <= step_q2.fold;
  end

endmodule
