// Counter blocks of packets, Lanes a cycle, as soon as their commands are there: the cipher runs ahead of the text.
//
// Of a packet with n text blocks there are n + 1 counter blocks, in beats of Lanes: text block i takes counter 2 + i, and
// the place after the last one takes counter 1, J0, whose cipher block masks the tag. Only if Lanes divides n does J0
// cost a beat of its own.

module gcm_keystream
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [SlotW-1:0]   slot_i,
  input  logic [95:0]        nonce_i,
  input  logic [LenW-1:0]    text_len_i,
  input  logic               go_i,     // the beat that valid_o speaks of may go
  output logic               valid_o,
  output logic [SlotW-1:0]   slot_o,   // Late cycles after it went
  output block_t [Lanes-1:0] block_o
);

  localparam int unsigned CountW = LenW - 4 + 2;
  localparam int unsigned LaneW  = $clog2(Lanes);

  // Packets wait with what is worked out from their lengths.
  logic full, unused_full, unused_valid, came_q, came, came_last, last_in_q, next, load;
  logic [CountW-1:0] left_in_q, came_left;
  logic [95:0] nonce_in_q, came_nonce;
  logic [SlotW-1:0] slot_in_q, came_slot;

  assign ready_o = !full;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) came_q <= 1'b0;
    else came_q <= valid_i && ready_o;
  end
  always_ff @(posedge clk_i) begin
    left_in_q  <= CountW'(({1'b0, text_len_i} + (LenW+1)'(31)) >> 4);
    last_in_q  <= text_len_i <= LenW'(16 * (Lanes - 1));
    nonce_in_q <= nonce_i;
    slot_in_q  <= slot_i;
  end
  fifo #(.W(CountW + 1), .Depth(16)) u_counts (
    .clk_i, .rst_ni, .push_i(came_q), .data_i({left_in_q, last_in_q}), .near_full_o(unused_full),
    .valid_o(came), .data_o({came_left, came_last}), .pop_i(load)
  );
  fifo_late #(.W(SlotW + 96), .Depth(16)) u_nonces (
    .clk_i, .rst_ni, .push_i(came_q), .data_i({slot_in_q, nonce_in_q}), .near_full_o(full),
    .valid_o(unused_valid), .data_o({came_slot, came_nonce}), .pop_i(load)
  );

  logic [CountW-1:0] left_q;     // blocks that have not gone
  logic [CountW-1:0] counter_q;  // of lane 0
  logic last_q;                  // left_q <= Lanes

  assign next = go_i && last_q;
  assign load = came && (!valid_o || next);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= load || (valid_o && !next);
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      left_q    <= came_left;
      last_q    <= came_last;
      counter_q <= CountW'(2);
    end else if (go_i) begin
      left_q    <= left_q - CountW'(Lanes);
      last_q    <= left_q <= CountW'(2 * Lanes);
      counter_q <= counter_q + CountW'(Lanes);
    end
  end

  // The nonce is here when the packet's first counters are.
  logic [Lanes-1:0][CountW-1:0] counter_d, counter;
  logic loaded;
  delay_valid #(.Cycles(Late)) u_loaded (.clk_i, .rst_ni, .valid_i(load), .valid_o(loaded));
  delay #(.W(CountW * Lanes), .Cycles(Late)) u_counter (.clk_i, .d_i(counter_d), .q_o(counter));
  logic [95:0] nonce_q;
  always_ff @(posedge clk_i) if (loaded) {slot_o, nonce_q} <= {came_slot, came_nonce};

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      counter_d[l] = last_q && left_q[LaneW:0] == (LaneW+1)'(l + 1) ? CountW'(1) : counter_q + CountW'(l);
      block_o[l]   = {counter[l][7:0], 8'(counter[l] >> 8), 16'b0, nonce_q};
    end
  end

endmodule
