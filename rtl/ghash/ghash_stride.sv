// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GHASH of Lanes blocks a cycle, with a multiplier of any pipeline depth up to 6.
//
// Horner's rule needs each product before the next block can be added. Here the product of a group
// of blocks (one beat) is added to the first block of the group Depth beats later: every block is
// multiplied by the power of H for its distance to that block or, in the last Depth groups, to the
// end. The sum of those last products is the hash, so that no final step is needed and the next
// packet follows at once. The caller knows the packet's lengths, and so the exponent for the
// group's first block, `exponent_i`; block l uses exponent_i - l. Absent blocks are zero. The last
// block of a packet, that of its lengths, comes beside its last group, in a lane of its own
// (`after_i`).
//
// A beat may come in any cycle. Products wait in a queue until their group arrives.
//
//   x_i -> [ ] -> power's memory [ ] [ ] -> add product -> [ ] -> multiply [Depth - 1] -+-> hash_o
//                                              ^---------------- queue <----------------'

`include "assert.svh"

module ghash_stride
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter int unsigned Depth = 6,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots),
  localparam int unsigned ExpW  = $clog2(Lanes * Depth + 2)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // powers of H, from ghash_powers
  input  logic               power_we_i,
  input  logic [SlotW-1:0]   power_slot_i,
  input  logic [ExpW-1:0]    power_index_i,
  input  block_t             power_i,
  // a beat
  input  logic               valid_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] x_i,         // elements
  // in the last beat: the block after all others; else zero
  input  block_t             after_i,
  input  logic [ExpW-1:0]    exponent_i,
  input  logic               take_i,      // the packet has a group Depth beats earlier
  input  logic               fold_i,      // the packet has no group Depth beats later
  input  logic               last_i,
  output logic               valid_o,
  output block_t             hash_o
);

  // The beat is delayed by the three cycles that a read of the powers takes.
  block_t [Lanes:0] x, power;
  logic take, fold, last;
  logic valid;
  delay #(.W(128 * (Lanes + 1)), .Cycles(3)) u_x (.clk_i, .d_i({after_i, x_i}), .q_o(x));
  delay #(.W(3), .Cycles(3)) u_flags (
    .clk_i, .d_i({take_i, fold_i, last_i}), .q_o({take, fold, last})
  );
  delay_valid #(.Cycles(3)) u_valid (.clk_i, .rst_ni, .valid_i, .valid_o(valid));

  logic [SlotW-1:0] slot, power_slot;
  assign slot       = Slots > 1 ? slot_i : '0;
  assign power_slot = Slots > 1 ? power_slot_i : '0;
  for (genvar l = 0; l < Lanes; l++) begin : gen_power
    (* no_rw_check *)  // a slot in use is not written
    block_t mem [Slots * 2**ExpW];
    logic [$clog2(Slots)+ExpW-1:0] address_q;
    block_t read_q;
    always_ff @(posedge clk_i) begin
      if (power_we_i) mem[($bits(address_q))'({power_slot, power_index_i})] <= power_i;
      address_q <= ($bits(address_q))'({slot, exponent_i - ExpW'(l)});
      read_q    <= mem[address_q];
      power[l]  <= read_q;
    end
  end

  // The block after all others is multiplied by H itself.
  logic [SlotW-1:0] slot_late;
  delay #(.W(SlotW), .Cycles(2)) u_slot (.clk_i, .d_i(slot_i), .q_o(slot_late));
  key_store #(.Slots(Slots)) u_h (
    .clk_i, .we_i(power_we_i && power_index_i == ExpW'(1)), .write_slot_i(power_slot_i),
    .key_i(power_i), .slot_i(slot_late), .key_o(power[Lanes])
  );

  // The queue of products that wait for their group. If it is empty, a product bypasses it.
  localparam int unsigned PtrW = Depth > 1 ? $clog2(Depth) : 1;
  (* ram_style = "distributed", no_rw_check *)
  block_t waiting [2**PtrW];
  logic [PtrW-1:0] write_q, read_q;
  logic [PtrW:0] count_q;
  logic through_q;  // count_q is 0
  logic product_valid, product_fold, product_last, push, pop;
  block_t product, added;

  assign push    = product_valid && !product_fold;
  assign pop     = valid && take;
  assign added   = !take ? '0 : through_q ? product : waiting[read_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q   <= '0;
      read_q    <= '0;
      count_q   <= '0;
      through_q <= 1'b1;
    end else begin
      if (push && !(pop && through_q)) write_q <= write_q + PtrW'(1);
      if (pop && !through_q) read_q <= read_q + PtrW'(1);
      count_q   <= count_q + (PtrW+1)'(push) - (PtrW+1)'(pop);
      through_q <= push == pop ? through_q : pop && count_q == (PtrW+1)'(1);
    end
  end
  always_ff @(posedge clk_i) if (push) waiting[write_q] <= product;

  // The feedback loop: this register, the multiplier, the addition.
  block_t [Lanes:0] a_q, b_q;
  always_ff @(posedge clk_i) begin
    for (int l = 0; l <= Lanes; l++) begin
      a_q[l] <= l == 0 ? x[l] ^ added : x[l];
      b_q[l] <= power[l];
    end
  end
  ghash_multiply #(.Lanes(Lanes + 1), .Depth(Depth)) u_multiply (
    .clk_i, .a_i(a_q), .b_i(b_q), .product_o(product)
  );
  delay #(.W(2), .Cycles(Depth)) u_after (
    .clk_i, .d_i({fold, last}), .q_o({product_fold, product_last})
  );
  delay_valid #(.Cycles(Depth)) u_product (
    .clk_i, .rst_ni, .valid_i(valid), .valid_o(product_valid)
  );

  // The sum of the last products of a packet.
  block_t sum_q;
  logic ends;
  assign ends = product_valid && product_fold && product_last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      valid_o <= 1'b0;
    end else begin
      if (product_valid && product_fold) sum_q <= product_last ? '0 : sum_q ^ product;
      valid_o <= ends;
    end
  end
  always_ff @(posedge clk_i) hash_o <= sum_q ^ product;

  `SEALWRIGHT_NEVER(Early, pop && through_q && !push, "a group came before its product")
  `SEALWRIGHT_NEVER(Full,
      push && !pop && count_q == (PtrW+1)'(2**PtrW), "the queue of products is full")

endmodule
