// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs the counter blocks of packets, Lanes a cycle, as soon as their commands are accepted, so
// that the cipher runs ahead of the text.
//
// Text block i has counter 2 + i, in the lane that the block has in the frame, after the associated
// data. If the text does not begin in lane 0, the lanes before it get counters that are not used. A
// packet without text has no beat here.

module gcm_keystream
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  output logic               full_o,   // rises some commands early
  input  logic [SlotW-1:0]   slot_i,
  input  logic [95:0]        nonce_i,
  input  logic [LenW-1:0]    ad_len_i,
  input  logic [LenW-1:0]    text_len_i,
  input  logic               go_i,     // accepts the beat that valid_o offers
  output logic               valid_o,
  output logic [SlotW-1:0]   slot_o,   // Late cycles after the beat was accepted
  output block_t [Lanes-1:0] block_o
);

  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned LeftW = BlockW - LaneW;  // width of a number of beats

  // The queue of packets holds what three steps compute from their lengths. The queue of nonces is
  // near the cipher, and therefore has a register of its own for its push.
  logic unused_full, unused_valid, load;
  logic [3:1] valid_q;
  (* keep *) logic push_q;
  logic [BlockW-1:0] first_q1, blocks_q1, first_q2, first_q3, came_first;
  logic [LeftW-1:0] left_q2, left_q3, came_left;
  logic last_q2, last_q3, came, came_last;
  logic [95:0] nonce_q1, nonce_q2, nonce_q3, came_nonce;
  logic [SlotW-1:0] slot_q1, slot_q2, slot_q3, came_slot;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {push_q, valid_q} <= '0;
    else {push_q, valid_q} <= {valid_q[2], valid_q[2:1], valid_i && text_len_i != '0};
  end
  always_ff @(posedge clk_i) begin
    // Lanes before the text in its first beat: blocks of associated data modulo Lanes.
    first_q1  <= ((BlockW'(ad_len_i[LenW-1:4]) + BlockW'(ad_len_i[3:0] != '0)) % BlockW'(Lanes));
    blocks_q1 <= BlockW'(text_len_i[LenW-1:4]) + BlockW'(text_len_i[3:0] != '0);
    nonce_q1  <= nonce_i;
    slot_q1   <= slot_i;

    first_q2  <= BlockW'(2) - first_q1;
    left_q2   <= LeftW'((first_q1 + blocks_q1 + BlockW'(Lanes - 1)) >> LaneW);
    last_q2   <= first_q1 + blocks_q1 <= BlockW'(Lanes);
    nonce_q2  <= nonce_q1;
    slot_q2   <= slot_q1;

    {first_q3, left_q3, last_q3} <= {first_q2, left_q2, last_q2};
    {slot_q3, nonce_q3}          <= {slot_q2, nonce_q2};
  end
  fifo #(.Cfg(queue(BlockW + LeftW + 1, 32))) u_counts (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i({first_q3, left_q3, last_q3}),
    .near_full_o(unused_full), .valid_o(came), .data_o({came_first, came_left, came_last}),
    .pop_i(load)
  );
  fifo_late #(.Cfg(queue(SlotW + 96, 32, 8))) u_nonces (
    .clk_i, .rst_ni, .push_i(push_q), .data_i({slot_q3, nonce_q3}), .near_full_o(full_o),
    .valid_o(unused_valid), .data_o({came_slot, came_nonce}), .pop_i(load)
  );

  logic [LeftW-1:0] left_q;  // beats that are left
  logic last_q, next;        // last_q: left_q is 1

  assign next = go_i && last_q;
  assign load = came && (!valid_o || next);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= came || (valid_o && !next);
  end
  // Without a packet these follow the head of the queue, valid or not: that is known too late.
  always_ff @(posedge clk_i) begin
    if (!valid_o || go_i) begin
      left_q <= !valid_o || last_q ? came_left : left_q - LeftW'(1);
      last_q <= !valid_o || last_q ? came_last : left_q == LeftW'(2);
    end
  end

  // The counter of lane 0, a cycle later: it is near the cipher, far from the logic above.
  logic [BlockW-1:0] counter_q, first_q;
  logic moves_q, fresh_q;
  always_ff @(posedge clk_i) begin
    moves_q <= !valid_o || go_i;
    fresh_q <= !valid_o || last_q;
    first_q <= came_first;
    if (moves_q) counter_q <= fresh_q ? first_q : counter_q + BlockW'(Lanes);
  end

  // The nonce arrives together with the packet's first counters.
  logic [Lanes-1:0][BlockW-1:0] counter_d, counter;
  logic loaded;
  delay_valid #(.Cycles(Late)) u_loaded (.clk_i, .rst_ni, .valid_i(load), .valid_o(loaded));
  delay #(.W(BlockW * Lanes), .Cycles(Late - 1)) u_counter (
    .clk_i, .d_i(counter_d), .q_o(counter)
  );
  logic [95:0] nonce_q;
  always_ff @(posedge clk_i) if (loaded) {slot_o, nonce_q} <= {came_slot, came_nonce};

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      counter_d[l] = counter_q + BlockW'(l);
      block_o[l]   = {counter[l][7:0], 8'(counter[l] >> 8), 16'b0, nonce_q};
    end
  end

endmodule
