// AES-GCM or Serpent-GCM (SP 800-38D; nonces of 12 bytes, tags of 16): seals and opens packets of any length up to
// 65,535 bytes of text and as many of associated data, Lanes blocks a cycle.
//
// Ports, each with valid and ready:
//   key      a key for a slot; while ready is low the key is being prepared
//   command  what the next packet is; the slot must hold its key
//   s        the packet: associated data from byte 0 of a beat, then text from byte 0 of a beat, `last` on its last beat
//   m        the text, encrypted or decrypted, in as many beats as it came, with keep and last; none for no text
//   verdict  one a packet, in order: its tag, and of an opened one whether it is authentic
//
// A packet takes one beat for each beat of data, and one more if its text is a multiple of Lanes blocks (or empty):
// that carries the lengths. Nothing else separates packets, whatever their keys. Text that is opened goes out before its
// verdict is known: whoever receives it must hold it until then.
//
//   command -+-> keystream -> cipher -> queue -+
//            +-> queue ----> control -> queue -+-> join -> [Late] -> xor -> [ ] -+-> queue -> m
//   s ----------> queue -----------------------+                                 +-> GHASH -> tag_check -> verdict
//
// The join sees only whether words are there and a few flags of the beat; the words themselves come Late cycles later.

module gcm_core
  import sealwright_pkg::*;
#(
  parameter int unsigned Cipher = Aes128,
  parameter int unsigned Sbox   = SboxTable,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Depth  = 6,        // registers in GHASH's loop
  parameter int unsigned Slots  = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                key_valid_i,
  output logic                key_ready_o,
  input  logic [SlotW-1:0]    key_slot_i,
  input  logic [255:0]        key_i,
  input  logic                command_valid_i,
  output logic                command_ready_o,
  input  logic [SlotW-1:0]    command_slot_i,
  input  command_t            command_i,
  input  logic                s_valid_i,
  output logic                s_ready_o,
  input  block_t [Lanes-1:0]  s_data_i,
  input  logic                s_last_i,
  output logic                m_valid_o,
  input  logic                m_ready_i,
  output block_t [Lanes-1:0]  m_data_o,
  output logic [16*Lanes-1:0] m_keep_o,
  output logic                m_last_o,
  output logic                verdict_valid_o,
  input  logic                verdict_ready_i,
  output verdict_t            verdict_o
);

  localparam int unsigned ExpW    = $clog2(Lanes * Depth + 1);
  localparam int unsigned Bytes   = 16 * Lanes;
  localparam int unsigned BeatW   = LenW - 4 - $clog2(Lanes) + 2;  // as gcm_control's
  localparam int unsigned Ahead   = 128;  // beats of keystream under way or waiting, more than any latency
  localparam int unsigned Pending = 32;   // verdicts under way or waiting

  // ---- keys ----
  logic rk_we, zero_valid, zero_done, derive_valid, derive_ready, power_we;
  logic [SlotW-1:0] rk_slot, setup_slot;
  logic [5:0] rk_index;
  logic [ExpW-1:0] power_index;
  block_t rk, power;

  key_setup #(.Cipher(Cipher), .Slots(Slots)) u_key_setup (
    .clk_i, .rst_ni,
    .valid_i(key_valid_i), .ready_o(key_ready_o), .slot_i(key_slot_i), .key_i,
    .rk_we_o(rk_we), .rk_slot_o(rk_slot), .rk_index_o(rk_index), .rk_o(rk),
    .zero_valid_o(zero_valid), .zero_ready_i(1'b1), .done_valid_i(zero_done),
    .derive_valid_o(derive_valid), .derive_ready_i(derive_ready), .slot_o(setup_slot)
  );

  // ---- keystream: ahead of the text ----
  logic stream_ready, stream_valid, stream_go, command_fire, queue_full;
  logic [SlotW-1:0] stream_slot;
  block_t [Lanes-1:0] counter_block;
  logic [$clog2(Ahead+1)-1:0] ahead_q;
  logic ahead_room_q, zero_q, went, zero_went, ks_pop, ks_popped;

  assign command_ready_o = stream_ready && !queue_full;
  assign command_fire    = command_valid_i && command_ready_o;
  assign stream_go       = stream_valid && ahead_room_q;

  gcm_keystream #(.Lanes(Lanes), .Slots(Slots)) u_keystream (
    .clk_i, .rst_ni,
    .valid_i(command_fire), .ready_o(stream_ready), .slot_i(command_slot_i), .nonce_i(command_i.nonce),
    .text_len_i(command_i.text_len), .go_i(stream_go), .valid_o(stream_valid), .slot_o(stream_slot),
    .block_o(counter_block)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q      <= '0;
      ahead_room_q <= 1'b0;
      zero_q       <= 1'b0;
    end else begin
      ahead_q      <= ahead_q + $bits(ahead_q)'(stream_go) - $bits(ahead_q)'(ks_popped);
      ahead_room_q <= ahead_q < $bits(ahead_q)'(Ahead - 1) && !zero_valid;  // the zero block goes next
      zero_q       <= zero_valid;
    end
  end

  delay_valid #(.Cycles(Late)) u_went (.clk_i, .rst_ni, .valid_i(stream_go), .valid_o(went));
  delay_valid #(.Cycles(Late)) u_zero_went (.clk_i, .rst_ni, .valid_i(zero_q), .valid_o(zero_went));

  // ---- the cipher ----
  logic cipher_valid_q, cipher_zero_q, cipher_valid, cipher_zero;
  logic [SlotW-1:0] cipher_slot_q;
  block_t [Lanes-1:0] cipher_in_q, cipher_out;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {cipher_valid_q, cipher_zero_q} <= '0;
    else {cipher_valid_q, cipher_zero_q} <= {went, zero_went};
  end
  always_ff @(posedge clk_i) begin
    cipher_slot_q <= zero_went ? setup_slot : stream_slot;
    cipher_in_q   <= counter_block;
    if (zero_went) cipher_in_q[0] <= '0;
  end

  cipher_pipe #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(cipher_valid_q), .slot_i(cipher_slot_q), .block_i(cipher_in_q),
    .valid_o(cipher_valid), .block_o(cipher_out)
  );
  delay_valid #(.Cycles(latency(Cipher, Cut))) u_zero (
    .clk_i, .rst_ni, .valid_i(cipher_zero_q), .valid_o(cipher_zero)
  );
  assign zero_done = cipher_zero;

  logic ks_valid, unused_ks_full;
  block_t [Lanes-1:0] ks;  // Late cycles after ks_pop
  fifo_late #(.W(128 * Lanes), .Depth(Ahead)) u_ks (
    .clk_i, .rst_ni, .push_i(cipher_valid), .data_i(cipher_out), .near_full_o(unused_ks_full),
    .valid_o(ks_valid), .data_o(ks), .pop_i(ks_pop)
  );

  // ---- what the beats are ----
  logic queued_valid, control_ready, control_valid, beats_full;
  logic [SlotW-1:0] queued_slot;
  logic queued_open;
  logic [LenW-1:0] queued_ad_len, queued_text_len;
  block_t queued_tag;
  logic [BeatW-1:0] queued_beats;

  // How many beats a packet has is added up on the way to the queue.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open;
    logic [LenW-1:0] ad_len, text_len;
    block_t tag;
  } queued_t;
  logic counted_valid;
  queued_t counting_q, counted_q;
  logic [BeatW-1:0] ad_beats_q, text_beats_q, beats_q;
  delay_valid #(.Cycles(2)) u_counted (.clk_i, .rst_ni, .valid_i(command_fire), .valid_o(counted_valid));
  always_ff @(posedge clk_i) begin
    counting_q   <= {command_slot_i, command_i.open, command_i.ad_len, command_i.text_len, command_i.tag};
    ad_beats_q   <= BeatW'(({1'b0, command_i.ad_len} + (LenW+1)'(Bytes - 1)) >> $clog2(Bytes));
    text_beats_q <= BeatW'(({1'b0, command_i.text_len} + (LenW+1)'(Bytes + 15)) >> $clog2(Bytes));
    counted_q    <= counting_q;
    beats_q      <= ad_beats_q + text_beats_q;
  end

  fifo #(.W($bits(queued_t) + BeatW), .Depth(64), .Slack(6)) u_commands (
    .clk_i, .rst_ni, .push_i(counted_valid), .data_i({counted_q, beats_q}), .near_full_o(queue_full),
    .valid_o(queued_valid),
    .data_o({queued_slot, queued_open, queued_ad_len, queued_text_len, queued_tag, queued_beats}),
    .pop_i(queued_valid && control_ready)
  );

  // What the join needs at once, and the rest.
  typedef struct packed {
    logic text, data, data_last, ends;
  } flags_t;
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, text_last, take, fold;
    logic [Lanes-1:0] end_lane;
    logic [Bytes-1:0] keep;
    logic [ExpW-1:0] exponent;
  } beat_t;
  flags_t made_flags, flags;
  beat_t made, beat;
  logic beat_valid, beat_pop, unused_beat_valid, unused_flags_full;

  gcm_control #(.Lanes(Lanes), .Depth(Depth), .Slots(Slots)) u_control (
    .clk_i, .rst_ni, .valid_i(queued_valid), .ready_o(control_ready), .slot_i(queued_slot), .open_i(queued_open),
    .ad_len_i(queued_ad_len), .text_len_i(queued_text_len), .beats_i(queued_beats), .go_i(!beats_full),
    .valid_o(control_valid), .slot_o(made.slot), .open_o(made.open), .text_o(made_flags.text), .data_o(made_flags.data),
    .data_last_o(made_flags.data_last), .text_last_o(made.text_last), .end_o(made_flags.ends),
    .end_lane_o(made.end_lane), .keep_o(made.keep), .exponent_o(made.exponent), .take_o(made.take), .fold_o(made.fold)
  );
  fifo #(.W($bits(flags_t)), .Depth(16), .Slack(6)) u_flags (
    .clk_i, .rst_ni, .push_i(control_valid), .data_i(made_flags), .near_full_o(unused_flags_full),
    .valid_o(beat_valid), .data_o(flags), .pop_i(beat_pop)
  );
  // Both queues show a word at the same time.
  fifo_late #(.W($bits(beat_t)), .Depth(16), .Slack(6)) u_beats (
    .clk_i, .rst_ni, .push_i(control_valid), .data_i(made), .near_full_o(beats_full),
    .valid_o(unused_beat_valid), .data_o(beat), .pop_i(beat_pop)
  );

  // What the packet's last beat needs to know.
  logic known_q, unused_info, unused_info_full;
  logic [LenW-1:0] info_ad_len, info_text_len;
  block_t info_tag;
  logic [2*LenW+127:0] known_info_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else known_q <= queued_valid && control_ready;
  end
  always_ff @(posedge clk_i) known_info_q <= {queued_ad_len, queued_text_len, queued_tag};
  fifo_late #(.W(2 * LenW + 128), .Depth(32)) u_info (
    .clk_i, .rst_ni, .push_i(known_q), .data_i(known_info_q), .near_full_o(unused_info_full),
    .valid_o(unused_info), .data_o({info_ad_len, info_text_len, info_tag}), .pop_i(beat_pop && flags.ends)
  );

  // ---- the data joins ----
  logic in_valid, in_last, in_pop, out_full, room, verdict_went;
  block_t [Lanes-1:0] data;
  logic [$clog2(Pending+1)-1:0] pending_q;
  logic go_q;  // there is room for the text and for the verdict

  stream_in #(.Lanes(Lanes)) u_in (
    .clk_i, .rst_ni, .s_valid_i, .s_ready_o, .s_data_i, .s_last_i,
    .valid_o(in_valid), .last_o(in_last), .pop_i(in_pop), .data_o(data)
  );

  assign room     = beat_valid && (!flags.text || ks_valid) && go_q;
  assign in_pop   = room && flags.data && in_valid;
  assign beat_pop = room && (!flags.data || in_valid);
  assign ks_pop   = beat_pop && flags.text;

  // A cycle later.
  logic popped, ended_q, wrong_last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {popped, ks_popped, ended_q} <= '0;
    else {popped, ks_popped, ended_q} <= {beat_pop, ks_pop, beat_pop && flags.ends};
  end
  flags_t flags_q;
  always_ff @(posedge clk_i) begin
    flags_q      <= flags;
    wrong_last_q <= flags.data && in_last != flags.data_last;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      verdict_went <= 1'b0;
      pending_q    <= '0;
      go_q         <= 1'b0;
    end else begin
      verdict_went <= verdict_valid_o && verdict_ready_i;
      pending_q    <= pending_q + $bits(pending_q)'(ended_q) - $bits(pending_q)'(verdict_went);
      go_q         <= !out_full && pending_q < $bits(pending_q)'(Pending - 2);
    end
  end

  // Late cycles after the join: the words are here.
  logic valid, text, takes_data, ends, wrong_last;
  delay_valid #(.Cycles(Late - 1)) u_valid (.clk_i, .rst_ni, .valid_i(popped), .valid_o(valid));
  delay #(.W(4), .Cycles(Late - 1)) u_beside (
    .clk_i, .d_i({flags_q.text, flags_q.data, flags_q.ends, wrong_last_q}), .q_o({text, takes_data, ends, wrong_last})
  );
  logic unused_data_last;
  assign unused_data_last = flags_q.data_last;

  // The next register: the text out, and what is hashed.
  logic beat_valid_q, out_valid_q, mask_valid_q, end_q, open_q, malformed_q;
  beat_t beat_q;
  block_t [Lanes-1:0] out_d, out_q, x_d, x_q;
  block_t mask_d, mask_q, claim_q;

  always_comb begin
    mask_d = '0;
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        out_d[l][8*i+:8] = beat.keep[16*l+i] ? data[l][8*i+:8] ^ ks[l][8*i+:8] : '0;
        x_d[l][8*i+:8]   = beat.keep[16*l+i] ? data[l][8*i+:8] ^ (text && !beat.open ? ks[l][8*i+:8] : 8'b0) : '0;
      end
      if (beat.end_lane[l]) begin
        mask_d = mask_d ^ ks[l];
        x_d[l] = reverse_bytes({64'({info_ad_len, 3'b0}), 64'({info_text_len, 3'b0})});
      end
      x_d[l] = element(x_d[l]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_valid_q     <= 1'b0;
      {out_valid_q, mask_valid_q} <= '0;
      malformed_q <= 1'b0;
    end else begin
      beat_valid_q     <= valid;
      {out_valid_q, mask_valid_q} <= {valid && text && takes_data, valid && ends};
      if (valid) malformed_q <= wrong_last || (malformed_q && !end_q);
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid) end_q <= ends;  // of the last beat that came by
    beat_q  <= beat;
    out_q   <= out_d;
    x_q     <= x_d;
    mask_q  <= mask_d;
    claim_q <= info_tag;
    open_q  <= beat.open;
  end

  fifo #(.W(128 * Lanes + Bytes + 1), .Depth(32), .Slack(8)) u_out (
    .clk_i, .rst_ni, .push_i(out_valid_q),
    .data_i({beat_q.text_last, beat_q.keep, out_q}), .near_full_o(out_full),
    .valid_o(m_valid_o), .data_o({m_last_o, m_keep_o, m_data_o}), .pop_i(m_valid_o && m_ready_i)
  );

  // ---- the hash and the verdict ----
  logic unused_beat;
  assign unused_beat = ^{beat_q.open, beat_q.end_lane};

  logic hash_valid;
  block_t hash;

  ghash_powers #(.Count(Lanes * Depth)) u_powers (
    .clk_i, .rst_ni, .valid_i(derive_valid), .h_i(element(cipher_out[0])), .ready_o(derive_ready),
    .we_o(power_we), .index_o(power_index), .power_o(power)
  );
  ghash_stride #(.Lanes(Lanes), .Depth(Depth), .Slots(Slots)) u_ghash (
    .clk_i, .rst_ni, .power_we_i(power_we), .power_slot_i(setup_slot), .power_index_i(power_index), .power_i(power),
    .valid_i(beat_valid_q), .slot_i(beat_q.slot), .x_i(x_q), .exponent_i(beat_q.exponent), .take_i(beat_q.take),
    .fold_i(beat_q.fold), .last_i(end_q), .valid_o(hash_valid), .hash_o(hash)
  );
  tag_check #(.Depth(Pending)) u_tag_check (
    .clk_i, .rst_ni, .mask_valid_i(mask_valid_q), .mask_i(mask_q), .open_i(open_q), .claim_i(claim_q),
    .malformed_i(malformed_q), .hash_valid_i(hash_valid), .hash_i(element(hash)),
    .valid_o(verdict_valid_o), .ready_i(verdict_ready_i), .verdict_o
  );

endmodule
