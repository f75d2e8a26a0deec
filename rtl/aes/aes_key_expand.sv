// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES key expansion (FIPS 197, 5.2): seven cycles a word, five of them for the S-box. AES-128 takes
// 309 cycles, AES-256 421.
//
// window_q holds the last Nk words, oldest first. It is rotated once while the words of the key
// itself are output.

module aes_key_expand
  import sealwright_pkg::*;
#(
  parameter cipher_e Cipher = Aes128
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [255:0] key_i,   // a key of 16 bytes in the lower half
  output logic         rk_we_o,
  output logic [5:0]   rk_index_o,
  output block_t       rk_o
);

  localparam int unsigned Words = Cipher == Aes256 ? 8 : 4;
  localparam int unsigned Total = 4 * (rounds(Cipher) + 1);

  typedef enum logic [1:0] {Idle, Substitute, Add, Shift} state_e;

  state_e state_d, state_q;
  logic [Words-1:0][31:0] window_q;
  logic [5:0] count_q;                       // words that were output
  logic [$clog2(Words)-1:0] place;           // of the next word among its Nk words
  logic [7:0] rcon_q;
  logic [31:0] last, turned_q, box, word_q;
  logic [2:0] wait_q;                        // for the S-box
  logic [95:0] out_q;

  assign place  = count_q[$clog2(Words)-1:0];
  assign last   = window_q[Words-1];
  // Registered: count_q is stable for some cycles before a word needs it.
  always_ff @(posedge clk_i) rcon_q <= aes_pkg::rcon(4'(count_q >> $clog2(Words)));
  always_ff @(posedge clk_i) turned_q <= place == '0 ? {last[7:0], last[31:8]} : last;
  for (genvar i = 0; i < 4; i++) begin : gen_box
    aes_sbox_composite #(.Cut(4)) u_sbox (.clk_i, .a_i(turned_q[8*i+:8]), .y_o(box[8*i+:8]));
  end

  logic [31:0] added;
  always_comb begin
    added = last;
    if (place == '0) added = box ^ {24'b0, rcon_q};
    else if (Words == 8 && 32'(place) == 4) added = box;
    if (count_q < 6'(Words)) added = '0;      // the key's own words
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:       if (valid_i) state_d = Substitute;
      Substitute: if (wait_q == 3'd4) state_d = Add;
      Add:        state_d = Shift;
      Shift:      state_d = count_q == 6'(Total - 1) ? Idle : Substitute;
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
        window_q <= key_i[32*Words-1:0];
        count_q  <= '0;
        wait_q   <= '0;
      end
      Substitute: wait_q <= wait_q == 3'd4 ? '0 : wait_q + 3'd1;
      Add: word_q <= window_q[0] ^ added;
      default: begin
        window_q <= {word_q, window_q[Words-1:1]};
        out_q    <= {word_q, out_q[95:32]};
        count_q  <= count_q + 6'd1;
      end
    endcase
  end

  if (Words == 4) begin : gen_short
    logic unused_key;
    assign unused_key = ^key_i[255:128];
  end

  assign ready_o    = state_q == Idle;
  assign rk_we_o    = state_q == Shift && count_q[1:0] == 2'd3;
  assign rk_index_o = {2'b0, count_q[5:2]};
  assign rk_o       = {word_q, out_q};

endmodule
