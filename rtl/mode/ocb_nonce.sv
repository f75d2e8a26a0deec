// Commands on their way to the control: each leaves with its first offset (RFC 7253, section 4.2).
//
// The offset is a part of E(K, nonce without its last six bits), so that nonces that count need the cipher once in 64
// packets: if slot and upper bits are those of the packet before, no block is sent.
//
//   command -> [2 registers] -> queue, and queue of blocks for the cipher -> stretch, shift [4 registers] -> command and offset

module ocb_nonce
  import sealwright_pkg::*;
#(
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
  output logic [SlotW-1:0] ask_slot_o,
  output block_t           ask_o,
  input  logic             answer_valid_i,  // from the cipher, in order
  input  block_t           answer_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [SlotW-1:0] slot_o,
  output command_t         command_o,
  output block_t           offset_o
);

  // ---- ask ----
  // Two registers between command and queue: the first compares group by group, the second has the answer.
  localparam int unsigned Groups = 6;
  logic known_q, queue_full, asks_full, fire;
  logic [SlotW-1:0] last_slot_q;
  logic [Groups-1:0][14:0] upper, last_upper_q, upper_q, upper_q2;  // of the nonce, without the last byte's six low bits

  logic [1:0] valid_q1;
  logic known_q1, fresh_q2;
  logic [Groups-1:0] same_q1;
  logic [SlotW-1:0] slot_q1, slot_q2;
  command_t command_q1, command_q2;

  assign upper   = {command_i.nonce[95:94], command_i.nonce[87:0]};
  assign ready_o = !queue_full && !asks_full;
  assign fire    = valid_i && ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q1 <= '0;
      known_q  <= 1'b0;
    end else begin
      valid_q1 <= {valid_q1[0], fire};
      known_q  <= (known_q || fire) && !forget_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      last_slot_q  <= slot_i;
      last_upper_q <= upper;
    end
    for (int i = 0; i < Groups; i++) same_q1[i] <= upper[i] == last_upper_q[i];
    known_q1   <= known_q && slot_i == last_slot_q && !forget_i;
    slot_q1    <= slot_i;
    command_q1 <= command_i;
    fresh_q2   <= !(known_q1 && &same_q1);
    slot_q2    <= slot_q1;
    command_q2 <= command_q1;
  end

  assign upper_q2 = {command_q2.nonce[95:94], command_q2.nonce[87:0]};
  fifo #(.W(SlotW + 15 * Groups), .Depth(16), .Slack(6)) u_asks (
    .clk_i, .rst_ni, .push_i(valid_q1[1] && fresh_q2), .data_i({slot_q2, upper_q2}), .near_full_o(asks_full),
    .valid_o(ask_valid_o), .data_o({ask_slot_o, upper_q}), .pop_i(ask_valid_o && ask_ready_i)
  );
  assign ask_o = {upper_q[5][14:13], 6'b0, upper_q[5][12:0], upper_q[4:0], 32'h01000000};

  // ---- wait for the answer ----
  logic queued_valid, queued_fresh, take;
  logic [SlotW-1:0] queued_slot;
  command_t queued;
  logic unused_fresh_valid, unused_fresh_full;
  fifo #(.W(SlotW + $bits(command_t)), .Depth(64), .Slack(6)) u_queue (
    .clk_i, .rst_ni, .push_i(valid_q1[1]), .data_i({slot_q2, command_q2}), .near_full_o(queue_full),
    .valid_o(queued_valid), .data_o({queued_slot, queued}), .pop_i(take)
  );
  fifo #(.W(1), .Depth(64), .Slack(6)) u_fresh (  // by itself: wide ones are slow to read
    .clk_i, .rst_ni, .push_i(valid_q1[1]), .data_i(fresh_q2), .near_full_o(unused_fresh_full),
    .valid_o(unused_fresh_valid), .data_o(queued_fresh), .pop_i(take)
  );

  logic top_valid, unused_top_full;
  block_t top;
  fifo #(.W(128), .Depth(64)) u_answers (
    .clk_i, .rst_ni, .push_i(answer_valid_i), .data_i(answer_i), .near_full_o(unused_top_full),
    .valid_o(top_valid), .data_o(top), .pop_i(take && queued_fresh)
  );

  // ---- stretch and shift ----
  logic room, done_full;
  assign room = !done_full;
  assign take = queued_valid && (!queued_fresh || top_valid) && room;

  logic [3:0] valid_q;
  logic [127:0] top_q;
  logic [191:0] stretch;
  logic [190:0] coarse_q;
  logic [134:0] middle_q;
  logic [127:0] fine_q;
  logic [5:0] bottom_q, bottom_q2, bottom_q3;

  // The number whose first byte is the block's.
  assign stretch = {top_q, top_q[127:64] ^ top_q[119:56]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[2:0], take};
  end
  always_ff @(posedge clk_i) begin
    if (take && queued_fresh) top_q <= reverse_bytes(top);
    bottom_q  <= queued.nonce[93:88];
    // By 0 or 32, then by 0, 8, 16 or 24, then by 0 to 7.
    coarse_q  <= 191'(stretch >> 1);
    middle_q  <= 135'(coarse_q >> (6'd56 - {bottom_q2[5:3], 3'b0}));
    fine_q    <= 128'(middle_q >> (4'd7 - {1'b0, bottom_q3[2:0]}));
    bottom_q2 <= bottom_q;
    bottom_q3 <= bottom_q2;
  end

  logic [SlotW-1:0] slot_q4;
  command_t command_q4;
  delay #(.W(SlotW + $bits(command_t)), .Cycles(4)) u_beside (
    .clk_i, .d_i({queued_slot, queued}), .q_o({slot_q4, command_q4})
  );
  fifo #(.W(SlotW + $bits(command_t) + 128), .Depth(16), .Slack(8)) u_done (
    .clk_i, .rst_ni, .push_i(valid_q[3]), .data_i({slot_q4, command_q4, reverse_bytes(fine_q)}),
    .near_full_o(done_full), .valid_o, .data_o({slot_o, command_o, offset_o}), .pop_i(valid_o && ready_i)
  );

endmodule
