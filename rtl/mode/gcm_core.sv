// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES-GCM or Serpent-GCM (SP 800-38D; nonces of 12 bytes, tags of Cfg.tag_bytes): seals and opens
// packets of any length up to 65,535 bytes of text and as many of associated data, Lanes blocks a
// cycle.
//
// Ports, each with valid and ready:
//   key      loads a key into a slot, or erases it (key_guard)
//   command  describes the next packet: command_t, and its slot
//   s        its frame: blocks of associated data, then blocks of text, with keep and last; a
//            packet without data has one beat without a byte
//   m        the encrypted or decrypted text, in the lanes and beats of its input, with keep and
//            last; a packet without text has no frame here
//   verdict  one per packet, in order: its status, and the tag of a sealed packet
//
// A packet takes one cycle per beat of its frame, and packets follow each other without a gap,
// whatever their keys. Decrypted text is output before its verdict is known: the receiver must hold
// it back until then (text_hold does).
//
//   command -+-> keystream -> cipher -> queue -+
//            +-> J0 -> narrow cipher -> queue -+
//            +-> queue ----> control -> queue -+
//   s -----> frame_in -> queue ----------------+-> join -> [Late] -> xor
//
//   xor -> [register] -+-> [register] -> queue -> m
//                      +-> GHASH -> tag_check -> verdict
//
// The join sees only the valid bits of the queues and two flags of the beat; the words themselves
// arrive Late cycles later.

`include "assert.svh"

module gcm_core
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

  localparam int unsigned ExpW    = $clog2(Lanes * Cfg.depth + 2);
  localparam int unsigned Bytes   = 16 * Lanes;
  // beats of keystream in the cipher or in its queue; more than any latency
  localparam int unsigned Ahead   = 128;
  localparam int unsigned Pending = 64;   // packets from last beat until their verdict is taken
  // commands that wait for their keystream; more than the cipher's latency
  localparam int unsigned Waiting = latency(Cfg.pipe) + 12 > 64 ? 128 : 64;

  // ---- keys ----
  logic setup_valid, setup_ready, rk_we, zero_valid, zero_done, derive_valid, derive_ready;
  logic power_we;
  logic command_fire, flight_full;
  logic [SlotW-1:0] key_slot, rk_slot, setup_slot, command_slot_q;
  command_t command_q;
  logic [255:0] setup_key;
  logic [5:0] rk_index;
  logic [ExpW-1:0] power_index;
  block_t rk, power;
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

  // ---- commands ----
  // None is accepted that would reach the narrow cipher together with the zero block.
  logic stream_full, made_full, frames_full, zero_q2;
  command_in #(.SlotW(SlotW)) u_command (
    .clk_i, .rst_ni,
    .full_i(stream_full || made_full || frames_full || flight_full || zero_valid),
    .valid_i(command_valid_i), .ready_o(command_ready_o), .slot_i(command_slot_i), .command_i,
    .valid_o(command_fire), .slot_o(command_slot_q), .command_o(command_q)
  );
  delay_valid #(.Cycles(2)) u_zero_in (.clk_i, .rst_ni, .valid_i(zero_valid), .valid_o(zero_q2));

  // Their lengths, and whether they were refused, three cycles later.
  logic counted;
  logic [SlotW-1:0] counted_slot;
  lengths_t lengths;
  delay_valid #(.Cycles(3)) u_counted (.clk_i, .rst_ni, .valid_i(command_fire), .valid_o(counted));
  delay #(.W(SlotW), .Cycles(3)) u_counted_slot (.clk_i, .d_i(command_slot_q), .q_o(counted_slot));
  packet_lengths #(.Lanes(Lanes)) u_lengths (
    .clk_i, .open_i(command_q.open), .ad_len_i(command_q.ad_len), .text_len_i(command_q.text_len),
    .refused_i(admission != StatusOk), .lengths_o(lengths)
  );

  // What the last beat of a packet needs.
  logic informed_q, info_pop, unused_info, unused_info_full;
  typedef struct packed {
    status_e status;
    logic [LenW-1:0] ad_len, text_len;
    block_t tag;
  } info_t;
  info_t info_q1, info_q2, info_made, info;
  delay_valid #(.Cycles(2)) u_informed (
    .clk_i, .rst_ni, .valid_i(command_fire), .valid_o(informed_q)
  );
  always_ff @(posedge clk_i) begin
    info_q1 <= '{status: StatusOk, ad_len: command_q.ad_len, text_len: command_q.text_len,
        tag: command_q.tag};
    info_q2 <= info_q1;
  end
  always_comb begin
    info_made        = info_q2;
    info_made.status = admission;
  end
  fifo_late #(.Cfg(queue($bits(info_t), Flight))) u_info (
    .clk_i, .rst_ni, .push_i(informed_q), .data_i(info_made), .near_full_o(unused_info_full),
    .valid_o(unused_info), .data_o(info), .pop_i(info_pop)
  );

  // ---- a cipher of one lane: of J0, whose encryption masks the tag, and of the zero block ----
  logic narrow_valid_q, narrow_zero_q, narrow_valid, narrow_zero, mask_valid, unused_mask_full;
  logic [SlotW-1:0] narrow_slot_q;
  block_t narrow_in_q, narrow_out, mask;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {narrow_valid_q, narrow_zero_q} <= '0;
    else {narrow_valid_q, narrow_zero_q} <= {command_fire, zero_q2};
  end
  always_ff @(posedge clk_i) begin
    narrow_slot_q <= zero_q2 ? setup_slot : command_slot_q;
    narrow_in_q   <= zero_q2 ? '0 : {32'h01000000, command_q.nonce};
  end
  cipher_pipe #(.Cfg(narrow(Cfg.pipe))) u_narrow (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(narrow_valid_q), .slot_i(narrow_slot_q), .block_i(narrow_in_q),
    .valid_o(narrow_valid), .block_o(narrow_out)
  );
  delay_valid #(.Cycles(latency(Cfg.pipe))) u_zero (
    .clk_i, .rst_ni, .valid_i(narrow_zero_q), .valid_o(narrow_zero)
  );
  assign zero_done = narrow_zero;
  fifo_late #(.Cfg(queue(128, Flight))) u_masks (
    .clk_i, .rst_ni, .push_i(narrow_valid), .data_i(narrow_out), .near_full_o(unused_mask_full),
    .valid_o(mask_valid), .data_o(mask), .pop_i(info_pop)
  );

  // ---- keystream: ahead of the text ----
  logic stream_valid, stream_go, went, ks_pop, ks_popped, ahead_room_q;
  logic [SlotW-1:0] stream_slot, cipher_slot_q;
  logic [$clog2(Ahead+1)-1:0] ahead_q;
  logic cipher_valid_q, cipher_valid, ks_valid, unused_ks_full;
  block_t [Lanes-1:0] counter_block, cipher_in_q, cipher_out, ks;  // ks: Late cycles after ks_pop

  assign stream_go = stream_valid && ahead_room_q;
  gcm_keystream #(.Lanes(Lanes), .Slots(Slots)) u_keystream (
    .clk_i, .rst_ni, .valid_i(command_fire), .full_o(stream_full), .slot_i(command_slot_q),
    .nonce_i(command_q.nonce), .ad_len_i(command_q.ad_len), .text_len_i(command_q.text_len),
    .go_i(stream_go), .valid_o(stream_valid), .slot_o(stream_slot), .block_o(counter_block)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q      <= '0;
      ahead_room_q <= 1'b0;
    end else begin
      ahead_q      <= ahead_q + $bits(ahead_q)'(stream_go) - $bits(ahead_q)'(ks_popped);
      ahead_room_q <= ahead_q < $bits(ahead_q)'(Ahead - 1);
    end
  end
  delay_valid #(.Cycles(Late)) u_went (.clk_i, .rst_ni, .valid_i(stream_go), .valid_o(went));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cipher_valid_q <= 1'b0;
    else cipher_valid_q <= went;
  end
  always_ff @(posedge clk_i) begin
    cipher_slot_q <= stream_slot;
    cipher_in_q   <= counter_block;
  end
  cipher_pipe #(.Cfg(Cfg.pipe)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(cipher_valid_q), .slot_i(cipher_slot_q), .block_i(cipher_in_q),
    .valid_o(cipher_valid), .block_o(cipher_out)
  );
  fifo_late #(.Cfg(queue(128 * Lanes, Ahead))) u_ks (
    .clk_i, .rst_ni, .push_i(cipher_valid), .data_i(cipher_out), .near_full_o(unused_ks_full),
    .valid_o(ks_valid), .data_o(ks), .pop_i(ks_pop)
  );

  // ---- descriptions of the beats ----
  logic queued_valid, control_ready, control_valid, beats_full;
  logic [SlotW-1:0] queued_slot;
  lengths_t queued;
  fifo #(.Cfg(queue(SlotW + $bits(lengths_t), Waiting, 8))) u_commands (
    .clk_i, .rst_ni, .push_i(counted), .data_i({counted_slot, lengths}), .near_full_o(made_full),
    .valid_o(queued_valid), .data_o({queued_slot, queued}), .pop_i(queued_valid && control_ready)
  );

  // What the join needs at the pop, and what is needed Late cycles after it.
  typedef struct packed {
    logic text, ends;
  } flags_t;
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, refused, has_text, text, ends, take, fold;
    logic [Lanes-1:0] lane, mix;  // lanes with text, with text that is sealed
    logic [Bytes-1:0] keep;
    logic [ExpW-1:0] exponent;
  } beat_t;
  flags_t flags;
  beat_t made, beat;
  logic beat_valid, pop;

  gcm_control #(.Lanes(Lanes), .Depth(Cfg.depth), .Slots(Slots)) u_control (
    .clk_i, .rst_ni, .valid_i(queued_valid), .ready_o(control_ready), .slot_i(queued_slot),
    .lengths_i(queued), .go_i(!beats_full), .valid_o(control_valid), .slot_o(made.slot),
    .open_o(made.open), .refused_o(made.refused), .has_text_o(made.has_text), .text_o(made.text),
    .end_o(made.ends), .lane_o(made.lane), .keep_o(made.keep), .exponent_o(made.exponent),
    .take_o(made.take), .fold_o(made.fold)
  );
  assign made.mix = made.lane & {Lanes{!made.open}};
  fifo_split #(.Flags($bits(flags_t)), .Cfg(queue($bits(beat_t), 16, 6))) u_beats (
    .clk_i, .rst_ni, .push_i(control_valid), .flags_i({made.text, made.ends}), .data_i(made),
    .near_full_o(beats_full), .valid_o(beat_valid), .flags_o(flags), .data_o(beat), .pop_i(pop)
  );

  // ---- join: keystream, beats and data ----
  logic in_valid, in_short, in_long, out_full, go_q;
  block_t [Lanes-1:0] data;
  logic [Bytes-1:0] in_keep;
  frame_in #(.Lanes(Lanes), .Numbered(Cfg.numbered)) u_in (
    .clk_i, .rst_ni, .packet_i(counted), .beats_i(lengths.beats), .full_o(frames_full), .s_valid_i,
    .s_ready_o, .s_data_i, .s_keep_i, .s_last_i, .s_ended_i, .valid_o(in_valid), .pop_i(pop),
    .data_o(data), .keep_o(in_keep), .short_o(in_short), .long_o(in_long)
  );

  assign pop      = beat_valid && in_valid && go_q && (!flags.text || ks_valid)
      && (!flags.ends || mask_valid);
  assign ks_pop   = pop && flags.text;
  assign info_pop = pop && flags.ends;

  // go_q: there is room for the text and for the verdict.
  logic ended_q, verdict_went;
  logic [$clog2(Pending+1)-1:0] pending_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ks_popped, ended_q, verdict_went, go_q} <= '0;
      pending_q <= '0;
    end else begin
      ks_popped    <= ks_pop;
      ended_q      <= info_pop;
      verdict_went <= verdict_valid_o && verdict_ready_i;
      pending_q    <= pending_q + $bits(pending_q)'(ended_q) - $bits(pending_q)'(verdict_went);
      go_q         <= !out_full && pending_q < $bits(pending_q)'(Pending - 3);
    end
  end

  // Late cycles after the pop the words are here. The next register holds the input of GHASH, and
  // data XOR keystream in all lanes, with or without text.
  logic valid, valid_q;
  beat_t beat_q;
  block_t [Lanes-1:0] mixed_q, x_d, x_q;
  block_t after_q, mask_q, claim_q;
  logic short_q;
  delay_valid #(.Cycles(Late)) u_valid (.clk_i, .rst_ni, .valid_i(pop), .valid_o(valid));

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        x_d[l][8*i+:8] = beat.keep[16*l+i] ? data[l][8*i+:8] ^ (beat.mix[l] ? ks[l][8*i+:8] : 8'b0)
            : '0;
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid;
  end
  always_ff @(posedge clk_i) begin
    beat_q  <= beat;
    mixed_q <= data ^ ks;
    for (int l = 0; l < Lanes; l++) x_q[l] <= element(x_d[l]);
    short_q  <= in_short;
    after_q  <= beat.ends
        ? element(reverse_bytes({64'({info.ad_len, 3'b0}), 64'({info.text_len, 3'b0})})) : '0;
    mask_q   <= mask;
    claim_q  <= info.tag;
  end

  // One register later: the text alone. Nothing of a refused packet is output, and zeros for beats
  // that its frame lacks.
  typedef struct packed {
    logic last;
    logic [Bytes-1:0] keep;
    block_t [Lanes-1:0] data;
  } out_t;
  logic out_valid_q2;
  logic [Bytes-1:0] shows;
  out_t out_q2, out;
  block_t mask_q2, claim_q2;
  logic open_q2, text_q2;
  always_comb begin
    for (int i = 0; i < Bytes; i++) shows[i] = beat_q.keep[i] && beat_q.lane[i/16];
  end

  logic ends_q2;
  status_e status_q2;
  frame_status #(.Lanes(Lanes)) u_status (
    .clk_i, .rst_ni, .valid_i(valid), .ends_i(beat.ends), .keep_i(beat.keep), .in_keep_i(in_keep),
    .short_i(in_short), .long_i(in_long), .admission_i(info.status), .valid_o(ends_q2),
    .status_o(status_q2)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q2 <= 1'b0;
    else out_valid_q2 <= valid_q && beat_q.text && !beat_q.refused;
  end
  always_ff @(posedge clk_i) begin
    out_q2.last <= beat_q.ends;
    for (int i = 0; i < Bytes; i++) begin
      out_q2.keep[i]               <= shows[i];
      out_q2.data[i/16][8*(i%16)+:8] <= shows[i] && !short_q ? mixed_q[i/16][8*(i%16)+:8] : '0;
    end
    mask_q2   <= mask_q;
    claim_q2  <= claim_q;
    open_q2   <= beat_q.open;
    text_q2   <= beat_q.has_text && !beat_q.refused;
  end
  fifo_port #(.Cfg(queue($bits(out_t), 32, 10))) u_out (
    .clk_i, .rst_ni, .push_i(out_valid_q2), .data_i(out_q2), .near_full_o(out_full),
    .valid_o(m_valid_o), .data_o(out), .pop_i(m_valid_o && m_ready_i)
  );
  assign {m_last_o, m_keep_o, m_data_o} = out;

  // ---- the hash and the verdict ----
  logic hash_valid;
  block_t hash;
  ghash_powers #(.Count(Lanes * Cfg.depth + 1)) u_powers (
    .clk_i, .rst_ni, .valid_i(derive_valid), .h_i(element(narrow_out)), .ready_o(derive_ready),
    .we_o(power_we), .index_o(power_index), .power_o(power)
  );
  ghash_stride #(.Lanes(Lanes), .Depth(Cfg.depth), .Slots(Slots)) u_ghash (
    .clk_i, .rst_ni, .power_we_i(power_we), .power_slot_i(setup_slot), .power_index_i(power_index),
    .power_i(power), .valid_i(valid_q), .slot_i(beat_q.slot), .x_i(x_q), .after_i(after_q),
    .exponent_i(beat_q.exponent), .take_i(beat_q.take), .fold_i(beat_q.fold), .last_i(beat_q.ends),
    .valid_o(hash_valid), .hash_o(hash)
  );
  tag_check #(.Depth(Pending), .TagBytes(Cfg.tag_bytes)) u_tag_check (
    .clk_i, .rst_ni, .mask_valid_i(ends_q2), .mask_i(mask_q2), .open_i(open_q2), .text_i(text_q2),
    .status_i(status_q2), .claim_i(claim_q2), .hash_valid_i(hash_valid), .hash_i(element(hash)),
    .valid_o(verdict_valid_o), .ready_i(verdict_ready_i), .verdict_o
  );

  `SEALWRIGHT_STABLE(Text, m_valid_o, m_ready_i, {m_last_o, m_keep_o, m_data_o})
  `SEALWRIGHT_STABLE(Verdict, verdict_valid_o, verdict_ready_i, verdict_o)

endmodule
