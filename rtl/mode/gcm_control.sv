// What every beat of a packet is, worked out from its lengths ahead of the data.
//
// Beats: the associated data in beats of its own, the text, and in the first free lane after it (or a beat more) the
// block of lengths. The exponent of the first block of group g is the number of blocks in groups g to g + Depth - 1, as
// far as the packet has them (ghash_stride says why).

module gcm_control
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Depth = 6,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1,
  localparam int unsigned ExpW  = $clog2(Lanes * Depth + 1),
  localparam int unsigned BeatW = LenW - 4 - $clog2(Lanes) + 2  // of a number of beats
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [SlotW-1:0]    slot_i,
  input  logic                open_i,
  input  logic [LenW-1:0]     ad_len_i,
  input  logic [LenW-1:0]     text_len_i,
  input  logic [BeatW-1:0]    beats_i,     // of both, with the block of lengths
  input  logic                go_i,        // there is room for beats
  output logic                valid_o,
  output logic [SlotW-1:0]    slot_o,
  output logic                open_o,
  output logic                text_o,      // 0: associated data, 1: takes a beat of keystream
  output logic                data_o,      // takes a beat of the stream
  output logic                data_last_o, // the packet's last one
  output logic                text_last_o, // its last one with text
  output logic                end_o,       // its last beat
  output logic [Lanes-1:0]    end_lane_o,  // where the lengths and J0 stand in that
  output logic [16*Lanes-1:0] keep_o,
  output logic [ExpW-1:0]     exponent_o,
  output logic                take_o,
  output logic                fold_o
);

  localparam int unsigned BlockW = LenW - 4 + 2;        // of a number of blocks
  localparam int unsigned LaneW  = $clog2(Lanes);
  localparam int unsigned Bytes  = 16 * Lanes;
  localparam int unsigned All    = Lanes * Depth;
  localparam int unsigned BytesW = $clog2(Bytes + 1);
  localparam int unsigned GroupW = $clog2(Depth + 1);

  function automatic logic [BlockW-1:0] blocks(logic [LenW-1:0] bytes);
    return BlockW'(bytes[LenW-1:4]) + BlockW'(bytes[3:0] != '0);
  endfunction

  // Bytes of the last of the beats that hold so many.
  function automatic logic [BytesW-1:0] tail(logic [LenW-1:0] bytes);
    return bytes % LenW'(Bytes) == '0 ? BytesW'(Bytes) : BytesW'(bytes % LenW'(Bytes));
  endfunction

  // The packet as far as it is still to come. What compares counts with constants is worked out a cycle ahead.
  logic busy_q, in_ad_q, has_text_q;
  logic [BytesW-1:0] ad_tail_q, text_tail_q;      // bytes of the last beats
  logic extra_q;                                  // the block of lengths has a beat of its own
  logic [BlockW-1:0] ad_blocks_q, text_blocks_q;  // with the block of lengths
  logic [BeatW-1:0] ad_beats_q, text_beats_q, beats_q;
  logic ad_last_q, text_last_q;                   // one beat is left
  logic data_last_q;                              // one beat of text at most
  logic [GroupW-1:0] group_q;
  logic [SlotW-1:0] slot_q;
  logic open_q, load, ends;

  // The next one: as it comes, and then worked out.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, in_ad, has_text, extra, ad_last, text_last, data_last;
    logic [BytesW-1:0] ad_tail, text_tail;
    logic [BlockW-1:0] ad_blocks, text_blocks;
    logic [BeatW-1:0] ad_beats, text_beats, beats;
  } packet_t;
  logic came, next_valid_q, next_ready;
  logic [SlotW-1:0] slot;
  logic open;
  logic [LenW-1:0] ad_len, text_len;
  logic [BeatW-1:0] beats;
  packet_t next_q;

  slice #(.W(SlotW + 1 + 2 * LenW + BeatW)) u_came (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i({slot_i, open_i, ad_len_i, text_len_i, beats_i}),
    .valid_o(came), .ready_i(next_ready), .data_o({slot, open, ad_len, text_len, beats})
  );

  assign ends       = go_i && !in_ad_q && text_last_q;
  assign load       = next_valid_q && (!busy_q || ends);
  assign next_ready = !next_valid_q || load;

  always_ff @(posedge clk_i) begin
    if (next_ready) begin
      next_q.slot        <= slot;
      next_q.open        <= open;
      next_q.in_ad       <= ad_len != '0;
      next_q.has_text    <= text_len != '0;
      next_q.extra       <= blocks(text_len) % BlockW'(Lanes) == '0;
      next_q.ad_last     <= ad_len <= LenW'(Bytes);
      next_q.text_last   <= text_len <= LenW'(Bytes - 16);
      next_q.data_last   <= text_len <= LenW'(Bytes);
      next_q.ad_tail     <= tail(ad_len);
      next_q.text_tail   <= tail(text_len);
      next_q.ad_blocks   <= blocks(ad_len);
      next_q.text_blocks <= BlockW'(({1'b0, text_len} + (LenW+1)'(31)) >> 4);
      next_q.ad_beats    <= BeatW'(({1'b0, ad_len} + (LenW+1)'(Bytes - 1)) >> (4 + LaneW));
      next_q.text_beats  <= BeatW'(({1'b0, text_len} + (LenW+1)'(Bytes + 15)) >> (4 + LaneW));
      next_q.beats       <= beats;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, next_valid_q} <= '0;
    else {busy_q, next_valid_q} <= {load || (busy_q && !ends), next_ready ? came : next_valid_q};
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      slot_q        <= next_q.slot;
      open_q        <= next_q.open;
      in_ad_q       <= next_q.in_ad;
      has_text_q    <= next_q.has_text;
      ad_tail_q     <= next_q.ad_tail;
      text_tail_q   <= next_q.text_tail;
      extra_q       <= next_q.extra;
      ad_blocks_q   <= next_q.ad_blocks;
      text_blocks_q <= next_q.text_blocks;
      ad_beats_q    <= next_q.ad_beats;
      text_beats_q  <= next_q.text_beats;
      beats_q       <= next_q.beats;
      ad_last_q     <= next_q.ad_last;
      text_last_q   <= next_q.text_last;
      data_last_q   <= next_q.data_last;
      group_q       <= '0;
    end else if (go_i) begin
      if (group_q != GroupW'(Depth)) group_q <= group_q + GroupW'(1);
      beats_q <= beats_q - BeatW'(1);
      if (in_ad_q) begin
        in_ad_q     <= !ad_last_q;
        ad_last_q   <= ad_beats_q == BeatW'(2);
        ad_beats_q  <= ad_beats_q - BeatW'(1);
        ad_blocks_q <= ad_blocks_q - BlockW'(Lanes);
      end else begin
        text_last_q   <= text_beats_q == BeatW'(2);
        data_last_q   <= text_beats_q <= (extra_q ? BeatW'(3) : BeatW'(2));
        text_beats_q  <= text_beats_q - BeatW'(1);
        text_blocks_q <= text_blocks_q - BlockW'(Lanes);
      end
    end
  end

  // First register: everything cut down to a few bits.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, text, data, data_last, text_last, ends, take, fold;
    logic [Lanes-1:0] end_lane;
    logic [BytesW-1:0] bytes;
  } step_t;
  step_t step_q, step_q2;
  logic [2:0] valid_q;
  logic [ExpW-1:0] ad_q, ad_q2, text_q, room_q, follow_q2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], busy_q && go_i};
  end
  assign valid_o = valid_q[2];

  always_ff @(posedge clk_i) begin
    step_q.slot      <= slot_q;
    step_q.open      <= open_q;
    step_q.text      <= !in_ad_q;
    step_q.data      <= in_ad_q || !(extra_q && text_last_q);
    step_q.data_last <= in_ad_q ? ad_last_q && !has_text_q : data_last_q;
    step_q.text_last <= !in_ad_q && data_last_q;
    step_q.ends      <= !in_ad_q && text_last_q;
    step_q.take      <= group_q == GroupW'(Depth);
    step_q.fold      <= beats_q <= BeatW'(Depth);
    for (int l = 0; l < Lanes; l++) begin
      step_q.end_lane[l] <= !in_ad_q && text_last_q && text_blocks_q[LaneW:0] == (LaneW+1)'(l + 1);
    end
    if (in_ad_q) step_q.bytes <= ad_last_q ? ad_tail_q : BytesW'(Bytes);
    else step_q.bytes <= extra_q && text_last_q ? '0 : data_last_q ? text_tail_q : BytesW'(Bytes);
    ad_q   <= !in_ad_q ? '0 : ad_blocks_q > BlockW'(All) ? ExpW'(All) : ExpW'(ad_blocks_q);
    text_q <= text_blocks_q > BlockW'(All) ? ExpW'(All) : ExpW'(text_blocks_q);
    // Blocks of text among the Depth groups from here on, were there enough of them.
    room_q <= !in_ad_q ? ExpW'(All) : ad_beats_q >= BeatW'(Depth) ? '0 : ExpW'((BeatW'(Depth) - ad_beats_q) << LaneW);
  end

  // Second: how many of the text's there are. Third: the exponent, and the bytes one by one.
  always_ff @(posedge clk_i) begin
    step_q2   <= step_q;
    ad_q2     <= ad_q;
    follow_q2 <= text_q < room_q ? text_q : room_q;

    exponent_o <= ad_q2 + follow_q2;
    for (int i = 0; i < Bytes; i++) keep_o[i] <= BytesW'(i) < step_q2.bytes;
    slot_o      <= step_q2.slot;
    open_o      <= step_q2.open;
    text_o      <= step_q2.text;
    data_o      <= step_q2.data;
    data_last_o <= step_q2.data_last;
    text_last_o <= step_q2.text_last;
    end_o       <= step_q2.ends;
    end_lane_o  <= step_q2.end_lane;
    take_o      <= step_q2.take;
    fold_o      <= step_q2.fold;
  end

endmodule
