// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES-OCB3 or Serpent-OCB3 (RFC 7253; nonces of 12 bytes, tags of Cfg.tag_bytes): seals and, with
// Cfg.opens, opens packets of any length up to 65,535 bytes of text and as many of associated data,
// Lanes blocks a cycle. The ports are those of gcm_core.
//
// A packet takes one cycle per beat of its frame and no more: all other blocks (those of nonces and
// of tags, and the zero block of a new key) pass through a second cipher, which has one lane.
// Decrypted text is output before its verdict is known: the receiver must hold it back until then
// (text_hold does).
//
//   command -> ocb_nonce -> ocb_control -> queue -+
//   s -> frame_in -> queue -----------------------+-> join -> [Late] -> [register]
//
//   [register] -+-> cipher (and its inverse) -+
//               +-> masks' queue -------------+-> ocb_sums -> m
//   blocks of zeros, of tags, of nonces -> narrow cipher -> tables, tag_check, ocb_nonce
//
// The join sees only the valid bits of the queues and two flags of the beat; the words themselves
// arrive Late cycles later.

`include "assert.svh"

module ocb_core
  import sealwright_pkg::*;
#(
  parameter core_cfg_t Cfg = CoreDefault,
  localparam int unsigned Lanes = Cfg.pipe.lanes,
  localparam int unsigned Slots = Cfg.pipe.slots,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                key_valid_i,
  output logic                key_ready_o,
  input  logic                key_erase_i,
  input  logic [SlotW-1:0]    key_slot_i,
  input  logic [255:0]        key_i,
  output logic                done_valid_o,
  output logic [SlotW-1:0]    done_slot_o,
  output key_status_e         done_status_o,
  output logic [Slots-1:0]    slot_valid_o,
  output logic [Slots-1:0]    slot_busy_o,
  input  logic                command_valid_i,
  output logic                command_ready_o,
  input  logic [SlotW-1:0]    command_slot_i,
  input  command_t            command_i,
  input  logic                s_valid_i,
  output logic                s_ready_o,
  input  block_t [Lanes-1:0]  s_data_i,
  input  logic [16*Lanes-1:0] s_keep_i,
  input  logic                s_last_i,
  input  logic                s_ended_i,  // with Cfg.numbered: no beat, the frame has ended
  output logic                m_valid_o,
  input  logic                m_ready_i,
  output block_t [Lanes-1:0]  m_data_o,
  output logic [16*Lanes-1:0] m_keep_o,
  output logic                m_last_o,
  output logic                verdict_valid_o,
  input  logic                verdict_ready_i,
  output verdict_t            verdict_o
);

  localparam int unsigned Bytes   = 16 * Lanes;
  // beats of text in the cipher or in the queue behind it; more than any latency
  localparam int unsigned Ahead   = 128;
  localparam int unsigned Pending = 256;  // packets from last beat until their verdict is taken

  // ---- keys ----
  logic setup_valid, setup_ready, rk_we, zero_valid, zero_done, derive_valid, derive_ready;
  logic command_fire, flight_full;
  logic [SlotW-1:0] key_slot, rk_slot, setup_slot, command_slot_q;
  command_t command_q;
  logic [255:0] setup_key;
  logic [5:0] rk_index;
  block_t rk, narrow_out_q;
  status_e admission;

  key_guard #(.Cfg(Cfg)) u_guard (
    .clk_i, .rst_ni, .key_valid_i, .key_ready_o, .key_erase_i, .key_slot_i, .key_i, .done_valid_o,
    .done_slot_o, .done_status_o, .slot_valid_o, .slot_busy_o, .setup_valid_o(setup_valid),
    .setup_ready_i(setup_ready), .setup_slot_o(key_slot), .setup_key_o(setup_key),
    .command_i(command_fire), .command_slot_i(command_slot_q), .open_i(command_q.open),
    .text_len_i(command_q.text_len), .status_o(admission), .full_o(flight_full),
    .verdict_i(verdict_valid_o && verdict_ready_i)
  );
  key_setup #(.Cipher(Cfg.pipe.cipher), .Slots(Slots)) u_key_setup (
    .clk_i, .rst_ni,
    .valid_i(setup_valid), .ready_o(setup_ready), .slot_i(key_slot), .key_i(setup_key),
    .rk_we_o(rk_we), .rk_slot_o(rk_slot), .rk_index_o(rk_index), .rk_o(rk),
    .zero_valid_o(zero_valid), .zero_ready_i(1'b1), .done_valid_i(zero_done),
    .derive_valid_o(derive_valid), .derive_ready_i(derive_ready), .slot_o(setup_slot)
  );

  logic [SlotW-1:0] table_slot;
  logic [3:0] table_ntz;
  block_t star, dollar, l0, l1, ln;
  ocb_tables #(.Slots(Slots)) u_tables (
    .clk_i, .rst_ni, .valid_i(derive_valid), .write_slot_i(setup_slot), .star_i(narrow_out_q),
    .ready_o(derive_ready), .slot_i(table_slot), .ntz_i(table_ntz), .star_o(star),
    .dollar_o(dollar), .l0_o(l0), .l1_o(l1), .ln_o(ln)
  );

  // ---- commands, the offsets of their nonces, descriptions of their beats ----
  logic nonce_full, frames_full, counted, ask_valid, ask_ready, answer_valid, started_valid;
  logic started_ready;
  logic [SlotW-1:0] ask_slot, started_slot;
  block_t ask, start_offset;
  lengths_t lengths, started;

  command_in #(.SlotW(SlotW)) u_command (
    .clk_i, .rst_ni, .full_i(nonce_full || frames_full || flight_full),
    .valid_i(command_valid_i), .ready_o(command_ready_o), .slot_i(command_slot_i), .command_i,
    .valid_o(command_fire), .slot_o(command_slot_q), .command_o(command_q)
  );
  delay_valid #(.Cycles(3)) u_counted (.clk_i, .rst_ni, .valid_i(command_fire), .valid_o(counted));
  packet_lengths #(.Lanes(Lanes)) u_lengths (
    .clk_i, .open_i(command_q.open), .ad_len_i(command_q.ad_len), .text_len_i(command_q.text_len),
    .refused_i(admission != StatusOk), .lengths_o(lengths)
  );
  ocb_nonce #(.Slots(Slots), .TagBytes(Cfg.tag_bytes)) u_nonce (
    .clk_i, .rst_ni, .slot_valid_i(slot_valid_o), .wipe_i(!setup_ready), .wipe_slot_i(setup_slot),
    .valid_i(command_fire), .full_o(nonce_full), .slot_i(command_slot_q),
    .nonce_i(command_q.nonce), .lengths_i(lengths), .ask_valid_o(ask_valid),
    .ask_ready_i(ask_ready), .ask_slot_o(ask_slot), .ask_o(ask), .answer_valid_i(answer_valid),
    .answer_i(narrow_out_q), .valid_o(started_valid), .ready_i(started_ready),
    .slot_o(started_slot), .lengths_o(started), .offset_o(start_offset)
  );

  typedef struct packed {
    logic out, ends;
  } flags_t;
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, out, has_text, ends;
    // lanes with text to seal (mix), with a last partial block of text (bare)
    logic [Lanes-1:0] lane, full, part, mix, bare;
    logic [Bytes-1:0] keep;
    block_t [Lanes-1:0] offset;
    block_t last_offset;
  } beat_t;
  flags_t flags;
  beat_t made, beat;
  logic made_valid, beat_valid, pop, beats_full;

  ocb_control #(.Lanes(Lanes), .Slots(Slots)) u_control (
    .clk_i, .rst_ni, .valid_i(started_valid), .ready_o(started_ready), .slot_i(started_slot),
    .lengths_i(started), .offset_i(start_offset), .go_i(!beats_full), .table_slot_o(table_slot),
    .table_ntz_o(table_ntz), .star_i(star), .dollar_i(dollar), .l0_i(l0), .l1_i(l1), .ln_i(ln),
    .valid_o(made_valid), .slot_o(made.slot), .open_o(made.open), .out_o(made.out),
    .has_text_o(made.has_text), .end_o(made.ends), .lane_o(made.lane), .full_o(made.full),
    .part_o(made.part), .keep_o(made.keep), .offset_o(made.offset), .final_o(made.last_offset)
  );
  assign made.mix  = made.lane & {Lanes{!made.open}};
  assign made.bare = made.lane & made.part;
  fifo_split #(.Flags($bits(flags_t)), .Cfg(queue($bits(beat_t), 32, 8))) u_beats (
    .clk_i, .rst_ni, .push_i(made_valid), .flags_i({made.out, made.ends}), .data_i(made),
    .near_full_o(beats_full), .valid_o(beat_valid), .flags_o(flags), .data_o(beat), .pop_i(pop)
  );

  // ---- for the verdicts: the tags to compare with, and the statuses by key_guard, then by
  // frame_status ----
  logic informed, claimed_q, frame_valid, claim_pop, unused_claim, unused_admitted, unused_status;
  logic unused_claim_full, unused_admitted_full, unused_status_full;
  block_t claimed_tag_q, claim;
  logic [2:0] admitted_bits, status_bits;
  status_e frame_state;
  delay_valid #(.Cycles(2)) u_informed (
    .clk_i, .rst_ni, .valid_i(command_fire), .valid_o(informed)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) claimed_q <= 1'b0;
    else claimed_q <= command_fire;
  end
  always_ff @(posedge clk_i) claimed_tag_q <= command_q.tag;
  fifo_late #(.Cfg(queue(128, Flight))) u_claims (
    .clk_i, .rst_ni, .push_i(claimed_q), .data_i(claimed_tag_q), .near_full_o(unused_claim_full),
    .valid_o(unused_claim), .data_o(claim), .pop_i(claim_pop)
  );
  fifo_late #(.Cfg(queue(3, Flight))) u_admitted (
    .clk_i, .rst_ni, .push_i(informed), .data_i(admission), .near_full_o(unused_admitted_full),
    .valid_o(unused_admitted), .data_o(admitted_bits), .pop_i(pop && flags.ends)
  );
  fifo_late #(.Cfg(queue(3, Pending))) u_frames (
    .clk_i, .rst_ni, .push_i(frame_valid), .data_i(frame_state), .near_full_o(unused_status_full),
    .valid_o(unused_status), .data_o(status_bits), .pop_i(claim_pop)
  );

  // ---- join: beats and data ----
  logic in_valid, in_short, in_long, go_q, out_went, verdict_went, went_out, went_end;
  block_t [Lanes-1:0] data;
  logic [Bytes-1:0] in_keep;
  logic [$clog2(Ahead+1)-1:0] ahead_q;
  logic [$clog2(Pending+1)-1:0] pending_q;

  frame_in #(.Lanes(Lanes), .Numbered(Cfg.numbered)) u_in (
    .clk_i, .rst_ni, .packet_i(counted), .beats_i(lengths.beats), .full_o(frames_full), .s_valid_i,
    .s_ready_o, .s_data_i, .s_keep_i, .s_last_i, .s_ended_i, .valid_o(in_valid), .pop_i(pop),
    .data_o(data), .keep_o(in_keep), .short_o(in_short), .long_o(in_long)
  );
  assign pop = beat_valid && in_valid && go_q;

  // go_q: there is room behind the cipher, also for the beats of the next three cycles.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {out_went, verdict_went, went_out, went_end, go_q} <= '0;
      ahead_q   <= '0;
      pending_q <= '0;
    end else begin
      out_went     <= m_valid_o && m_ready_i;
      verdict_went <= verdict_valid_o && verdict_ready_i;
      went_out     <= pop && flags.out;
      went_end     <= pop && flags.ends;
      ahead_q      <= ahead_q + $bits(ahead_q)'(went_out) - $bits(ahead_q)'(out_went);
      pending_q    <= pending_q + $bits(pending_q)'(went_end) - $bits(pending_q)'(verdict_went);
      go_q         <= ahead_q < $bits(ahead_q)'(Ahead - 3)
          && pending_q < $bits(pending_q)'(Pending - 3);
    end
  end

  logic valid, cipher_valid_q;
  delay_valid #(.Cycles(Late)) u_valid (.clk_i, .rst_ni, .valid_i(pop), .valid_o(valid));
  frame_status #(.Lanes(Lanes)) u_status (
    .clk_i, .rst_ni, .valid_i(valid), .ends_i(beat.ends), .keep_i(beat.keep), .in_keep_i(in_keep),
    .short_i(in_short), .long_i(in_long), .admission_i(status_e'(admitted_bits)),
    .valid_o(frame_valid), .status_o(frame_state)
  );

  // The next register: the input of the cipher, and with it what is added to its output.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, out, has_text, ends, short_frame;
    logic [Lanes-1:0] lane, full, part;
    logic [Bytes-1:0] keep;
    block_t [Lanes-1:0] mask;
    block_t sum;
  } meta_t;
  meta_t meta_d, meta_q, meta;
  block_t [Lanes-1:0] kept, padded, cipher_d, cipher_in_q, cipher_out, inverse_out;

  always_comb begin
    meta_d = '{
      slot: beat.slot, open: beat.open, out: beat.out, has_text: beat.has_text, ends: beat.ends,
      short_frame: in_short,
      lane: beat.lane, full: beat.full, part: beat.part, keep: beat.keep, mask: '0,
      sum: beat.last_offset
    };
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        kept[l][8*i+:8]   = beat.keep[16*l+i] ? data[l][8*i+:8] : '0;
        padded[l][8*i+:8] = kept[l][8*i+:8];
        // Padding: a one bit after the bytes of a block that has fewer than 16.
        if (i > 0) padded[l][8*i+7] = kept[l][8*i+7]
            || (!beat.keep[16*l+i] && beat.keep[16*l+(i > 0 ? i - 1 : 0)]);
      end
      meta_d.mask[l] = beat.full[l] ? beat.offset[l] : kept[l];
      cipher_d[l]    = beat.offset[l] ^ (beat.bare[l] ? '0 : padded[l]);
      if (beat.mix[l]) meta_d.sum = meta_d.sum ^ padded[l];
      if (!beat.lane[l]) meta_d.keep[16*l+:16] = '0;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cipher_valid_q <= 1'b0;
    else cipher_valid_q <= valid;
  end
  always_ff @(posedge clk_i) begin
    meta_q      <= meta_d;
    cipher_in_q <= cipher_d;
  end

  // ---- the cipher, the text and the sums ----
  logic cipher_valid, cipher_soon, unused_meta_valid, unused_meta_full, unused_out_full;
  cipher_pipe #(.Cfg(Cfg.pipe)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(cipher_valid_q), .slot_i(meta_q.slot), .block_i(cipher_in_q), .valid_o(cipher_valid),
    .block_o(cipher_out)
  );
  if (Cfg.opens) begin : gen_inverse
    logic unused_valid;
    cipher_pipe #(.Cfg(inverse_of(Cfg.pipe))) u_inverse (
      .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
      .valid_i(cipher_valid_q), .slot_i(meta_q.slot), .block_i(cipher_in_q), .valid_o(unused_valid),
      .block_o(inverse_out)
    );
  end else begin : gen_no_inverse
    assign inverse_out = '0;
  end
  delay_valid #(.Cycles(latency(Cfg.pipe) - Late)) u_soon (
    .clk_i, .rst_ni, .valid_i(cipher_valid_q), .valid_o(cipher_soon)
  );
  fifo_late #(.Cfg(queue($bits(meta_t), Ahead))) u_meta (
    .clk_i, .rst_ni, .push_i(cipher_valid_q), .data_i(meta_q), .near_full_o(unused_meta_full),
    .valid_o(unused_meta_valid), .data_o(meta), .pop_i(cipher_soon)
  );
  assign claim_pop = cipher_valid && meta.ends;  // the claim arrives one cycle before the sums

  logic out_valid, out_last, sum_valid, sum_open, sum_text;
  logic [SlotW-1:0] sum_slot;
  logic [Bytes-1:0] out_keep;
  block_t [Lanes-1:0] out;
  block_t sum_block, sum_hash;
  ocb_sums #(.Lanes(Lanes), .Slots(Slots), .Open(Cfg.opens)) u_sums (
    .clk_i, .rst_ni, .valid_i(cipher_valid), .cipher_i(cipher_out), .inverse_i(inverse_out),
    .slot_i(meta.slot), .open_i(meta.open), .out_i(meta.out), .has_text_i(meta.has_text),
    .end_i(meta.ends), .short_i(meta.short_frame), .lane_i(meta.lane), .full_i(meta.full),
    .part_i(meta.part), .keep_i(meta.keep), .mask_i(meta.mask), .sum_i(meta.sum),
    .text_valid_o(out_valid), .text_last_o(out_last), .text_keep_o(out_keep), .text_o(out),
    .sum_valid_o(sum_valid), .sum_slot_o(sum_slot), .sum_open_o(sum_open), .sum_text_o(sum_text),
    .block_o(sum_block), .hash_o(sum_hash)
  );
  fifo_port #(.Cfg(queue(144 * Lanes + 1, Ahead))) u_out (
    .clk_i, .rst_ni, .push_i(out_valid), .data_i({out_last, out_keep, out}),
    .near_full_o(unused_out_full), .valid_o(m_valid_o), .data_o({m_last_o, m_keep_o, m_data_o}),
    .pop_i(m_valid_o && m_ready_i)
  );

  // ---- all other blocks, one a cycle, through the narrow cipher ----
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, text;
    status_e status;
    block_t claim, hash, block;
  } tag_t;
  typedef enum logic [1:0] {KindNone, KindZero, KindNonce, KindTag} kind_e;

  logic tag_valid, tag_pop, tag_here, tag_done, unused_tags_full, unused_narrow_valid;
  tag_t made_tag, tag;
  kind_e kind_d;
  logic [1:0] kind_bits, kind_out;
  logic [2:0] status_q;
  block_t claim_q;
  always_ff @(posedge clk_i) {status_q, claim_q} <= {status_bits, claim};
  always_comb begin
    made_tag = '{
      slot: sum_slot, open: sum_open, text: sum_text, status: status_e'(status_q), claim: claim_q,
      hash: sum_hash,
      block: sum_block
    };
  end
  fifo_late #(.Cfg(queue($bits(tag_t), Pending))) u_tags (
    .clk_i, .rst_ni, .push_i(sum_valid), .data_i(made_tag), .near_full_o(unused_tags_full),
    .valid_o(tag_valid), .data_o(tag), .pop_i(tag_pop)
  );
  // Nonces go before tags: packets wait for them, and packets of one beat bring a tag every cycle.
  assign ask_ready = !zero_valid;
  assign tag_pop   = tag_valid && !zero_valid && !ask_valid;
  assign kind_d    = zero_valid ? KindZero : ask_valid ? KindNonce : tag_valid ? KindTag : KindNone;

  logic [SlotW-1:0] zero_slot, narrow_slot_q;
  logic [1:0] narrow_kind_q;
  block_t narrow_in_q, narrow_out;
  delay_valid #(.W(2), .Cycles(Late)) u_kind (
    .clk_i, .rst_ni, .valid_i(kind_d), .valid_o(kind_bits)
  );
  delay #(.W(SlotW), .Cycles(Late)) u_zero_slot (.clk_i, .d_i(setup_slot), .q_o(zero_slot));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) narrow_kind_q <= KindNone;
    else narrow_kind_q <= kind_bits;
  end
  always_ff @(posedge clk_i) begin
    narrow_in_q   <= kind_bits == KindTag ? tag.block : kind_bits == KindNonce ? ask : '0;
    narrow_slot_q <= kind_bits == KindTag ? tag.slot : kind_bits == KindNonce ? ask_slot
        : zero_slot;
    narrow_out_q  <= narrow_out;
  end
  cipher_pipe #(.Cfg(narrow(Cfg.pipe))) u_narrow (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(narrow_kind_q != KindNone), .slot_i(narrow_slot_q), .block_i(narrow_in_q),
    .valid_o(unused_narrow_valid), .block_o(narrow_out)
  );
  delay_valid #(.W(2), .Cycles(latency(Cfg.pipe))) u_kind_out (
    .clk_i, .rst_ni, .valid_i(narrow_kind_q), .valid_o(kind_out)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {zero_done, answer_valid, tag_done} <= '0;
    else {zero_done, answer_valid, tag_done} <= {kind_out == KindZero, kind_out == KindNonce,
        kind_out == KindTag};
  end

  assign tag_here = kind_bits == KindTag;
  tag_check #(.Depth(Pending), .TagBytes(Cfg.tag_bytes)) u_tag_check (
    .clk_i, .rst_ni, .mask_valid_i(tag_here), .mask_i(tag.hash), .open_i(tag.open),
    .text_i(tag.text), .status_i(tag.status), .claim_i(tag.claim), .hash_valid_i(tag_done),
    .hash_i(narrow_out_q), .valid_o(verdict_valid_o), .ready_i(verdict_ready_i), .verdict_o
  );

  `SEALWRIGHT_STABLE(Text, m_valid_o, m_ready_i, {m_last_o, m_keep_o, m_data_o})
  `SEALWRIGHT_STABLE(Verdict, verdict_valid_o, verdict_ready_i, verdict_o)

endmodule
