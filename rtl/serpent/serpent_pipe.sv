// Serpent, or its inverse, a register a round: Lanes blocks a cycle under one key slot, 34 cycles later.
//
//   block_i -> [register] -> key -> [register] -> S-box, linear transform and key -> [register] -> ... -> block_o
//
// Keys 1 to 31 come folded (serpent_pkg), keys 0 and 32 plain. The slot travels beside the blocks.

module serpent_pipe
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes   = 1,
  parameter int unsigned Slots   = 1,
  parameter bit          Inverse = 1'b0,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic               clk_i,
  input  logic               rk_we_i,
  input  logic [SlotW-1:0]   rk_slot_i,
  input  logic [5:0]         rk_index_i,
  input  block_t             rk_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] block_i,
  output block_t [Lanes-1:0] block_o
);

  logic [32:0][SlotW-1:0] slot;
  assign slot[0] = slot_i;
  for (genvar t = 0; t < 32; t++) begin : gen_slot
    always_ff @(posedge clk_i) slot[t+1] <= slot[t];
  end

  block_t [32:0] key;
  for (genvar r = 0; r <= 32; r++) begin : gen_key
    key_store #(.Slots(Slots)) u_keys (
      .clk_i,
      .we_i(rk_we_i && rk_index_i == 6'(Inverse ? 32 - r : r)),
      .write_slot_i(rk_slot_i),
      .key_i(rk_i),
      .slot_i(slot[r]),
      .key_o(key[r])
    );
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    block_t in_q;
    block_t [32:0] state;
    always_ff @(posedge clk_i) begin
      in_q     <= block_i[l];
      state[0] <= in_q ^ key[0];
    end
    for (genvar r = 1; r <= 32; r++) begin : gen_round
      localparam int unsigned Box = Inverse ? (32 - r) % 8 : (r - 1) % 8;
      localparam logic [3:0][15:0] Form =
          serpent_pkg::anf(Inverse ? serpent_pkg::InvSbox[Box] : serpent_pkg::Sbox[Box]);
      block_t substituted;
      assign substituted = serpent_pkg::substitute(Form, state[r-1]);
      always_ff @(posedge clk_i) begin
        if (r == 32) state[r] <= substituted ^ key[r];
        else if (Inverse) state[r] <= serpent_pkg::unmix(substituted, key[r]);
        else state[r] <= serpent_pkg::mix(substituted, key[r]);
      end
    end
    assign block_o[l] = state[32];
  end

endmodule
