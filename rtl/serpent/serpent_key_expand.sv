// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serpent key expansion for keys of 32 bytes: 33 round keys in 592 cycles. For each round key four
// words are computed, one a cycle, and then substituted, eight columns in three cycles.
//
// Round keys 1 to 31 are output folded, as the rounds need them (serpent_pkg).

module serpent_key_expand
  import sealwright_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [255:0] key_i,
  output logic         rk_we_o,
  output logic [5:0]   rk_index_o,
  output block_t       rk_o
);

  typedef enum logic [2:0] {Idle, Extend, Substitute, Fold, Write} state_e;

  state_e state_d, state_q;
  logic [7:0][31:0] window_q;
  logic [1:0] step_q;
  logic [1:0] phase_q;       // cycle within a step of Substitute
  logic [7:0] count_q;       // words computed
  logic [5:0] index_q;
  logic [2:0] box_q;
  logic [31:0] word;
  block_t out_q;

  assign word = serpent_pkg::rotl(
      window_q[0] ^ window_q[3] ^ window_q[5] ^ window_q[7] ^ 32'h9e3779b9 ^ {24'b0, count_q}, 11);

  // Two cycles substitute the first eight columns; a third rotates the words by eight bits.
  logic [7:0][3:0] column_q;
  logic [7:0][3:0][3:0] some_q;  // by four boxes: the even or the odd ones
  // A chain of copies of box_q, each near its two columns. It is filled before the first step.
  logic [3:0][2:0] box_copy_q;
  block_t turned;
  always_ff @(posedge clk_i) begin
    box_copy_q <= {box_copy_q[2:0], box_q};
    for (int c = 0; c < 8; c++) begin
      for (int i = 0; i < 4; i++) begin
        some_q[c][i] <=
            serpent_pkg::Sbox[{2'(i), box_copy_q[c/2][0]}][{out_q[96+c], out_q[64+c], out_q[32+c],
                out_q[c]}];
      end
      column_q[c] <= some_q[c][box_copy_q[c/2][2:1]];
    end
  end
  always_comb begin
    for (int w = 0; w < 4; w++) begin
      turned[32*w+:32] = {8'b0, out_q[32*w+8+:24]};
      for (int c = 0; c < 8; c++) turned[32*w+24+c] = column_q[c][w];
    end
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:       if (valid_i) state_d = Extend;
      Extend:     if (step_q == 2'd3) state_d = Substitute;
      Substitute: if (step_q == 2'd3 && phase_q[1]) state_d =
          index_q == 6'd0 || index_q == 6'd32 ? Write : Fold;
      Fold:       state_d = Write;
      Write:      state_d = index_q == 6'd32 ? Idle : Extend;
      default:    state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        window_q <= key_i;
        step_q   <= '0;
        phase_q  <= '0;
        count_q  <= '0;
        index_q  <= '0;
        box_q    <= 3'd3;
      end
      Extend: begin
        window_q <= {word, window_q[7:1]};
        out_q    <= {word, out_q[127:32]};
        count_q  <= count_q + 8'd1;
        step_q   <= step_q + 2'd1;
      end
      Substitute: begin
        phase_q <= phase_q[1] ? '0 : phase_q + 2'd1;
        if (phase_q[1]) begin
          out_q  <= turned;
          step_q <= step_q + 2'd1;
        end
      end
      Fold: out_q <= serpent_pkg::folded(out_q);
      default: begin
        index_q <= index_q + 6'd1;
        box_q   <= box_q - 3'd1;
      end
    endcase
  end

  assign ready_o    = state_q == Idle;
  assign rk_we_o    = state_q == Write;
  assign rk_index_o = index_q;
  assign rk_o       = out_q;

endmodule
