// Commands on their way to the control: each leaves with its first offset (RFC 7253, section 4.2).
//
// The offset is a part of E(K, nonce without its last six bits), so that nonces that count need the cipher once in 64
// packets: if slot and upper bits are those of the packet before, no block is sent.
//
//   command -> [3 registers] -> queue, and queue of blocks for the cipher -> stretch, shift [3 registers] -> lengths and offset

module ocb_nonce
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             forget_i,        // a slot has a new key
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [SlotW-1:0] slot_i,
  input  command_t         command_i,
  output logic             ask_valid_o,     // a block for the cipher
  input  logic             ask_ready_i,
  output logic [SlotW-1:0] ask_slot_o,      // Late cycles after it was taken
  output block_t           ask_o,
  input  logic             answer_valid_i,  // from the cipher, in order
  input  block_t           answer_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [SlotW-1:0] slot_o,
  output lengths_t         lengths_o,
  output block_t           offset_o         // Late cycles after the rest was taken
);

  // ---- ask ----
  // Three registers between command and queue: the second compares group by group, the third has the answer.
  localparam int unsigned Groups = 6;
  logic known_q, queue_full, asks_full;
  logic [SlotW-1:0] last_slot_q;
  logic [Groups-1:0][14:0] last_upper_q, upper_q1, upper_q2, upper_q3;  // of the nonce, without the last byte's six low bits
  logic [Groups-1:0][14:0] asked;

  logic [3:1] valid_q;
  logic known_q2, fresh_q3;  // fresh_q3: and valid
  logic [Groups-1:0] same_q2;
  logic [SlotW-1:0] slot_q1, slot_q2, slot_q3;
  logic [5:0] bottom_q1, bottom_q2, bottom_q3;  // those six bits
  lengths_t lengths_d, lengths_q1, lengths_q2, lengths_q3;

  assign ready_o = !queue_full && !asks_full;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      fresh_q3 <= 1'b0;
      known_q  <= 1'b0;
    end else begin
      valid_q  <= {valid_q[2:1], valid_i && ready_o};
      fresh_q3 <= valid_q[2] && !(known_q2 && &same_q2);
      known_q  <= (known_q || valid_q[1]) && !forget_i;
    end
  end
  always_comb begin
    lengths_d             = lengths_q1;
    lengths_d.first_len   = lengths_q1.has_ad ? lengths_q1.first_len : lengths_q1.text_len;
    lengths_d.first_short = lengths_q1.has_ad ? lengths_q1.first_short : lengths_q1.text_short;
  end
  always_ff @(posedge clk_i) begin
    slot_q1    <= slot_i;
    upper_q1   <= {command_i.nonce[95:94], command_i.nonce[87:0]};
    bottom_q1  <= command_i.nonce[93:88];
    lengths_q1 <= '{
      open: command_i.open, first_len: command_i.ad_len, text_len: command_i.text_len,
      has_ad: command_i.ad_len != '0, has_text: command_i.text_len != '0,
      first_short: command_i.ad_len <= LenW'(16 * Lanes), text_short: command_i.text_len <= LenW'(16 * Lanes)
    };
    if (valid_q[1]) begin
      last_slot_q  <= slot_q1;
      last_upper_q <= upper_q1;
    end
    for (int i = 0; i < Groups; i++) same_q2[i] <= upper_q1[i] == last_upper_q[i];
    known_q2   <= known_q && slot_q1 == last_slot_q && !forget_i;
    slot_q2    <= slot_q1;
    upper_q2   <= upper_q1;
    bottom_q2  <= bottom_q1;
    lengths_q2 <= lengths_d;
    slot_q3    <= slot_q2;
    upper_q3   <= upper_q2;
    bottom_q3  <= bottom_q2;
    lengths_q3 <= lengths_q2;
  end

  fifo_late #(.W(SlotW + 15 * Groups), .Depth(16), .Slack(6)) u_asks (
    .clk_i, .rst_ni, .push_i(fresh_q3), .data_i({slot_q3, upper_q3}), .near_full_o(asks_full),
    .valid_o(ask_valid_o), .data_o({ask_slot_o, asked}), .pop_i(ask_valid_o && ask_ready_i)
  );
  assign ask_o = {asked[5][14:13], 6'b0, asked[5][12:0], asked[4:0], 32'h01000000};

  // ---- wait for the answer ----
  logic queued_valid, queued_fresh, take, unused_fresh_full, unused_lengths_valid;
  logic [SlotW-1:0] queued_slot, done_slot;
  lengths_t queued_lengths, done_lengths;
  logic [5:0] bottom_q5;  // so many cycles after take
  logic [6:0] taken_q;  // cycles since
  fifo #(.W(1), .Depth(32), .Slack(6)) u_fresh (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i(fresh_q3), .near_full_o(unused_fresh_full),
    .valid_o(queued_valid), .data_o(queued_fresh), .pop_i(take)
  );
  // The rest is not wanted before the cipher's block has been shifted.
  fifo_late #(.W(SlotW + $bits(lengths_t) + 6), .Depth(32), .Slack(5)) u_lengths (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i({slot_q3, lengths_q3, bottom_q3}), .near_full_o(queue_full),
    .valid_o(unused_lengths_valid), .data_o({queued_slot, queued_lengths, bottom_q5}), .pop_i(taken_q[4-Late])
  );

  logic top_valid, unused_top_full;
  block_t top;
  fifo_late #(.W(128), .Depth(64)) u_answers (
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

  // The number whose first byte is the block's.
  assign stretch = {top_q, top_q[127:64] ^ top_q[119:56]};

  always_ff @(posedge clk_i) begin
    if (fresh) top_q <= reverse_bytes(top);
    // By 1, then by 0, 8, 16 or more, then by 0 to 7.
    coarse_q  <= 191'(stretch >> 1);
    middle_q  <= 135'(coarse_q >> (6'd56 - {bottom_q5[5:3], 3'b0}));
    bottom_q6 <= bottom_q5;
    fine_q    <= 128'(middle_q >> (4'd7 - {1'b0, bottom_q6[2:0]}));
  end

  delay #(.W(SlotW + $bits(lengths_t)), .Cycles(2)) u_beside (
    .clk_i, .d_i({queued_slot, queued_lengths}), .q_o({done_slot, done_lengths})
  );
  fifo #(.W(SlotW + $bits(lengths_t)), .Depth(32), .Slack(10)) u_done (
    .clk_i, .rst_ni, .push_i(taken_q[6]), .data_i({done_slot, done_lengths}), .near_full_o(done_full),
    .valid_o, .data_o({slot_o, lengths_o}), .pop_i(valid_o && ready_i)
  );
  fifo_late #(.W(128), .Depth(32)) u_offsets (
    .clk_i, .rst_ni, .push_i(taken_q[6]), .data_i(reverse_bytes(fine_q)), .near_full_o(unused_offsets_full),
    .valid_o(unused_offset_valid), .data_o(offset_o), .pop_i(valid_o && ready_i)
  );

endmodule
