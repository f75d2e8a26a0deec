// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Behind OCB's cipher: the text, the checksum of the plaintext and the hash of the associated data.
//
// Four stages of registers: the outputs of the ciphers; the text, and the hash summed over the
// lanes; the checksum summed over the lanes; both summed over the packet. The last checksum, plus
// the offset of the tag, is the block that is encrypted to the tag.

module ocb_sums
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  parameter bit          Open  = 1'b1,
  localparam int unsigned SlotW = slot_bits(Slots),
  localparam int unsigned Bytes = 16 * Lanes
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  input  block_t [Lanes-1:0] cipher_i,
  input  block_t [Lanes-1:0] inverse_i,
  // of the beat
  input  logic [SlotW-1:0]   slot_i,
  input  logic               open_i,
  input  logic               out_i,      // its text is output
  input  logic               has_text_i,
  input  logic               end_i,      // the packet's last beat
  input  logic               short_i,    // the frame lacks this beat
  input  logic [Lanes-1:0]   lane_i,     // lanes with text
  input  logic [Lanes-1:0]   full_i,
  input  logic [Lanes-1:0]   part_i,
  input  logic [Bytes-1:0]   keep_i,     // bytes of text
  input  block_t [Lanes-1:0] mask_i,     // added to the cipher's output
  // sum of plaintext that is sealed, and in the last beat the offset of the tag
  input  block_t             sum_i,
  // text, two cycles later
  output logic               text_valid_o,
  output logic               text_last_o,
  output logic [Bytes-1:0]   text_keep_o,
  output block_t [Lanes-1:0] text_o,
  // sums, four cycles later
  output logic               sum_valid_o,
  output logic [SlotW-1:0]   sum_slot_o,
  output logic               sum_open_o,
  output logic               sum_text_o,
  output block_t             block_o,
  output block_t             hash_o
);

  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, has_text, ends;
  } about_t;

  logic [3:1] valid_q;
  about_t about_q1, about_q2, about_q3;
  logic out_q1, out_q2, short_q1, short_q2;
  logic [Lanes-1:0] lane_q1, mix_q2, inverse_lane_q1, hashed_q1;
  logic [Bytes-1:0] keep_q1, keep_q2, pad_q2;
  block_t [Lanes-1:0] cipher_q1, inverse_q1, mask_q1, text_d, text_q2;
  block_t sum_q1, sum_q2, sum_q3, sum_d, hash_d, hash_q2, hash_q3;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[2:1], valid_i};
  end

  always_comb begin
    hash_d = '0;
    for (int l = 0; l < Lanes; l++) begin
      text_d[l] = (inverse_lane_q1[l] ? inverse_q1[l] : cipher_q1[l]) ^ mask_q1[l];
      for (int i = 0; i < 16; i++) if (!keep_q1[16*l+i]) text_d[l][8*i+:8] = '0;
      if (hashed_q1[l]) hash_d = hash_d ^ cipher_q1[l];
    end
    // A partial block of opened plaintext is padded with a one bit.
    sum_d = sum_q2;
    if (Open) begin
      for (int l = 0; l < Lanes; l++) begin
        if (mix_q2[l]) sum_d = sum_d ^ text_q2[l];
        for (int i = 0; i < 16; i++) sum_d[8*i+7] = sum_d[8*i+7] ^ pad_q2[16*l+i];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    about_q1   <= '{slot: slot_i, open: open_i, has_text: has_text_i, ends: end_i};
    out_q1     <= out_i;
    short_q1   <= short_i;
    lane_q1    <= lane_i;
    hashed_q1  <= (full_i | part_i) & ~lane_i;
    inverse_lane_q1 <= Open && open_i ? full_i : '0;
    keep_q1    <= keep_i;
    mask_q1    <= mask_i;
    cipher_q1  <= cipher_i;
    inverse_q1 <= inverse_i;
    sum_q1     <= sum_i;

    about_q2 <= about_q1;
    out_q2   <= out_q1;
    short_q2 <= short_q1;
    mix_q2   <= about_q1.open ? lane_q1 : '0;
    keep_q2  <= keep_q1;
    text_q2  <= text_d;
    hash_q2  <= hash_d;
    sum_q2   <= sum_q1;
    for (int i = 0; i < Bytes; i++)
      pad_q2[i] <= about_q1.open && i % 16 != 0 && !keep_q1[i] && keep_q1[i > 0 ? i - 1 : 0];

    about_q3 <= about_q2;
    sum_q3   <= sum_d;
    hash_q3  <= hash_q2;
  end

  assign text_valid_o = valid_q[2] && out_q2;
  assign text_last_o  = about_q2.ends;
  assign text_keep_o  = keep_q2;
  assign text_o       = short_q2 ? '0 : text_q2;

  logic first_q;  // the packet's first beat comes next
  block_t block_d, hash_total_d;
  assign block_d      = sum_q3 ^ (first_q ? '0 : block_o);
  assign hash_total_d = hash_q3 ^ (first_q ? '0 : hash_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q     <= 1'b1;
      sum_valid_o <= 1'b0;
    end else begin
      if (valid_q[3]) first_q <= about_q3.ends;
      sum_valid_o <= valid_q[3] && about_q3.ends;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[3]) {block_o, hash_o} <= {block_d, hash_total_d};
    sum_slot_o <= about_q3.slot;
    sum_open_o <= about_q3.open;
    sum_text_o <= about_q3.has_text;
  end

endmodule
