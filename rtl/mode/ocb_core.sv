// AES-OCB3 or Serpent-OCB3 (RFC 7253; nonces of 12 bytes, tags of 16): seals and, with Open = 1, opens packets of any
// length up to 65,535 bytes of text and as many of associated data, Lanes blocks a cycle. Ports as gcm_core's.
//
// A packet takes one beat for each beat of data (one for no text), one for the block that becomes its tag, and one for
// its nonce's block unless its nonce counts on from that of the packet before. Text that is opened goes out before its
// verdict is known: whoever receives it must hold it until then.
//
//   command -> ocb_nonce -> ocb_control -> queue -+
//   s -> queue -----------------------------------+-> join -> [Late] -> [ ] -+-> cipher (and its inverse) -+
//   zero block, tag blocks, nonces' blocks -------+                          +-> masks' queue -------------+-> xor -> m
//
// The join sees only whether words are there and a few flags of the beat; the words themselves come Late cycles later.
//
// The checksum of the plaintext, the hash of the associated data and the final offset are added up behind the cipher, in
// the order of the packets; the sum comes back to the front as the tag's block.

module ocb_core
  import sealwright_pkg::*;
#(
  parameter int unsigned Cipher = Aes128,
  parameter int unsigned Sbox   = SboxTable,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Slots  = 1,
  parameter bit          Open   = 1'b1,
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

  localparam int unsigned Bytes   = 16 * Lanes;
  localparam int unsigned Ahead   = 128;  // beats of text in the cipher or waiting behind it, more than any latency
  localparam int unsigned Pending = 64;   // verdicts under way or waiting

  typedef enum logic [1:0] {KindData, KindZero, KindNonce, KindTag} kind_e;

  // ---- keys ----
  logic rk_we, zero_valid, derive_valid, derive_ready, zero_done;
  logic [SlotW-1:0] rk_slot, setup_slot;
  logic [5:0] rk_index;
  block_t rk, first_out_q;

  key_setup #(.Cipher(Cipher), .Slots(Slots)) u_key_setup (
    .clk_i, .rst_ni,
    .valid_i(key_valid_i), .ready_o(key_ready_o), .slot_i(key_slot_i), .key_i,
    .rk_we_o(rk_we), .rk_slot_o(rk_slot), .rk_index_o(rk_index), .rk_o(rk),
    .zero_valid_o(zero_valid), .zero_ready_i(1'b1), .done_valid_i(zero_done),
    .derive_valid_o(derive_valid), .derive_ready_i(derive_ready), .slot_o(setup_slot)
  );

  logic [SlotW-1:0] table_slot;
  logic [3:0] table_ntz;
  block_t star, dollar;
  block_t [Lanes-1:0] prefix;
  ocb_tables #(.Lanes(Lanes), .Slots(Slots)) u_tables (
    .clk_i, .rst_ni, .valid_i(derive_valid), .write_slot_i(setup_slot), .star_i(first_out_q), .ready_o(derive_ready),
    .slot_i(table_slot), .ntz_i(table_ntz), .star_o(star), .dollar_o(dollar), .prefix_o(prefix)
  );

  // ---- commands, their first offsets, their beats ----
  logic ask_valid, ask_ready, answer_valid, started_valid, started_ready;
  logic [SlotW-1:0] ask_slot, started_slot;
  block_t ask, start_offset;
  lengths_t started;

  ocb_nonce #(.Lanes(Lanes), .Slots(Slots)) u_nonce (
    .clk_i, .rst_ni, .forget_i(key_valid_i && key_ready_o),
    .valid_i(command_valid_i), .ready_o(command_ready_o), .slot_i(command_slot_i), .command_i,
    .ask_valid_o(ask_valid), .ask_ready_i(ask_ready), .ask_slot_o(ask_slot), .ask_o(ask),
    .answer_valid_i(answer_valid), .answer_i(first_out_q),
    .valid_o(started_valid), .ready_i(started_ready), .slot_o(started_slot), .lengths_o(started),
    .offset_o(start_offset)
  );

  // What the join needs at once, and the rest.
  typedef struct packed {
    logic text, data, data_last, ends;
  } flags_t;
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, text_last;
    logic [Lanes-1:0] full, part;
    logic [Bytes-1:0] keep;
    block_t [Lanes-1:0] offset;
    block_t last_offset;
  } beat_t;
  flags_t made_flags, flags;
  beat_t made, beat;
  logic made_valid, beat_valid, beat_pop, beats_full, unused_beat_valid, unused_flags_full;

  ocb_control #(.Lanes(Lanes), .Slots(Slots)) u_control (
    .clk_i, .rst_ni, .valid_i(started_valid), .ready_o(started_ready), .slot_i(started_slot), .lengths_i(started),
    .offset_i(start_offset), .go_i(!beats_full),
    .table_slot_o(table_slot), .table_ntz_o(table_ntz), .star_i(star), .dollar_i(dollar), .prefix_i(prefix),
    .valid_o(made_valid), .slot_o(made.slot), .open_o(made.open), .text_o(made_flags.text), .data_o(made_flags.data),
    .data_last_o(made_flags.data_last), .text_last_o(made.text_last), .end_o(made_flags.ends), .full_o(made.full),
    .part_o(made.part), .keep_o(made.keep), .offset_o(made.offset), .final_o(made.last_offset)
  );
  fifo #(.W($bits(flags_t)), .Depth(32), .Slack(8)) u_flags (
    .clk_i, .rst_ni, .push_i(made_valid), .data_i(made_flags), .near_full_o(unused_flags_full),
    .valid_o(beat_valid), .data_o(flags), .pop_i(beat_pop)
  );
  // Both queues show a word at the same time.
  fifo_late #(.W($bits(beat_t)), .Depth(32), .Slack(8)) u_beats (
    .clk_i, .rst_ni, .push_i(made_valid), .data_i(made), .near_full_o(beats_full),
    .valid_o(unused_beat_valid), .data_o(beat), .pop_i(beat_pop)
  );

  logic claim_pop, unused_claim, unused_claim_full;
  block_t claim;
  // As many as packets may be under way: ocb_nonce keeps fewer than 110, the other queues as many again.
  logic claimed_q;
  block_t claimed_tag_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) claimed_q <= 1'b0;
    else claimed_q <= command_valid_i && command_ready_o;
  end
  always_ff @(posedge clk_i) claimed_tag_q <= command_i.tag;
  fifo_late #(.W(128), .Depth(256)) u_claims (
    .clk_i, .rst_ni, .push_i(claimed_q), .data_i(claimed_tag_q), .near_full_o(unused_claim_full),
    .valid_o(unused_claim), .data_o(claim), .pop_i(claim_pop)
  );

  // ---- join: a beat of data, unless a block of the core's own wants the cipher ----
  // What is the core's own is chosen a cycle before a beat of data would be, and its words come as late.
  logic in_valid, in_last, in_pop, room, own, out_went, verdict_went, tag_valid, tag_pop;
  logic [SlotW-1:0] tag_slot, zero_slot_q;
  block_t tag_block;
  block_t [Lanes-1:0] data;
  logic [$clog2(Ahead+1)-1:0] ahead_q;
  logic [$clog2(Pending+1)-1:0] pending_q;
  logic room_q;  // behind the cipher, for as many beats as three cycles may bring

  stream_in #(.Lanes(Lanes)) u_in (
    .clk_i, .rst_ni, .s_valid_i, .s_ready_o, .s_data_i, .s_last_i,
    .valid_o(in_valid), .last_o(in_last), .pop_i(in_pop), .data_o(data)
  );

  logic own_q, go_q;
  kind_e own_kind_q;
  assign own       = zero_valid || tag_valid || ask_valid;
  assign tag_pop   = tag_valid && !zero_valid;
  assign ask_ready = !zero_valid && !tag_valid;
  assign room      = beat_valid && go_q;
  assign in_pop    = room && flags.data && in_valid;
  assign beat_pop  = room && (!flags.data || in_valid);

  // A cycle later.
  logic popped, went_text, went_end, wrong_last_q;
  flags_t flags_q;
  kind_e kind_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {own_q, go_q, popped, went_text, went_end} <= '0;
    else begin
      {own_q, go_q} <= {own, room_q && !own};
      {popped, went_text, went_end} <= {beat_pop || own_q, in_pop && flags.text, beat_pop && flags.ends};
    end
  end
  always_ff @(posedge clk_i) begin
    own_kind_q   <= zero_valid ? KindZero : tag_valid ? KindTag : KindNonce;
    zero_slot_q  <= setup_slot;
    kind_q       <= own_q ? own_kind_q : KindData;
    flags_q      <= flags;
    wrong_last_q <= flags.data && in_last != flags.data_last;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {out_went, verdict_went, room_q} <= '0;
      ahead_q   <= '0;
      pending_q <= '0;
    end else begin
      out_went     <= m_valid_o && m_ready_i;
      verdict_went <= verdict_valid_o && verdict_ready_i;
      ahead_q      <= ahead_q + $bits(ahead_q)'(went_text) - $bits(ahead_q)'(out_went);
      pending_q    <= pending_q + $bits(pending_q)'(went_end) - $bits(pending_q)'(verdict_went);
      room_q       <= ahead_q < $bits(ahead_q)'(Ahead - 3) && pending_q < $bits(pending_q)'(Pending - 3);
    end
  end

  // Late cycles after the join: the words are here. Those of the core's own came the cycle before.
  logic valid, text, takes_data, ends, wrong_last;
  kind_e kind, kind_before;
  logic [SlotW-1:0] own_slot_q;
  block_t own_block_q;
  delay_valid #(.Cycles(Late - 1)) u_valid (.clk_i, .rst_ni, .valid_i(popped), .valid_o(valid));
  delay #(.W(4), .Cycles(Late - 1)) u_beside (
    .clk_i, .d_i({flags_q.text, flags_q.data, flags_q.ends, wrong_last_q}), .q_o({text, takes_data, ends, wrong_last})
  );
  logic [1:0] kind_bits, kind_before_bits;
  delay #(.W(2), .Cycles(Late - 2)) u_kind_before (.clk_i, .d_i(kind_q), .q_o(kind_before_bits));
  delay #(.W(2), .Cycles(1)) u_kind (.clk_i, .d_i(kind_before_bits), .q_o(kind_bits));
  assign kind_before = kind_e'(kind_before_bits);
  assign kind        = kind_e'(kind_bits);
  always_ff @(posedge clk_i) begin
    own_block_q <= kind_before == KindTag ? tag_block : kind_before == KindNonce ? ask : '0;
    own_slot_q  <= kind_before == KindTag ? tag_slot : kind_before == KindNonce ? ask_slot : zero_slot_q;
  end
  logic unused_data_last;
  assign unused_data_last = flags_q.data_last;

  // The next register: into the cipher; beside it what its output is added to.
  typedef struct packed {
    kind_e kind;
    logic [SlotW-1:0] slot;
    logic open, text, data, text_last, ends, wrong_last;
    logic [Lanes-1:0] full, part;
    logic [Bytes-1:0] keep;
    block_t [Lanes-1:0] mask;
    block_t sum;  // of sealed plaintext, and in the last beat the final offset
  } meta_t;

  // One more bit after the bytes of a block that has fewer than 16.
  function automatic logic [Bytes-1:0] ends_of(logic [Bytes-1:0] keep);
    for (int i = 0; i < Bytes; i++) ends_of[i] = i % 16 != 0 && !keep[i] && keep[i > 0 ? i - 1 : 0];
  endfunction

  logic cipher_valid_q;
  meta_t meta_d, meta_q;
  block_t [Lanes-1:0] kept, padded, cipher_d, cipher_in_q;
  logic [Bytes-1:0] pad;
  assign pad = ends_of(beat.keep);

  always_comb begin
    meta_d.kind       = kind;
    meta_d.slot       = kind == KindData ? beat.slot : own_slot_q;
    meta_d.open       = beat.open;
    meta_d.text       = text;
    meta_d.data       = takes_data;
    meta_d.text_last  = beat.text_last;
    meta_d.ends       = ends;
    meta_d.wrong_last = wrong_last;
    meta_d.full       = beat.full;
    meta_d.part       = beat.part;
    meta_d.keep       = beat.keep;
    meta_d.sum        = beat.last_offset;
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 16; i++) begin
        kept[l][8*i+:8]   = beat.keep[16*l+i] ? data[l][8*i+:8] : '0;
        padded[l][8*i+:8] = beat.keep[16*l+i] ? data[l][8*i+:8] : {pad[16*l+i], 7'b0};
      end
      meta_d.mask[l] = beat.full[l] ? beat.offset[l] : kept[l];
      cipher_d[l]    = beat.offset[l] ^ (beat.part[l] && text ? '0 : padded[l]);
      if (text && !beat.open) meta_d.sum = meta_d.sum ^ padded[l];
    end
    if (kind != KindData) cipher_d[0] = own_block_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cipher_valid_q <= 1'b0;
    else cipher_valid_q <= valid;
  end
  always_ff @(posedge clk_i) begin
    meta_q   <= meta_d;
    cipher_in_q <= cipher_d;
  end

  // ---- the cipher ----
  logic cipher_valid, cipher_soon, unused_meta_valid, unused_meta_full;
  block_t [Lanes-1:0] cipher_out, inverse_out;
  meta_t meta;

  cipher_pipe #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(cipher_valid_q), .slot_i(meta_q.slot), .block_i(cipher_in_q), .valid_o(cipher_valid), .block_o(cipher_out)
  );
  if (Open) begin : gen_inverse
    logic unused_valid;
    cipher_pipe #(
      .Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots), .Inverse(1'b1)
    ) u_inverse (
      .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
      .valid_i(cipher_valid_q), .slot_i(meta_q.slot), .block_i(cipher_in_q), .valid_o(unused_valid), .block_o(inverse_out)
    );
  end else begin : gen_no_inverse
    assign inverse_out = '0;
  end
  delay_valid #(.Cycles(latency(Cipher, Cut) - Late)) u_soon (.clk_i, .rst_ni, .valid_i(cipher_valid_q), .valid_o(cipher_soon));
  fifo_late #(.W($bits(meta_t)), .Depth(Ahead)) u_meta (
    .clk_i, .rst_ni, .push_i(cipher_valid_q), .data_i(meta_q), .near_full_o(unused_meta_full),
    .valid_o(unused_meta_valid), .data_o(meta), .pop_i(cipher_soon)
  );

  // First register behind it.
  logic data_o1, tag_o1;  // what came
  meta_t meta_o1;
  block_t [Lanes-1:0] cipher_o1, inverse_o1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {data_o1, zero_done, answer_valid, tag_o1} <= '0;
    else begin
      data_o1      <= cipher_valid && meta.kind == KindData;
      zero_done    <= cipher_valid && meta.kind == KindZero;
      answer_valid <= cipher_valid && meta.kind == KindNonce;
      tag_o1       <= cipher_valid && meta.kind == KindTag;
    end
  end
  always_ff @(posedge clk_i) begin
    meta_o1    <= meta;
    cipher_o1  <= cipher_out;
    inverse_o1 <= inverse_out;
  end
  assign first_out_q = cipher_o1[0];

  // Second: the text, and the sum over the lanes of the associated data.
  logic valid_o2;
  meta_t meta_o2;
  block_t [Lanes-1:0] text_d, text_o2;
  block_t hash_d, hash_o2;
  always_comb begin
    hash_d = '0;
    for (int l = 0; l < Lanes; l++) begin
      text_d[l] = (Open && meta_o1.open && meta_o1.full[l] ? inverse_o1[l] : cipher_o1[l]) ^ meta_o1.mask[l];
      for (int i = 0; i < 16; i++) if (!meta_o1.keep[16*l+i]) text_d[l][8*i+:8] = '0;
      if (!meta_o1.text && (meta_o1.full[l] || meta_o1.part[l])) hash_d = hash_d ^ cipher_o1[l];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o2 <= 1'b0;
    else valid_o2 <= data_o1;
  end
  always_ff @(posedge clk_i) begin
    meta_o2 <= meta_o1;
    text_o2 <= text_d;
    hash_o2 <= hash_d;
  end

  logic unused_out_full;
  fifo #(.W(128 * Lanes + Bytes + 1), .Depth(Ahead)) u_out (
    .clk_i, .rst_ni, .push_i(valid_o2 && meta_o2.text && meta_o2.data),
    .data_i({meta_o2.text_last, meta_o2.keep, text_o2}), .near_full_o(unused_out_full),
    .valid_o(m_valid_o), .data_o({m_last_o, m_keep_o, m_data_o}), .pop_i(m_valid_o && m_ready_i)
  );

  // Third: the sum over the lanes of opened plaintext. Fourth: the packet's sums.
  logic valid_o3, end_o3, open_o3, wrong_o3, wrong_d, wrong_q;
  logic first_q;  // the packet's first beat comes next
  logic [SlotW-1:0] slot_o3;
  block_t sum_d, sum_o3, hash_o3, total_d, total_q, hash_total_d, hash_total_q;
  logic [Bytes-1:0] out_pad;
  assign out_pad = ends_of(meta_o2.keep);
  always_comb begin
    sum_d = meta_o2.sum;
    if (Open && meta_o2.open && meta_o2.text) begin
      for (int l = 0; l < Lanes; l++) begin
        sum_d = sum_d ^ text_o2[l];
        for (int i = 0; i < 16; i++) sum_d[8*i+7] = sum_d[8*i+7] ^ out_pad[16*l+i];
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o3 <= 1'b0;
      first_q  <= 1'b1;
    end else begin
      valid_o3 <= valid_o2;
      if (valid_o3) first_q <= end_o3;
    end
  end
  assign wrong_d      = wrong_o3 || (wrong_q && !first_q);
  assign total_d      = sum_o3 ^ (first_q ? '0 : total_q);
  assign hash_total_d = hash_o3 ^ (first_q ? '0 : hash_total_q);
  always_ff @(posedge clk_i) begin
    if (valid_o3) {wrong_q, total_q, hash_total_q} <= {wrong_d, total_d, hash_total_d};
  end
  always_ff @(posedge clk_i) begin
    end_o3   <= meta_o2.ends;
    open_o3  <= meta_o2.open;
    wrong_o3 <= meta_o2.wrong_last;
    slot_o3  <= meta_o2.slot;
    sum_o3   <= sum_d;
    hash_o3  <= hash_o2;
  end

  // ---- the tag's block goes to the front, and its cipher block to the verdict ----
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, malformed;
    block_t claim, hash, block;
  } tag_t;
  logic made_tag_q, tag_here, unused_tags_full;
  tag_t made_tag, tag;
  assign claim_pop = cipher_valid && meta.kind == KindData && meta.ends;  // Late cycles before its packet's sums are here
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) made_tag_q <= 1'b0;
    else made_tag_q <= valid_o3 && end_o3;
  end
  always_ff @(posedge clk_i) begin
    made_tag <= '{slot: slot_o3, open: open_o3, malformed: wrong_d, claim: claim, hash: hash_total_d, block: total_d};
  end
  fifo_late #(.W($bits(tag_t)), .Depth(Pending)) u_tags (
    .clk_i, .rst_ni, .push_i(made_tag_q), .data_i(made_tag), .near_full_o(unused_tags_full), .valid_o(tag_valid),
    .data_o(tag), .pop_i(tag_pop)
  );
  assign tag_slot  = tag.slot;
  assign tag_block = tag.block;
  delay_valid #(.Cycles(Late)) u_tag_here (.clk_i, .rst_ni, .valid_i(tag_pop), .valid_o(tag_here));
  tag_check #(.Depth(Pending)) u_tag_check (
    .clk_i, .rst_ni, .mask_valid_i(tag_here), .mask_i(tag.hash), .open_i(tag.open), .claim_i(tag.claim),
    .malformed_i(tag.malformed || (tag.open && !Open)),
    .hash_valid_i(tag_o1), .hash_i(first_out_q),
    .valid_o(verdict_valid_o), .ready_i(verdict_ready_i), .verdict_o
  );

endmodule
