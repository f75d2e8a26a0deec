// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Adds to each command the offset of its nonce (RFC 7253, section 4.2), on the way to ocb_control.
//
// The offset is cut out of E(K, nonce with its last six bits zero), stretched. A nonce that counts
// up therefore needs the cipher once in 64 packets: no block is sent if the upper bits equal those
// of the slot's previous packet. A block is sent as soon as its command is accepted; commands wait
// in a queue that is longer than the cipher, so that earlier packets are not held up.
//
//   command -> [3 registers] -> queue, and queue of blocks for the cipher
//     -> stretch, shift [3 registers] -> offset

module ocb_nonce
  import sealwright_pkg::*;
#(
  parameter int unsigned Slots    = 1,
  parameter int unsigned TagBytes = 16,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // slots that hold a key; blocks under another key are forgotten
  input  logic [Slots-1:0] slot_valid_i,
  input  logic             wipe_i,          // the key of wipe_slot_i is being changed
  input  logic [SlotW-1:0] wipe_slot_i,
  input  logic             valid_i,
  output logic             full_o,          // rises some commands early
  input  logic [SlotW-1:0] slot_i,
  input  logic [95:0]      nonce_i,
  input  lengths_t         lengths_i,       // of the command three cycles ago
  output logic             ask_valid_o,     // a block for the cipher
  input  logic             ask_ready_i,
  output logic [SlotW-1:0] ask_slot_o,      // Late cycles after it was accepted
  output block_t           ask_o,
  input  logic             answer_valid_i,  // from the cipher, in order
  input  block_t           answer_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [SlotW-1:0] slot_o,
  output lengths_t         lengths_o,
  output block_t           offset_o         // Late cycles after the rest was accepted
);

  // commands that wait for their block; more than the cipher's latency
  localparam int unsigned Wait = 128;

  // ---- request a block ----
  // Three registers between command and queue: the second compares the nonce, in groups of bits,
  // with that in the memory and with the command before, not yet in it; the third has the result.
  localparam int unsigned Groups = 6;
  typedef logic [Groups-1:0][14:0] upper_t;  // of the nonce, without the last byte's six low bits
  logic queue_full, asks_full;
  logic [Slots-1:0] known_q;                 // the slot had a packet under its key
  upper_t upper, latest_q1, upper_q1, upper_q2, upper_q3, asked;

  logic [3:1] valid_q;
  logic follows_q1, follows_q2;  // the command before has the same slot
  logic known_q2, fresh_q3;      // fresh_q3: valid, and needs a block
  logic [Groups-1:0] latest_q2, before_q2;  // groups that are equal
  logic [SlotW-1:0] slot, slot_q1, slot_q2, slot_q3;
  logic [5:0] bottom_q1, bottom_q2, bottom_q3;  // the six low bits

  assign full_o = queue_full || asks_full;
  assign slot   = Slots > 1 ? slot_i : '0;
  assign upper  = {nonce_i[95:94], nonce_i[87:0]};

  (* ram_style = "distributed" *)
  upper_t latest [Slots];
  always_ff @(posedge clk_i) begin
    if (valid_q[1]) latest[slot_q1] <= upper_q1;
    latest_q1 <= latest[slot];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      fresh_q3 <= 1'b0;
      known_q  <= '0;
    end else begin
      valid_q  <= {valid_q[2:1], valid_i};
      fresh_q3 <= valid_q[2] && !(known_q2 && (follows_q2 ? &before_q2 : &latest_q2));
      for (int s = 0; s < Slots; s++) begin
        known_q[s] <= (known_q[s] || (valid_q[1] && slot_q1 == SlotW'(s))) && slot_valid_i[s];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    slot_q1    <= slot;
    upper_q1   <= upper;
    bottom_q1  <= nonce_i[93:88];
    follows_q1 <= valid_q[1] && slot == slot_q1;
    follows_q2 <= follows_q1;
    for (int i = 0; i < Groups; i++) begin
      latest_q2[i] <= upper_q1[i] == latest_q1[i];
      before_q2[i] <= upper_q1[i] == upper_q2[i];
    end
    known_q2  <= known_q[slot_q1];
    slot_q2   <= slot_q1;
    upper_q2  <= upper_q1;
    bottom_q2 <= bottom_q1;
    slot_q3   <= slot_q2;
    upper_q3  <= upper_q2;
    bottom_q3 <= bottom_q2;
  end

  fifo_late #(.Cfg(queue(SlotW + 15 * Groups, 32, 8))) u_asks (
    .clk_i, .rst_ni, .push_i(fresh_q3), .data_i({slot_q3, upper_q3}), .near_full_o(asks_full),
    .valid_o(ask_valid_o), .data_o({ask_slot_o, asked}), .pop_i(ask_valid_o && ask_ready_i)
  );
  // The block begins with seven bits for the length of the tag in bits, modulo 128: a nonce means
  // different offsets with different lengths.
  localparam logic [6:0] TagBits = 7'(8 * TagBytes % 128);
  assign ask_o = {
    asked[5][14:13], 6'b0, asked[5][12:0], asked[4:0], 24'h010000, TagBits, 1'b0
  };

  // ---- wait for the encrypted block ----
  logic queued_valid, queued_fresh, take;
  logic [SlotW-1:0] taken_slot, queued_slot, done_slot;
  lengths_t queued_lengths, done_lengths;
  logic [5:0] bottom_q5;  // five cycles after take
  logic [6:0] taken_q;    // take, one cycle ago and more
  logic unused_fresh_full, unused_lengths_valid;
  fifo_port #(.Cfg(queue(1 + SlotW, Wait, 8))) u_fresh (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i({fresh_q3, slot_q3}),
    .near_full_o(unused_fresh_full), .valid_o(queued_valid), .data_o({queued_fresh, taken_slot}),
    .pop_i(take)
  );
  // The rest is needed only when the encrypted block is shifted.
  fifo_late #(.Cfg(queue(SlotW + $bits(lengths_t) + 6, Wait, 8))) u_lengths (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i({slot_q3, lengths_i, bottom_q3}),
    .near_full_o(queue_full), .valid_o(unused_lengths_valid),
    .data_o({queued_slot, queued_lengths, bottom_q5}), .pop_i(taken_q[4-Late])
  );

  logic top_valid, unused_top_full;
  block_t top;
  fifo_late #(.Cfg(queue(128, 2 * Wait))) u_answers (
    .clk_i, .rst_ni, .push_i(answer_valid_i), .data_i(answer_i), .near_full_o(unused_top_full),
    .valid_o(top_valid), .data_o(top), .pop_i(take && queued_fresh)
  );

  logic done_full;
  assign take = queued_valid && (!queued_fresh || top_valid) && !done_full;

  // ---- stretch and shift ----
  logic fresh, unused_offsets_full, unused_offset_valid;
  logic [5:0] bottom_q6;
  logic [127:0] top_q;
  logic [191:0] stretch;
  logic [190:0] coarse_q;
  logic [134:0] middle_q;
  logic [127:0] fine_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) taken_q <= '0;
    else taken_q <= {taken_q[5:0], take};
  end
  delay #(.W(1), .Cycles(Late)) u_fresh_late (.clk_i, .d_i(take && queued_fresh), .q_o(fresh));

  // The last encrypted block of every slot.
  logic [SlotW-1:0] top_slot;
  delay #(.W(SlotW), .Cycles(Late)) u_top_slot (.clk_i, .d_i(taken_slot), .q_o(top_slot));
  (* ram_style = "distributed" *)
  logic [127:0] tops [Slots];
  always_ff @(posedge clk_i) begin
    if (fresh) tops[top_slot] <= reverse_bytes(top);
    else if (wipe_i) tops[wipe_slot_i] <= '0;
    top_q <= fresh ? reverse_bytes(top) : tops[top_slot];
  end

  // Read as a number whose most significant byte is the first byte of the block.
  assign stretch = {top_q, top_q[127:64] ^ top_q[119:56]};

  always_ff @(posedge clk_i) begin
    // By 1, then by a multiple of 8, then by 0 to 7.
    coarse_q  <= 191'(stretch >> 1);
    middle_q  <= 135'(coarse_q >> (6'd56 - {bottom_q5[5:3], 3'b0}));
    bottom_q6 <= bottom_q5;
    fine_q    <= 128'(middle_q >> (4'd7 - {1'b0, bottom_q6[2:0]}));
  end

  delay #(.W(SlotW + $bits(lengths_t)), .Cycles(2)) u_beside (
    .clk_i, .d_i({queued_slot, queued_lengths}), .q_o({done_slot, done_lengths})
  );
  fifo #(.Cfg(queue(SlotW + $bits(lengths_t), 32, 10))) u_done (
    .clk_i, .rst_ni, .push_i(taken_q[6]), .data_i({done_slot, done_lengths}),
    .near_full_o(done_full), .valid_o, .data_o({slot_o, lengths_o}), .pop_i(valid_o && ready_i)
  );
  fifo_late #(.Cfg(queue(128, 32))) u_offsets (
    .clk_i, .rst_ni, .push_i(taken_q[6]), .data_i(reverse_bytes(fine_q)),
    .near_full_o(unused_offsets_full), .valid_o(unused_offset_valid), .data_o(offset_o),
    .pop_i(valid_o && ready_i)
  );

endmodule
