// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Describes every beat of a packet, and computes its offsets, ahead of the data (RFC 7253, sections
// 4.1 and 4.2; + is XOR).
//
// Associated data and text each have a chain of offsets: Offset_i = Offset_{i-1} + L_ntz(i) for
// block i, and Offset_* = Offset_m + L_* for a last partial block. The chain of the associated data
// begins at zero, that of the text at the offset of the nonce. The offset of the tag is the last
// one of the text, plus L_$. A beat may hold the end of the first chain and the beginning of the
// second. Only the offset before a beat is a feedback loop, of one addition: each lane adds to it a
// sum of L_0, L_1, L_n and L_*, where n = ntz of the one index in the beat that is a multiple of
// Lanes.

module ocb_control
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [SlotW-1:0]    slot_i,
  input  lengths_t            lengths_i,
  input  block_t              offset_i,    // of the packet that was accepted Late cycles ago
  input  logic                go_i,        // there is room for beats
  // to and from ocb_tables, which answers two cycles later
  output logic [SlotW-1:0]    table_slot_o,
  output logic [3:0]          table_ntz_o,
  input  block_t              star_i,
  input  block_t              dollar_i,
  input  block_t              l0_i,
  input  block_t              l1_i,
  input  block_t              ln_i,
  // beats
  output logic                valid_o,
  output logic [SlotW-1:0]    slot_o,
  output logic                open_o,
  output logic                out_o,       // text of the beat is output
  output logic                has_text_o,  // text of its packet is output
  output logic                end_o,       // the packet's last beat
  output logic [Lanes-1:0]    lane_o,      // lanes with text
  output logic [Lanes-1:0]    full_o,      // lanes with 16 bytes
  output logic [Lanes-1:0]    part_o,      // lanes with fewer
  output logic [16*Lanes-1:0] keep_o,
  output block_t [Lanes-1:0]  offset_o,
  output block_t              final_o      // in the last beat: the offset of the tag
);

  localparam int unsigned LaneW = Lanes > 1 ? $clog2(Lanes) : 1;

  logic busy_q, load, ends, last_q, first_q, text_first_q, ad_last_q;
  logic [SlotW-1:0] slot_q;
  lengths_t now_q;
  logic [BlockW-1:0] number_q;  // that index, divided by Lanes: 1, 2, ...
  logic [LaneW-1:0] turn_q;     // the lane in which the text begins

  assign ends    = go_i && last_q;
  assign ready_o = !busy_q || ends;
  assign load    = valid_i && ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= load || (busy_q && !ends);
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      slot_q       <= slot_i;
      now_q        <= lengths_i;
      last_q       <= lengths_i.beats == '0;
      ad_last_q    <= lengths_i.ad_blocks <= BlockW'(Lanes);
      first_q      <= 1'b1;
      text_first_q <= 1'b1;
      number_q     <= BlockW'(1);
      turn_q       <= Lanes > 1 ? LaneW'(lengths_i.ad_blocks) : '0;
    end else if (go_i) begin
      last_q          <= now_q.beats == BlockW'(1);
      ad_last_q       <= now_q.ad_blocks <= BlockW'(2 * Lanes);
      first_q         <= 1'b0;
      text_first_q    <= text_first_q && now_q.ad_blocks >= BlockW'(Lanes);
      number_q        <= now_q.ad_blocks != '0 && ad_last_q ? BlockW'(1) : number_q + BlockW'(1);
      now_q.beats     <= now_q.beats - BlockW'(1);
      now_q.blocks    <= now_q.blocks - BlockW'(Lanes);
      now_q.ad_blocks <= ad_last_q ? '0 : now_q.ad_blocks - BlockW'(Lanes);
    end
  end

  // First register: flags, and one bit per lane.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, refused, has_text, ends, first, text_first;
    logic [Lanes-1:0] there, ad, ad_end, text_end;
    logic [3:0] ad_tail, text_tail;
    logic [LaneW-1:0] turn;
  } step_t;

  function automatic logic [3:0] ntz(logic [BlockW-1:0] n);
    ntz = 4'd15;
    for (int i = BlockW - 1; i >= 0; i--) if (n[i]) ntz = 4'(i + $clog2(Lanes));
  endfunction

  logic [4:1] valid_q;
  step_t step_q, step_q2, step_q3, step_q4;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid_o, valid_q} <= '0;
    else {valid_o, valid_q} <= {valid_q, busy_q && go_i};
  end
  always_ff @(posedge clk_i) begin
    step_q.slot       <= slot_q;
    step_q.open       <= now_q.open;
    step_q.refused    <= now_q.refused;
    step_q.has_text   <= now_q.has_text;
    step_q.ends       <= last_q;
    step_q.first      <= first_q;
    step_q.text_first <= text_first_q;
    step_q.ad_tail    <= now_q.ad_tail;
    step_q.text_tail  <= now_q.text_tail;
    step_q.turn       <= turn_q;
    for (int l = 0; l < Lanes; l++) begin
      step_q.there[l]    <= now_q.blocks > BlockW'(l);
      step_q.ad[l]       <= now_q.ad_blocks > BlockW'(l);
      step_q.ad_end[l]   <= now_q.ad_blocks == BlockW'(l + 1);
      step_q.text_end[l] <= now_q.blocks == BlockW'(l + 1) && now_q.has_text;
    end
    table_ntz_o <= ntz(number_q);
    step_q2 <= step_q;
    step_q3 <= step_q2;
    step_q4 <= step_q3;
  end
  assign table_slot_o = step_q.slot;

  // Second: lanes with fewer than 16 bytes, and the values of L that each lane adds to the offset
  // before the beat.
  typedef struct packed {
    logic star, n, one, zero;
  } sum_t;
  sum_t [Lanes-1:0] sum_d, sum_q2, sum_q3;
  sum_t end_d, end_q3;  // of the text's last lane, if it is in this beat
  logic [Lanes-1:0] part_d, part_q2, part_q3, part_q4;
  always_comb begin
    automatic sum_t all = '0;
    automatic logic [LaneW-1:0] place;
    for (int l = 0; l < Lanes; l++) begin
      part_d[l] = (step_q.ad_end[l] && step_q.ad_tail != '0)
          || (step_q.text_end[l] && step_q.text_tail != '0);
      if (l > 0 && step_q.ad[l > 0 ? l - 1 : 0] && !step_q.ad[l]) all = '0;  // the text begins here
      sum_d[l]      = all;
      sum_d[l].star = 1'b1;
      place = LaneW'(l + 1) - (step_q.ad[l] ? '0 : step_q.turn);  // the index, modulo Lanes
      if (Lanes == 1 || place == '0) all.n = !all.n;
      else if (place[0]) all.zero = !all.zero;
      else all.one = !all.one;
      if (!part_d[l]) sum_d[l] = all;
    end
  end

  always_comb begin
    end_d = '0;
    for (int l = 0; l < Lanes; l++) if (step_q2.text_end[l]) end_d = end_d | sum_q2[l];
  end

  // Third: the tables have answered; byte masks of the last blocks.
  logic [15:0] ad_keep_q3, text_keep_q3;
  function automatic logic [15:0] bytes(logic [3:0] tail);
    for (int i = 0; i < 16; i++) bytes[i] = tail == '0 || 4'(i) < tail;
  endfunction
  always_ff @(posedge clk_i) begin
    part_q2      <= part_d;
    part_q3      <= part_q2;
    part_q4      <= part_q3;
    sum_q2       <= sum_d;
    sum_q3       <= sum_q2;
    end_q3       <= end_d;
    ad_keep_q3   <= bytes(step_q2.ad_tail);
    text_keep_q3 <= bytes(step_q2.text_tail);
  end

  // Fourth: the sums of L, and the byte mask of the beat.
  logic [16*Lanes-1:0] keep_q4;
  block_t [Lanes-1:0] add_d, add_q4;
  block_t final_d, final_q4, step_d, step_add_q4;
  function automatic block_t total(sum_t of, block_t l0, block_t l1, block_t ln, block_t star);
    return ({128{of.zero}} & l0) ^ ({128{of.one}} & l1) ^ ({128{of.n}} & ln)
        ^ ({128{of.star}} & star);
  endfunction
  always_comb begin
    for (int l = 0; l < Lanes; l++) add_d[l] = total(sum_q3[l], l0_i, l1_i, ln_i, star_i);
    final_d = dollar_i ^ total(end_q3, l0_i, l1_i, ln_i, star_i);
    step_d  = add_d[Lanes-1];
  end
  always_ff @(posedge clk_i) begin
    add_q4      <= add_d;
    final_q4    <= final_d;
    step_add_q4 <= step_d;
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        keep_q4[16*l+i] <= step_q3.there[l] && (!step_q3.ad_end[l] || ad_keep_q3[i])
            && (!step_q3.text_end[l] || text_keep_q3[i]);
      end
    end
  end

  // Fifth: the offsets. The offset of the nonce arrives with the first beat of its packet.
  block_t loop_q, came_q, start_q, text_base;
  block_t [Lanes-1:0] base;
  logic came;
  delay_valid #(.Cycles(Late + 1)) u_came (.clk_i, .rst_ni, .valid_i(load), .valid_o(came));
  always_ff @(posedge clk_i) begin
    came_q <= offset_i;
    if (came) start_q <= came_q;
  end
  // What each lane adds to: the nonce's offset, the last offset of the beat before, or zero.
  logic [Lanes-1:0] start_q4, loop_q4;
  always_ff @(posedge clk_i) begin
    start_q4 <= ~step_q3.ad & {Lanes{step_q3.text_first}};
    loop_q4  <= (~step_q3.ad & {Lanes{!step_q3.text_first}})
        | (step_q3.ad & {Lanes{!step_q3.first}});
  end
  always_comb begin
    text_base = step_q4.text_first ? start_q : loop_q;
    for (int l = 0; l < Lanes; l++)
      base[l] = ({128{start_q4[l]}} & start_q) ^ ({128{loop_q4[l]}} & loop_q);
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[4]) loop_q <= base[Lanes-1] ^ step_add_q4;
    for (int l = 0; l < Lanes; l++) offset_o[l] <= base[l] ^ add_q4[l];
    final_o    <= step_q4.ends ? text_base ^ final_q4 : '0;
    slot_o     <= step_q4.slot;
    open_o     <= step_q4.open;
    out_o      <= |(step_q4.there & ~step_q4.ad) && !step_q4.refused;
    has_text_o <= step_q4.has_text && !step_q4.refused;
    end_o      <= step_q4.ends;
    lane_o     <= step_q4.there & ~step_q4.ad;
    full_o     <= step_q4.there & ~part_q4;
    part_o     <= part_q4;
    keep_o     <= keep_q4;
  end

endmodule
