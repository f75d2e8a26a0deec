// The cipher that Cipher names, every round in hardware: takes and gives Lanes blocks a cycle and never waits.
//
// valid_o follows valid_i after latency(Cipher, Cut) cycles. Round keys come from key_expand, and may be written while
// blocks of other slots are under way.

module cipher_pipe
  import sealwright_pkg::*;
#(
  parameter int unsigned Cipher  = Aes128,
  parameter int unsigned Sbox    = SboxTable,
  parameter int unsigned Cut     = 0,
  parameter int unsigned Lanes   = 4,
  parameter int unsigned Slots   = 1,
  parameter bit          Inverse = 1'b0,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
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

  delay_valid #(.Cycles(latency(Cipher, Cut))) u_valid (.clk_i, .rst_ni, .valid_i, .valid_o);

  if (Cipher == Serpent256) begin : gen_serpent
    serpent_pipe #(.Cut(Cut), .Lanes(Lanes), .Slots(Slots), .Inverse(Inverse)) u_pipe (
      .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .block_i, .block_o
    );
  end else begin : gen_aes
    aes_pipe #(
      .Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots), .Inverse(Inverse)
    ) u_pipe (
      .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .block_i, .block_o
    );
  end

endmodule
