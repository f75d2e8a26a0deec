// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A wrapper of the bus unit for place and route, like core_shim.

module shu_shim
  import sealwright_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned Pads  = 5,
  parameter int unsigned Sbox  = 0,  // of sbox_e
  parameter int unsigned Cut   = 0,
  localparam int unsigned NodeW = $clog2(Nodes)
) (
  input  logic clk,
  input  logic rst_n,
  input  logic d,
  output logic q
);

  localparam int unsigned InW  = 3 * NodeW + 16 + 130 + 2 + 64 + 9 + Nodes + 2 + 8 + 64 + 640 + 1;
  localparam int unsigned OutW = 5 + 640;

  logic [InW-1:0] in_q;
  logic rst_nq;
  always_ff @(posedge clk) begin
    in_q   <= {in_q[InW-2:0], d};
    rst_nq <= rst_n;
  end

  logic [NodeW-1:0] node, counter_peer, peer;
  logic [15:0] epoch;
  logic key_valid, key_ready, key_erase, counter_we, counter_receive, process_we;
  logic in_valid, in_ready, receive, out_valid, out_ready, refused, authentic;
  logic [127:0] key;
  logic [63:0] counter, line;
  logic [7:0] process, line_process;
  logic [Nodes-1:0] process_nodes;
  block_t [3:0] text, out_text;
  block_t tag, out_tag;
  assign {node, counter_peer, peer, epoch, key_valid, key_erase, key, counter_we, counter_receive,
          counter, process_we, process, process_nodes, in_valid, receive, line_process, line, text,
          tag, out_ready} = in_q;

  (* keep_hierarchy *)
  shu #(.Nodes(Nodes), .Pads(Pads), .Sbox(Sbox), .Cut(Cut)) u_core (
    .clk_i(clk), .rst_ni(rst_nq), .node_i(node), .epoch_i(epoch), .key_valid_i(key_valid),
    .key_ready_o(key_ready), .key_erase_i(key_erase), .key_i(key), .counter_we_i(counter_we),
    .counter_receive_i(counter_receive), .counter_peer_i(counter_peer), .counter_i(counter),
    .process_we_i(process_we), .process_i(process), .process_nodes_i(process_nodes),
    .valid_i(in_valid), .ready_o(in_ready), .receive_i(receive), .peer_i(peer),
    .line_process_i(line_process), .line_i(line), .text_i(text), .tag_i(tag),
    .valid_o(out_valid), .ready_i(out_ready), .refused_o(refused), .authentic_o(authentic),
    .text_o(out_text), .tag_o(out_tag)
  );

  fold #(.Width(OutW)) u_fold (
    .clk, .d({key_ready, in_ready, out_valid, refused, authentic, out_text, out_tag}), .q
  );

endmodule
