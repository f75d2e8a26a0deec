// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The status of a packet as far as its command and its frame determine it, two cycles after its
// last beat.

module frame_status
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  input  logic                ends_i,
  input  logic [16*Lanes-1:0] keep_i,      // as the command implies
  input  logic [16*Lanes-1:0] in_keep_i,   // as received
  input  logic                short_i,
  input  logic                long_i,
  input  status_e             admission_i, // by the command; valid with the last beat
  output logic                valid_o,
  output status_e             status_o
);

  logic valid_q, ends_q, short_q, long_q, first_q;
  logic [4*Lanes-1:0] differs_q;  // four bytes at a time
  status_e admission_q, frame_q, frame_d;

  always_comb begin
    frame_d = first_q ? StatusOk : frame_q;
    if (frame_d == StatusOk && |differs_q) frame_d = StatusKeep;
    if (long_q) frame_d = StatusLong;
    if (short_q) frame_d = StatusShort;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {valid_q, valid_o} <= '0;
      first_q <= 1'b1;
    end else begin
      valid_q <= valid_i;
      valid_o <= valid_q && ends_q;
      if (valid_q) first_q <= ends_q;
    end
  end
  always_ff @(posedge clk_i) begin
    ends_q      <= ends_i;
    short_q     <= short_i;
    long_q      <= long_i;
    admission_q <= admission_i;
    for (int i = 0; i < 4 * Lanes; i++) differs_q[i] <= keep_i[4*i+:4] != in_keep_i[4*i+:4];
    if (valid_q) frame_q <= frame_d;
    status_o <= admission_q != StatusOk ? admission_q : frame_d;
  end

endmodule
