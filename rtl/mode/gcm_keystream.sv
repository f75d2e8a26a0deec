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
  input  logic               go_i,     // the beat that valid_o shows may go
  output logic               valid_o,
  output logic [SlotW-1:0]   slot_o,
  output block_t [Lanes-1:0] block_o
);

  localparam int unsigned CountW = LenW - 4 + 2;
  localparam int unsigned LaneW  = $clog2(Lanes);

  logic [CountW-1:0] left_q;     // blocks that have not gone
  logic [CountW-1:0] counter_q;  // of lane 0
  logic [95:0] nonce_q;
  logic last_q, load;                // last_q: left_q <= Lanes

  assign ready_o = !valid_o || (go_i && last_q);
  assign load    = valid_i && ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= load || (valid_o && !(go_i && last_q));
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      left_q    <= CountW'(text_len_i[LenW-1:4]) + CountW'(1) + CountW'(text_len_i[3:0] != '0);
      last_q    <= text_len_i <= LenW'(16 * (Lanes - 1));
      counter_q <= CountW'(2);
      nonce_q   <= nonce_i;
      slot_o    <= slot_i;
    end else if (go_i) begin
      left_q    <= left_q - CountW'(Lanes);
      last_q    <= left_q <= CountW'(2 * Lanes);
      counter_q <= counter_q + CountW'(Lanes);
    end
  end

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      logic [CountW-1:0] counter;
      counter = last_q && left_q[LaneW:0] == (LaneW+1)'(l + 1) ? CountW'(1) : counter_q + CountW'(l);
      block_o[l] = {counter[7:0], 8'(counter >> 8), 16'b0, nonce_q};
    end
  end

endmodule
