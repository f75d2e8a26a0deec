// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Computes and writes the powers of H from 1 to Count, one after the other: two bits of a product
// per cycle, 66 cycles per power.

module ghash_powers
  import sealwright_pkg::*;
#(
  parameter int unsigned Count = 5,
  localparam int unsigned ExpW = $clog2(Count + 1)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  input  block_t          h_i,     // in the bit order of `element`
  output logic            ready_o,
  output logic            we_o,
  output logic [ExpW-1:0] index_o,
  output block_t          power_o
);

  typedef enum logic [1:0] {Idle, Write, Multiply, Take} state_e;

  state_e state_d, state_q;
  block_t h_q, power_q, product_q, product_d;
  logic [5:0] step_q;

  // Horner's rule over the bits of power_q, the highest first: it is rotated, and has its old value
  // after 64 steps.
  always_comb begin
    product_d = product_q;
    for (int i = 0; i < 2; i++)
      product_d = ghash_pkg::xtime(product_d) ^ (power_q[127-i] ? h_q : '0);
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:     if (valid_i) state_d = Write;
      Write:    state_d = index_o == ExpW'(Count) ? Idle : Multiply;
      Multiply: if (step_q == 6'd63) state_d = Take;
      Take:     state_d = Write;
      default:  state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        h_q     <= h_i;
        power_q <= h_i;
        index_o <= ExpW'(1);
        step_q  <= '0;
      end
      Write: begin
        product_q <= '0;
        index_o   <= index_o + ExpW'(1);
      end
      Multiply: begin
        step_q    <= step_q + 6'd1;
        product_q <= product_d;
        power_q   <= {power_q[125:0], power_q[127:126]};
      end
      default: power_q <= product_q;
    endcase
  end

  assign ready_o = state_q == Idle;
  assign we_o    = state_q == Write;
  assign power_o = power_q;

endmodule
