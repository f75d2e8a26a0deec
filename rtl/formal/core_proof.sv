// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A whole core with short queues, its ciphers and multiplier replaced by stubs.sv, and one slot
// that holds a key, under all commands, frames and stalls that its ports allow:
//
//   - what the core offers stays until it is taken;
//   - every command gets one verdict, in order, and no verdict comes by itself;
//   - a packet's text comes in as many beats as its command says, `last` on the last one, and no
//     beat comes by itself; in GCM each holds what came in, in order, while frames were whole;
//   - once no more commands come, and frames come and outputs are ready, something is taken in
//     every Quiet cycles, a beat or a verdict, until every packet has its verdict and all its text.
//
// The assertions in the sources are proved with these: no queue is pushed when full or popped when
// empty.

module core_proof
  import sealwright_pkg::*;
#(
  parameter int unsigned Mode  = 0,
  parameter int unsigned Quiet = 40,
  parameter int unsigned Most  = 48  // bytes of text, and of associated data
) (
  input  logic     clk_i,
  input  logic       command_valid_i,
  input  logic       open_i,
  input  logic [5:0] ad_len_i,
  input  logic [5:0] text_len_i,
  input  logic       s_valid_i,
  input  logic       s_bit_i,
  input  logic       s_keep_i,
  input  logic       s_last_i,
  input  logic       m_ready_i,
  input  logic       verdict_ready_i,
  input  logic       key_valid_i,
  input  logic       drains_i
);

  localparam core_cfg_t Cfg = '{
    pipe: '{cipher: Aes128, sbox: SboxTable, cut: 0, lanes: 1, slots: 1, inverse: 1'b0},
    depth: 2, tag_bytes: 16, max_text: 0, opens: 1'b1, keep: 1'b1
  };

  // One cycle of reset.
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic key_ready, command_ready, s_ready, m_valid, m_last, verdict_valid, done_valid;
  logic slot_valid, slot_busy, done_slot;
  key_status_e done_status;
  block_t m_data;
  logic [15:0] m_keep;
  verdict_t verdict;

  // Once it drains it does so for good: no more commands, ready outputs, and frames of one beat,
  // which are filled up.
  logic drains, drains_q, moves;
  logic [7:0] quiet_q;  // cycles in which it drained and nothing was taken
  assign drains = drains_q || drains_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      drains_q <= 1'b0;
      quiet_q  <= '0;
    end else begin
      drains_q <= drains;
      quiet_q  <= !drains || moves ? '0 : quiet_q == 8'(Quiet) ? quiet_q : quiet_q + 8'd1;
    end
  end

  logic command_valid, s_valid, s_last, m_ready, verdict_ready;
  command_t command;
  always_comb begin
    command          = '0;
    command.open     = open_i;
    command.ad_len   = ad_len_i > 6'(Most) ? '0 : LenW'(ad_len_i);
    command.text_len = text_len_i > 6'(Most) ? '0 : LenW'(text_len_i);
  end
  assign command_valid = command_valid_i && !drains;
  assign s_valid       = s_valid_i || drains;
  assign s_last        = s_last_i || drains;
  assign m_ready       = m_ready_i || drains;
  assign verdict_ready = verdict_ready_i || drains;

  if (Mode == 0) begin : gen_gcm
    gcm_core #(.Cfg(Cfg)) u_core (
      .clk_i, .rst_ni, .key_valid_i, .key_ready_o(key_ready), .key_erase_i(1'b0), .key_slot_i(1'b0),
      .key_i(256'b0), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(1'b0),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(128'(s_bit_i)),
      .s_keep_i({16{s_keep_i}}), .s_last_i(s_last), .m_valid_o(m_valid), .m_ready_i(m_ready),
      .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last), .verdict_valid_o(verdict_valid),
      .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
  end else begin : gen_ocb
    ocb_core #(.Cfg(Cfg)) u_core (
      .clk_i, .rst_ni, .key_valid_i, .key_ready_o(key_ready), .key_erase_i(1'b0), .key_slot_i(1'b0),
      .key_i(256'b0), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(1'b0),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(128'(s_bit_i)),
      .s_keep_i({16{s_keep_i}}), .s_last_i(s_last), .m_valid_o(m_valid), .m_ready_i(m_ready),
      .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last), .verdict_valid_o(verdict_valid),
      .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
  end

  // ---- what is to come ----
  // The slot's key does not change while a packet is under way, and what the guard answers depends
  // on it alone: a command is refused if the slot holds no key two cycles after its port took it.
  localparam int unsigned Packets = 16;
  localparam int unsigned NumberW = $clog2(Packets) + 1;
  typedef struct packed {
    logic open;
    logic [2:0] text;  // blocks
    logic [2:0] beats;
  } packet_t;
  logic command_fire, fire_q;
  packet_t made, made_q, judged, out;
  // The core has a command a cycle after its port took it.
  command_t taken_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) command_fire <= 1'b0;
    else command_fire <= command_valid && command_ready;
  end
  always_ff @(posedge clk_i) taken_q <= command;
  always_comb begin
    made.open  = taken_q.open;
    made.text  = 3'((taken_q.text_len[5:0] + 6'd15) >> 4);
    made.beats = 3'((taken_q.ad_len[5:0] + 6'd15) >> 4) + made.text;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fire_q <= 1'b0;
    else fire_q <= command_fire;
  end
  always_ff @(posedge clk_i) made_q <= made;

  // Packets that wait for their verdict, and those whose text is to come out, one after the other.
  packet_t [Packets-1:0] packets, texts;
  logic [NumberW-1:0] given_q, judged_q, text_given_q, text_taken_q;
  logic [2:0] text_left;
  logic [2:0] gone_q;  // beats of the head that have come out
  logic has_text, takes, s_fire;
  assign has_text  = fire_q && slot_valid && made_q.text != '0;
  assign judged    = packets[judged_q[NumberW-2:0]];
  assign out       = texts[text_taken_q[NumberW-2:0]];
  assign text_left = out.text - gone_q;
  assign takes     = m_valid && m_ready;
  assign moves     = takes || s_fire || (verdict_valid && verdict_ready);
  logic [Packets-1:0] refused;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {given_q, judged_q, text_given_q, text_taken_q, gone_q} <= '0;
    else begin
      if (fire_q) given_q <= given_q + NumberW'(1);
      if (verdict_valid && verdict_ready) judged_q <= judged_q + NumberW'(1);
      if (has_text) text_given_q <= text_given_q + NumberW'(1);
      if (takes) gone_q <= m_last ? '0 : gone_q + 3'd1;
      if (takes && m_last) text_taken_q <= text_taken_q + NumberW'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire_q) begin
      packets[given_q[NumberW-2:0]] <= made_q;
      refused[given_q[NumberW-2:0]] <= !slot_valid;
    end
    if (has_text) texts[text_given_q[NumberW-2:0]] <= made_q;
  end

  // Whole frames: as many beats as their commands say.
  logic whole_q;
  logic [NumberW-1:0] frame_q;  // the packet whose frame comes in
  logic [2:0] beat_q;
  packet_t frame;
  logic [2:0] frame_last;
  assign s_fire     = s_valid && s_ready;
  assign frame      = packets[frame_q[NumberW-2:0]];
  assign frame_last = frame.beats == '0 ? '0 : frame.beats - 3'd1;
  // Its text, bit 0 of every beat.
  localparam int unsigned Beats = 32;
  logic [Beats-1:0] bits;
  logic [$clog2(Beats)-1:0] in_q, out_q;
  logic is_text;
  assign is_text = beat_q >= frame.beats - frame.text && frame.text != '0
      && !refused[frame_q[NumberW-2:0]];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      whole_q <= 1'b1;
      {frame_q, beat_q, in_q, out_q} <= '0;
    end else begin
      if (s_fire) begin
        if (s_last != (beat_q == frame_last)) whole_q <= 1'b0;
        beat_q <= s_last ? '0 : beat_q + 3'd1;
        if (s_last) frame_q <= frame_q + NumberW'(1);
        if (is_text) in_q <= in_q + $bits(in_q)'(1);
      end
      if (takes) out_q <= out_q + $bits(out_q)'(1);
    end
  end
  always_ff @(posedge clk_i) if (s_fire && is_text) bits[in_q] <= s_bit_i;

  logic over_q;  // more packets than this file counts
  logic m_waits_q, verdict_waits_q, m_last_q;
  logic [15:0] m_keep_q;
  block_t m_data_q;
  verdict_t verdict_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {over_q, m_waits_q, verdict_waits_q} <= '0;
    else begin
      over_q          <= over_q || (given_q - judged_q) >= NumberW'(Packets - 2);
      m_waits_q       <= m_valid && !m_ready;
      verdict_waits_q <= verdict_valid && !verdict_ready;
    end
  end
  always_ff @(posedge clk_i) {m_last_q, m_keep_q, m_data_q, verdict_q} <=
      {m_last, m_keep, m_data, verdict};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (m_waits_q) begin
        Text: assert (m_valid && {m_last, m_keep, m_data} == {m_last_q, m_keep_q, m_data_q});
      end
      if (verdict_waits_q) Verdict: assert (verdict_valid && verdict == verdict_q);
      if (!over_q) begin
        if (verdict_valid) begin
          One: assert (judged_q != given_q);
          Order: assert (verdict.open == judged.open
              && verdict.text == (judged.text != '0 && !refused[judged_q[NumberW-2:0]])
              && (verdict.status == StatusSlot) == refused[judged_q[NumberW-2:0]]);
        end
        if (m_valid) begin
          Beat: assert (text_taken_q != text_given_q);
          Last: assert (m_last == (text_left == 3'd1));
          if (Mode == 0 && whole_q) Data: assert (m_keep[0] && m_data[0] == bits[out_q]);
        end
        if (quiet_q == 8'(Quiet)) begin
          Ends: assert (judged_q == given_q && text_taken_q == text_given_q && !fire_q);
        end
      end
    end
  end

endmodule
