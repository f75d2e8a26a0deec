// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Holds text back until its verdict: the text of a packet with StatusOk is output, any other is
// dropped. Verdicts are passed on at once; if the text is dropped, the verdict says that the packet
// has none.
//
// The memory has room for Beats beats. A longer packet would cause a deadlock, since its verdict
// comes after its text: the core must refuse it (Cfg.max_text).

`include "assert.svh"

module text_hold
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Beats = 16  // a power of two, 16 or more
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                s_valid_i,
  output logic                s_ready_o,
  input  block_t [Lanes-1:0]  s_data_i,
  input  logic [16*Lanes-1:0] s_keep_i,
  input  logic                s_last_i,
  input  logic                s_verdict_valid_i,
  output logic                s_verdict_ready_o,
  input  verdict_t            s_verdict_i,
  output logic                m_valid_o,
  input  logic                m_ready_i,
  output block_t [Lanes-1:0]  m_data_o,
  output logic [16*Lanes-1:0] m_keep_o,
  output logic                m_last_o,
  output logic                m_verdict_valid_o,
  input  logic                m_verdict_ready_i,
  output verdict_t            m_verdict_o
);

  // Twice the beats, so that Beats beats fit in spite of the places that a queue keeps free.
  logic full, valid, pop, last;
  block_t [Lanes-1:0] data;
  logic [16*Lanes-1:0] keep;
  assign s_ready_o = !full;
  fifo_port #(.Cfg(queue(144 * Lanes + 1, 2 * Beats))) u_text (
    .clk_i, .rst_ni, .push_i(s_valid_i && s_ready_o), .data_i({s_last_i, s_keep_i, s_data_i}),
    .near_full_o(full), .valid_o(valid), .data_o({last, keep, data}), .pop_i(pop)
  );

  // For each packet with text, in order: whether its text is output.
  logic judged_full, judged, good, judge, slice_ready;
  assign judge             = s_verdict_valid_i && s_verdict_ready_o;
  assign s_verdict_ready_o = slice_ready && !judged_full;
  fifo #(.Cfg(queue(1, 16))) u_judged (
    .clk_i, .rst_ni, .push_i(judge && s_verdict_i.text), .data_i(s_verdict_i.status == StatusOk),
    .near_full_o(judged_full), .valid_o(judged), .data_o(good), .pop_i(pop && last)
  );

  assign pop       = valid && judged && (!good || m_ready_i);
  assign m_valid_o = valid && judged && good;
  assign m_data_o  = m_valid_o ? data : '0;
  assign m_keep_o  = keep;
  assign m_last_o  = last;

  // The slice keeps an offered verdict valid, even if u_judged fills up before it is accepted.
  verdict_t verdict;
  always_comb begin
    verdict      = s_verdict_i;
    verdict.text = s_verdict_i.text && s_verdict_i.status == StatusOk;
  end
  slice #(.W($bits(verdict_t))) u_verdict (
    .clk_i, .rst_ni, .valid_i(s_verdict_valid_i && !judged_full), .ready_o(slice_ready),
    .data_i(verdict), .valid_o(m_verdict_valid_o), .ready_i(m_verdict_ready_i), .data_o(m_verdict_o)
  );

  `SEALWRIGHT_STABLE(Text, m_valid_o, m_ready_i, {m_last_o, m_keep_o, m_data_o})
  `SEALWRIGHT_STABLE(Verdict, m_verdict_valid_o, m_verdict_ready_i, m_verdict_o)

endmodule
