// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Loads a key: expands it, has the zero block encrypted under it, and starts what is derived from
// the result (powers of H in GCM, multiples of L in OCB). The slot must not be used until ready_o
// is high again, and no packet of it may be under way when its key is changed.

module key_setup
  import sealwright_pkg::*;
#(
  parameter cipher_e     Cipher = Aes128,
  parameter int unsigned Slots  = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [SlotW-1:0] slot_i,
  input  logic [255:0]     key_i,
  output logic             rk_we_o,
  output logic [SlotW-1:0] rk_slot_o,
  output logic [5:0]       rk_index_o,
  output block_t           rk_o,
  output logic             zero_valid_o,  // request: encrypt the zero block under slot_o
  input  logic             zero_ready_i,
  input  logic             done_valid_i,  // the encrypted zero block is there
  output logic             derive_valid_o,
  input  logic             derive_ready_i,
  output logic [SlotW-1:0] slot_o
);

  typedef enum logic [2:0] {Idle, Expand, Ask, Await, Derive} state_e;

  state_e state_d, state_q;
  logic [SlotW-1:0] slot_q;
  logic expand_ready, start, expand_we;
  logic [5:0] expand_index;
  block_t expand_key;

  assign start = state_q == Idle && valid_i;

  key_expand #(.Cipher(Cipher)) u_expand (
    .clk_i, .rst_ni, .valid_i(start), .ready_o(expand_ready), .key_i,
    .rk_we_o(expand_we), .rk_index_o(expand_index), .rk_o(expand_key)
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:    if (valid_i) state_d = Expand;
      Expand:  if (expand_ready) state_d = Ask;
      Ask:     if (zero_ready_i) state_d = Await;
      Await:   if (done_valid_i) state_d = Derive;
      Derive:  if (derive_ready_i) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      zero_valid_o <= 1'b0;
      rk_we_o      <= 1'b0;
    end else begin
      state_q      <= state_d;
      zero_valid_o <= state_d == Ask;
      rk_we_o      <= expand_we;
    end
  end

  // A pipeline register, since this bus runs across the whole cipher.
  always_ff @(posedge clk_i) begin
    if (start) slot_q <= slot_i;
    rk_slot_o  <= slot_q;
    rk_index_o <= expand_index;
    rk_o       <= expand_key;
  end

  assign ready_o        = state_q == Idle;
  assign derive_valid_o = state_q == Await && done_valid_i;
  assign slot_o         = slot_q;

endmodule
