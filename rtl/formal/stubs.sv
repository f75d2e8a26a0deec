// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What stands for the ciphers, GHASH's multiplier and the setting up of keys in the proofs of whole
// cores (core_proof): as late as they are. Bit 1 of a result may be anything, and stands for all
// bits, which go the same way. Bit 0 can be followed: that of a product is 0, and a cipher adds
// bit 32 to bit 0. So bit 0 of a block of text, of a block of counters and of an offset of OCB
// passes as it is (their bits 32 are 0); in OCB's block of a nonce bit 32 is bit 0 of the nonce,
// and becomes bit 0 of the first offset.

module cipher_pipe
  import sealwright_pkg::*;
#(
  parameter pipe_cfg_t Cfg = PipeDefault,
  localparam int unsigned Lanes = Cfg.lanes,
  localparam int unsigned SlotW = slot_bits(Cfg.slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               rk_we_i,
  input  logic [SlotW-1:0]   rk_slot_i,
  input  logic [5:0]         rk_index_i,
  input  block_t             rk_i,
  input  logic               valid_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] block_i,
  output logic               valid_o,
  output block_t [Lanes-1:0] block_o
);

  logic [Lanes-1:0] anything;  // driven by nothing: the prover chooses it in every cycle
  logic [Lanes-1:0] bits;
  delay_valid #(.Cycles(latency(Cfg))) u_valid (.clk_i, .rst_ni, .valid_i, .valid_o);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    delay #(.Cycles(latency(Cfg))) u_bit (
      .clk_i, .d_i(block_i[l][0] ^ block_i[l][32]), .q_o(bits[l])
    );
    assign block_o[l] = {126'b0, anything[l], bits[l]};
  end

endmodule

module ghash_multiply
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter int unsigned Depth = 6
) (
  input  logic               clk_i,
  input  block_t [Lanes-1:0] a_i,
  input  block_t [Lanes-1:0] b_i,
  output block_t             product_o
);

  logic anything;
  assign product_o = {126'b0, anything, 1'b0};

endmodule

// Takes a key in a few cycles, with one block of zeros among them.
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
  output logic             zero_valid_o,
  input  logic             zero_ready_i,
  input  logic             done_valid_i,
  output logic             derive_valid_o,
  input  logic             derive_ready_i,
  output logic [SlotW-1:0] slot_o
);

  logic asks_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_o <= 1'b1;
      asks_q  <= 1'b0;
    end else begin
      asks_q  <= (ready_o && valid_i) || (asks_q && !zero_ready_i);
      ready_o <= (ready_o && !valid_i) || (asks_q && zero_ready_i);
    end
  end
  assign zero_valid_o = asks_q;
  assign {rk_we_o, rk_slot_o, rk_index_o, rk_o, derive_valid_o, slot_o} = '0;

endmodule
