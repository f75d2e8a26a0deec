// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A whole core with short queues, its ciphers and multiplier replaced by stubs.sv, and one slot
// that holds a key, under all commands, frames and stalls that its ports allow:
//
//   - what the core offers stays until it is taken;
//   - every command gets one verdict, in order, and no verdict comes by itself;
//   - a packet's text comes in as many beats as its command says, `last` on the last one, and no
//     beat comes by itself; each holds what came in, in order, if its frame is whole, under the
//     keystream or the offset of its own packet's nonce;
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
  input  logic       nonce_i,
  input  logic       pick_i,
  input  logic       s_valid_i,
  input  logic       s_bit_i,
  input  logic       s_keep_i,
  input  logic       s_last_i,
  input  logic       s_ended_i,
  input  logic       m_ready_i,
  input  logic       verdict_ready_i,
  input  logic       key_valid_i,
  input  logic       drains_i
);

  localparam core_cfg_t Cfg = '{
    pipe: '{cipher: Aes128, sbox: SboxTable, cut: 0, lanes: 1, slots: 1, inverse: 1'b0},
    depth: 2, tag_bytes: 16, max_text: 0, opens: 1'b1, keep: 1'b1,
    numbered: 1'b1
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
    command.nonce    = 96'(nonce_i);
    command.ad_len   = ad_len_i > 6'(Most) ? '0 : LenW'(ad_len_i);
    command.text_len = text_len_i > 6'(Most) ? '0 : LenW'(text_len_i);
  end
  assign command_valid = command_valid_i && !drains;
  assign s_valid       = s_valid_i || drains;
  assign s_last        = s_last_i || drains;
  assign m_ready       = m_ready_i || drains;
  assign verdict_ready = verdict_ready_i || drains;

  // Frames are counted behind the registers of their port, which take up to two beats before the
  // command is there (slice_proof.sv is about those).
  logic s_fire, taken_last, taken_ended, taken_bit;
  if (Mode == 0) begin : gen_gcm
    gcm_core #(.Cfg(Cfg)) u_core (
      .clk_i, .rst_ni, .key_valid_i, .key_ready_o(key_ready), .key_erase_i(1'b0), .key_slot_i(1'b0),
      .key_i(256'b0), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(1'b0),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(128'(s_bit_i)),
      .s_keep_i({16{s_keep_i}}), .s_last_i(s_last), .s_ended_i, .m_valid_o(m_valid),
      .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last),
      .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
    assign {s_fire, taken_last, taken_ended, taken_bit} = {
      u_core.u_in.port_valid && u_core.u_in.port_ready, u_core.u_in.port_last,
      u_core.u_in.port_ended, u_core.u_in.port_data[0][0]
    };
  end else begin : gen_ocb
    ocb_core #(.Cfg(Cfg)) u_core (
      .clk_i, .rst_ni, .key_valid_i, .key_ready_o(key_ready), .key_erase_i(1'b0), .key_slot_i(1'b0),
      .key_i(256'b0), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(1'b0),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(128'(s_bit_i)),
      .s_keep_i({16{s_keep_i}}), .s_last_i(s_last), .s_ended_i, .m_valid_o(m_valid),
      .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last),
      .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
    assign {s_fire, taken_last, taken_ended, taken_bit} = {
      u_core.u_in.port_valid && u_core.u_in.port_ready, u_core.u_in.port_last,
      u_core.u_in.port_ended, u_core.u_in.port_data[0][0]
    };
  end

  // ---- what is to come ----
  // Commands, frames, texts and verdicts are counted. One packet is watched, whichever the prover
  // picks: what holds for it holds for all.
  //
  // The slot's key does not change while a packet is under way, and what the guard answers depends
  // on it alone: a command is refused if the slot holds no key two cycles after its port took it.
  typedef struct packed {
    logic open;
    logic [2:0] text;  // blocks
    logic [2:0] beats;
    // What stubs.sv makes of the nonce changes bit 0 of every block of text, or of its last one: in
    // OCB the offset is added to a whole block twice, and to a part of one once.
    logic all, part;
  } packet_t;
  typedef logic [5:0] count_t;
  logic command_q, fire_q, has_text, s_ends, takes, takes_last, judges;
  packet_t made, made_q;
  // The core has a command a cycle after its port took it.
  command_t taken_q;
  always_ff @(posedge clk_i) taken_q <= command;
  always_comb begin
    made.open  = taken_q.open;
    made.text  = 3'((taken_q.text_len[5:0] + 6'd15) >> 4);
    made.beats = 3'((taken_q.ad_len[5:0] + 6'd15) >> 4) + made.text;
    made.all   = taken_q.nonce[0] && Mode == 0;
    made.part  = taken_q.nonce[0] && Mode != 0 && taken_q.text_len[3:0] != '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {command_q, fire_q} <= '0;
    else {command_q, fire_q} <= {command_valid && command_ready, command_q};
  end
  always_ff @(posedge clk_i) made_q <= made;
  assign has_text   = fire_q && slot_valid && made_q.text != '0;
  assign s_ends     = s_fire && (taken_last || taken_ended);
  assign takes      = m_valid && m_ready;
  assign takes_last = takes && m_last;
  assign judges     = verdict_valid && verdict_ready;
  assign moves      = takes || s_fire || judges;

  // Packets whose frame, text or verdict is to come.
  count_t frames_q, texts_q, verdicts_q;
  logic [2:0] beat_q, out_q;  // beats of the frame that comes, and of the text that goes
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {frames_q, texts_q, verdicts_q, beat_q, out_q} <= '0;
    else begin
      frames_q   <= frames_q + count_t'(fire_q) - count_t'(s_ends);
      texts_q    <= texts_q + count_t'(has_text) - count_t'(takes_last);
      verdicts_q <= verdicts_q + count_t'(fire_q) - count_t'(judges);
      if (s_fire) beat_q <= taken_last || taken_ended ? '0 : beat_q + 3'd1;
      if (takes) out_q <= m_last ? '0 : out_q + 3'd1;
    end
  end

  // The packet that is watched, and how many come before it.
  logic picked_q, picks, frame_due_q, text_due_q, verdict_due_q, refused_q;
  count_t frame_at_q, text_at_q, verdict_at_q;
  packet_t seen_q;
  logic its_frame, its_text, its_verdict;
  assign picks       = fire_q && pick_i && !picked_q;
  assign its_frame   = frame_due_q && frame_at_q == '0;
  assign its_text    = text_due_q && text_at_q == '0;
  assign its_verdict = verdict_due_q && verdict_at_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {picked_q, frame_due_q, text_due_q, verdict_due_q} <= '0;
      {frame_at_q, text_at_q, verdict_at_q} <= '0;
    end else if (picks) begin
      picked_q     <= 1'b1;
      {frame_due_q, text_due_q, verdict_due_q} <= {1'b1, has_text, 1'b1};
      frame_at_q   <= frames_q - count_t'(s_ends);
      text_at_q    <= texts_q - count_t'(takes_last);
      verdict_at_q <= verdicts_q - count_t'(judges);
    end else begin
      if (its_frame && s_ends) frame_due_q <= 1'b0;
      if (its_text && takes_last) text_due_q <= 1'b0;
      if (its_verdict && judges) verdict_due_q <= 1'b0;
      if (frame_at_q != '0) frame_at_q <= frame_at_q - count_t'(s_ends);
      if (text_at_q != '0) text_at_q <= text_at_q - count_t'(takes_last);
      if (verdict_at_q != '0) verdict_at_q <= verdict_at_q - count_t'(judges);
    end
  end
  always_ff @(posedge clk_i) begin
    if (picks) begin
      seen_q    <= made_q;
      refused_q <= !slot_valid;
    end
  end

  // Its text as it is to come out, bit 0 of every beat, while its frame is whole: has as many beats
  // as its command says.
  logic whole_q;
  logic [2:0] last_beat, ad_beats;
  logic [7:0] bits_q;
  assign last_beat = seen_q.beats == '0 ? '0 : seen_q.beats - 3'd1;
  assign ad_beats  = seen_q.beats - seen_q.text;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) whole_q <= 1'b1;
    else if (its_frame && s_fire && (taken_ended || taken_last != (beat_q == last_beat))) begin
      whole_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (its_frame && s_fire) begin
      bits_q[3'(beat_q - ad_beats)] <=
          taken_bit ^ seen_q.all ^ (seen_q.part && beat_q == last_beat);
    end
  end

  logic m_waits_q, verdict_waits_q, m_last_q;
  logic [15:0] m_keep_q;
  block_t m_data_q;
  verdict_t verdict_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {m_waits_q, verdict_waits_q} <= '0;
    else begin
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
      if (s_fire) Frame: assert (frames_q != '0);
      if (verdict_valid) One: assert (verdicts_q != '0);
      if (verdict_valid && its_verdict) begin
        Order: assert (verdict.open == seen_q.open
            && verdict.text == (seen_q.text != '0 && !refused_q)
            && (verdict.status == StatusSlot) == refused_q);
      end
      if (m_valid) Beat: assert (texts_q != '0);
      if (m_valid && its_text) begin
        Last: assert (m_last == (out_q == seen_q.text - 3'd1));
        if (whole_q) Data: assert (m_keep[0] && m_data[0] == bits_q[out_q]);
      end
      if (quiet_q == 8'(Quiet)) begin
        Ends: assert (verdicts_q == '0 && texts_q == '0 && !fire_q);
      end
    end
  end

endmodule
