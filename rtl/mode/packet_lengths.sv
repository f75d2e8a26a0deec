// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Converts a packet's lengths from bytes to blocks and beats, in three cycles. In a frame the text
// begins in the lane after the last block of associated data, without a gap.

module packet_lengths
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4
) (
  input  logic            clk_i,
  input  logic            open_i,
  input  logic [LenW-1:0] ad_len_i,
  input  logic [LenW-1:0] text_len_i,
  input  logic            refused_i,  // two cycles later
  output lengths_t        lengths_o
);

  function automatic logic [BlockW-1:0] blocks(logic [LenW-1:0] bytes);
    return BlockW'(bytes[LenW-1:4]) + BlockW'(bytes[3:0] != '0);
  endfunction

  logic [BlockW-1:0] ad_blocks_q, text_blocks_q;
  lengths_t q1, q2;

  always_ff @(posedge clk_i) begin
    q1            <= '0;
    q1.open       <= open_i;
    q1.has_text   <= text_len_i != '0;
    q1.ad_tail    <= ad_len_i[3:0];
    q1.text_tail  <= text_len_i[3:0];
    ad_blocks_q   <= blocks(ad_len_i);
    text_blocks_q <= blocks(text_len_i);

    q2           <= q1;
    q2.ad_blocks <= ad_blocks_q;
    q2.blocks    <= ad_blocks_q + text_blocks_q;

    lengths_o         <= q2;
    lengths_o.refused <= refused_i;
    lengths_o.beats   <= q2.blocks == '0 ? '0 : (q2.blocks - BlockW'(1)) >> $clog2(Lanes);
  end

endmodule
