// Verdicts: a hash and the mask that waits for it become the tag; an opened packet's tag is compared.
//
// Masks come in the order of the hashes, each two cycles earlier or more. Whoever sends masks counts the verdicts that are
// under way and keeps them at Depth or fewer.

module tag_check
  import sealwright_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     mask_valid_i,
  input  block_t   mask_i,
  input  logic     open_i,
  input  block_t   claim_i,
  input  logic     malformed_i,
  input  logic     hash_valid_i,
  input  block_t   hash_i,
  output logic     valid_o,
  input  logic     ready_i,
  output verdict_t verdict_o
);

  logic hash_valid, open, malformed, unused_full, unused_full2, unused_valid;
  block_t hash, mask, claim;

  delay_valid #(.Cycles(Late)) u_hash_valid (.clk_i, .rst_ni, .valid_i(hash_valid_i), .valid_o(hash_valid));
  delay #(.W(128), .Cycles(Late)) u_hash (.clk_i, .d_i(hash_i), .q_o(hash));
  fifo_late #(.W(258), .Depth(Depth)) u_masks (
    .clk_i, .rst_ni,
    .push_i(mask_valid_i), .data_i({open_i, malformed_i, claim_i, mask_i}), .near_full_o(unused_full),
    .valid_o(unused_valid), .data_o({open, malformed, claim, mask}), .pop_i(hash_valid_i)
  );

  logic [2:0] valid_q;
  logic open_q, open_q2, open_q3, malformed_q, malformed_q2, equal_q3;
  logic [15:0] same_q2;  // byte by byte
  block_t tag_q, tag_q2, tag_q3, claim_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], hash_valid};
  end

  always_ff @(posedge clk_i) begin
    tag_q        <= hash ^ mask;
    claim_q      <= claim;
    open_q       <= open;
    malformed_q  <= malformed;
    for (int i = 0; i < 16; i++) same_q2[i] <= tag_q[8*i+:8] == claim_q[8*i+:8];
    malformed_q2 <= malformed_q;
    tag_q2       <= tag_q;
    open_q2      <= open_q;
    tag_q3       <= tag_q2;
    open_q3      <= open_q2;
    equal_q3     <= open_q2 && !malformed_q2 && &same_q2;
  end

  fifo #(.W($bits(verdict_t)), .Depth(Depth)) u_verdicts (
    .clk_i, .rst_ni,
    .push_i(valid_q[2]), .data_i({tag_q3, open_q3, equal_q3}), .near_full_o(unused_full2),
    .valid_o, .data_o(verdict_o), .pop_i(valid_o && ready_i)
  );

endmodule
