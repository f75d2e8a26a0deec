// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Text waits for its verdict, whatever the neighbours do: a beat is offered only if the verdict of
// its own packet came and is StatusOk, and shows nothing before; no beat of such a packet leaves
// without having been taken, and no beat of another packet is offered; a verdict goes on with the
// status and tag that it came with, in order, and says that there is text exactly if its packet's
// text is offered. Text and verdicts may come in any order of cycles. Each beat carries the number
// of its packet, modulo eight, in its data.

module text_hold_proof
  import sealwright_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       s_valid_i,
  input  logic       s_last_i,
  input  logic       verdict_valid_i,
  input  logic       verdict_text_i,
  input  logic [2:0] verdict_status_i,
  input  logic       m_ready_i,
  input  logic       m_verdict_ready_i,
  output logic       right_o
);

  logic s_ready, verdict_ready, m_valid, m_last, m_verdict_valid;
  block_t [0:0] s_data, m_data;
  logic [15:0] m_keep;
  verdict_t s_verdict, m_verdict;
  logic [2:0] came_q, gone_q, judged_q;  // packets with text: their last beats, and their verdicts

  assign s_data = {124'b0, 1'b1, came_q};
  always_comb begin
    s_verdict        = '0;
    s_verdict.text   = verdict_text_i;
    s_verdict.status = status_e'(verdict_status_i);
  end
  text_hold #(.Lanes(1)) u_hold (
    .clk_i, .rst_ni, .s_valid_i, .s_ready_o(s_ready), .s_data_i(s_data), .s_keep_i('1), .s_last_i,
    .s_verdict_valid_i(verdict_valid_i), .s_verdict_ready_o(verdict_ready),
    .s_verdict_i(s_verdict), .m_valid_o(m_valid), .m_ready_i, .m_data_o(m_data),
    .m_keep_o(m_keep), .m_last_o(m_last), .m_verdict_valid_o(m_verdict_valid), .m_verdict_ready_i,
    .m_verdict_o(m_verdict)
  );

  // What became of the packets.
  logic [7:0] good_q;
  logic push, judge, pop;
  assign push  = s_valid_i && s_ready;
  assign judge = verdict_valid_i && verdict_ready;
  assign pop   = u_hold.pop;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {came_q, gone_q, judged_q} <= '0;
    else begin
      came_q   <= came_q + 3'(push && s_last_i);
      gone_q   <= gone_q + 3'(pop && u_hold.last);
      judged_q <= judged_q + 3'(judge && verdict_text_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (judge && verdict_text_i) good_q[judged_q] <= verdict_status_i == StatusOk;
  end

  // The queues hold what came and is not gone: each beat its packet's number, each judgement that
  // of its packet.
  typedef struct packed {
    logic last;
    logic [15:0] keep;
    block_t data;
  } word_t;
  logic [1:0] beats, judgements;
  word_t [1:0] words;
  logic [1:0] goods;
  assign beats      = u_hold.u_text.u_fifo.count_q;
  assign words      = u_hold.u_text.u_fifo.words_q;
  assign judgements = u_hold.u_judged.count_q;
  assign goods      = u_hold.u_judged.words_q;

  logic in_order;
  logic [2:0] number;
  always_comb begin
    in_order = beats <= 2'd2 && judgements <= 2'd2 && judged_q == gone_q + 3'(judgements);
    number   = gone_q;
    for (int i = 0; i < 2; i++) begin
      if (2'(i) < beats) begin
        if (words[i].data != {124'b0, 1'b1, number} || words[i].keep != '1) in_order = 1'b0;
        number = number + 3'(words[i].last);
      end
      if (2'(i) < judgements && goods[i] != good_q[gone_q + 3'(i)]) in_order = 1'b0;
    end
    if (came_q != number) in_order = 1'b0;
    if ((push && beats == 2'd2) || (pop && beats == 2'd0)) in_order = 1'b0;
    if (judge && judgements == 2'd2) in_order = 1'b0;
  end

  // Of a beat that is offered, or leaves.
  logic judged, good, text_right;
  assign judged = judgements != 2'd0;
  assign good   = good_q[gone_q];
  always_comb begin
    text_right = 1'b1;
    if (m_valid && !(judged && good && m_data == {124'b0, 1'b1, gone_q} && m_keep == '1
        && m_last == words[0].last)) text_right = 1'b0;
    if (!m_valid && m_data != '0) text_right = 1'b0;
    if (pop != (beats != 2'd0 && judged && (!good || (m_valid && m_ready_i)))) text_right = 1'b0;
  end

  // Verdicts in a slice: those that came and are not gone. Beside it, what it should hold.
  logic [1:0] waiting_q;
  logic [1:0][3:0] verdicts_q;  // from the oldest on: text, status
  logic verdict_pop;
  logic [3:0] made;
  assign made        = {verdict_text_i && verdict_status_i == StatusOk, verdict_status_i};
  assign verdict_pop = m_verdict_valid && m_verdict_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waiting_q <= '0;
    else waiting_q <= waiting_q + 2'(judge) - 2'(verdict_pop);
  end
  always_ff @(posedge clk_i) begin
    if (verdict_pop) verdicts_q[0] <= verdicts_q[1];
    if (judge) verdicts_q[1'(waiting_q - 2'(verdict_pop))] <= made;
  end
  logic verdict_right;
  verdict_t spare;
  assign spare = u_hold.u_verdict.spare_q;
  always_comb begin
    verdict_right = waiting_q != 2'd3 && m_verdict_valid == (waiting_q != 2'd0)
        && u_hold.slice_ready == (waiting_q != 2'd2);
    if (m_verdict_valid && {m_verdict.text, m_verdict.status} != verdicts_q[0])
      verdict_right = 1'b0;
    if (m_verdict_valid && {m_verdict.tag, m_verdict.open, m_verdict.authentic} != '0)
      verdict_right = 1'b0;
    if (waiting_q == 2'd2 && {spare.text, spare.status} != verdicts_q[1])
      verdict_right = 1'b0;
    if (waiting_q == 2'd2 && {spare.tag, spare.open, spare.authentic} != '0) verdict_right = 1'b0;
  end

  assign right_o = !rst_ni || (in_order && text_right && verdict_right);

endmodule
