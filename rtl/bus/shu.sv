// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The security hardware unit of one node on a shared bus: seals lines to other nodes, and opens
// lines from them, with AES-128-GCM and precomputed pads.
//
// Each ordered pair of nodes has a 64-bit counter. The nonce of a line is source (8 bits),
// destination (8), epoch (16) and that counter, big-endian, so that no nonce is used twice under
// one key. The associated data are the process (8 bits) and the line number (64); the text is 64
// bytes. For each direction of each other node there is a pool of up to Pads pads; a pad is four
// blocks of keystream and the mask of the tag. A line uses the oldest pad, and the AES pipeline
// makes another, with the next counter, while the bus continues. A line that is not authentic uses
// no pad: a forger cannot put the pair out of step.
//
// The process table says which processes run here, and on which nodes: a line of a process that
// does not run on both nodes is refused, and uses no pad. Lines are handled one at a time, about 20
// cycles each.
//
// A key is accepted between two lines, with the node's number and the epoch. It empties every pool:
// the pads of the previous key are discarded, and a pair is refused until its counter is written. A
// pair's counter can be written once per key: a second write, which could repeat nonces, is
// ignored. Without a key no counter is accepted, and every line is refused. A reset or an erased
// key leaves the unit without a key: the all-zero key and what is derived from it overwrite the old
// values, and key_ready_o is low until then. Old pads stay in memory, unread, until replaced.
//
// For a line, a write to the process table counts if it is in the cycle that accepts the line.
//
//   set-up: key; counters (which also start their pools); process table. Then requests are answered
//   in order.

`include "assert.svh"

module shu
  import sealwright_pkg::*;
#(
  parameter int unsigned Nodes = 8,            // a power of two, 2 to 256
  parameter int unsigned Pads  = 5,            // 2 to 64
  parameter int unsigned Sbox  = 0,            // of sbox_e
  parameter int unsigned Cut   = 0,
  localparam int unsigned NodeW  = $clog2(Nodes),
  localparam int unsigned Queues = 2 * Nodes,
  localparam int unsigned PlaceW = $clog2(Pads)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [NodeW-1:0] node_i,             // this node; sampled with a key, as is epoch_i
  input  logic [15:0]      epoch_i,
  input  logic             key_valid_i,
  output logic             key_ready_o,
  input  logic             key_erase_i,        // erase the key instead
  input  logic [127:0]     key_i,
  input  logic             counter_we_i,
  input  logic             counter_receive_i,  // for lines from the peer; else for lines to it
  input  logic [NodeW-1:0] counter_peer_i,
  input  logic [63:0]      counter_i,
  input  logic             process_we_i,
  input  logic [7:0]       process_i,
  input  logic [Nodes-1:0] process_nodes_i,    // where it runs; none: it is gone
  input  logic             valid_i,
  output logic             ready_o,
  input  logic             receive_i,
  input  logic [NodeW-1:0] peer_i,
  input  logic [7:0]       line_process_i,
  input  logic [63:0]      line_i,
  input  block_t [3:0]     text_i,
  input  block_t           tag_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic             refused_o,          // by the process table
  output logic             authentic_o,        // for a received line
  output block_t [3:0]     text_o,             // zero unless sealed or authentic
  output block_t           tag_o
);

  localparam pipe_cfg_t Pipe = '{
    cipher: Aes128, sbox: sbox_e'(Sbox), cut: built_cut(Sbox, Cut), lanes: 1, slots: 1,
    inverse: 1'b0
  };
  localparam int unsigned QueueW = NodeW + 1;
  localparam int unsigned Depth  = 5;          // registers in the loop of GHASH; see exponent_i
  localparam int unsigned Blocks = 5;          // of a pad

  `SEALWRIGHT_REQUIRE(gen_bad_nodes, Nodes >= 2 && Nodes <= 256 && (Nodes & (Nodes - 1)) == 0,
      "Nodes must be a power of two, 2 to 256")
  `SEALWRIGHT_REQUIRE(gen_bad_pads, Pads >= 2 && Pads <= 64, "Pads must be 2 to 64")
  `SEALWRIGHT_REQUIRE(gen_bad_sbox, Sbox <= 32'(SboxComposite), "Sbox must be 0 to 2")
  `SEALWRIGHT_REQUIRE(gen_bad_cut, Cut <= 4, "Cut must be 0 to 4")
  `SEALWRIGHT_REQUIRE(gen_bad_rom, Sbox != 32'(SboxRom) || Cut != 0,
      "with Sbox = 1 (an S-box in memory) Cut must be 1 or more")

  // ---- the key ----
  logic rk_we, zero_valid, zero_done, derive_valid, derive_ready, power_we;
  logic [5:0] rk_index;
  logic [2:0] power_index;
  block_t rk, power, cipher_out;
  logic unused_rk_slot, unused_slot;

  logic setup_ready, flush, idle;  // flush: a key is accepted
  logic wipe_q, keyed_q;           // a reset's erase is due; there is a key
  logic [NodeW-1:0] node_q;
  logic [15:0] epoch_q;
  logic [127:0] new_key;
  assign key_ready_o = setup_ready && idle && !wipe_q;
  assign flush       = setup_ready && idle && (wipe_q || key_valid_i);
  assign new_key     = wipe_q || key_erase_i ? '0 : key_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {wipe_q, keyed_q} <= 2'b10;
    else if (flush) {wipe_q, keyed_q} <= {1'b0, !wipe_q && !key_erase_i};
  end
  always_ff @(posedge clk_i) begin
    if (flush) {node_q, epoch_q} <= {node_i, epoch_i};
  end
  key_setup #(.Cipher(Aes128), .Slots(1)) u_key_setup (
    .clk_i, .rst_ni, .valid_i(flush), .ready_o(setup_ready), .slot_i(1'b0),
    .key_i({128'b0, new_key}),
    .rk_we_o(rk_we), .rk_slot_o(unused_rk_slot), .rk_index_o(rk_index), .rk_o(rk),
    .zero_valid_o(zero_valid), .zero_ready_i(1'b1), .done_valid_i(zero_done),
    .derive_valid_o(derive_valid), .derive_ready_i(derive_ready), .slot_o(unused_slot)
  );

  // ---- pools ----
  logic [63:0] counter_q [Queues];               // of the next pad to be made
  logic [Queues-1:0] live_q, mine_q;             // live_q: has a counter; mine_q: the line's
  logic [Queues-1:0][PlaceW:0] asked_q, ready_q; // pads requested or ready; ready
  logic [Queues-1:0][PlaceW-1:0] head_q, tail_q;
  logic take, made;
  logic [QueueW-1:0] queue_q, made_queue;

  // A counter is accepted.
  logic [QueueW-1:0] counter_queue;
  logic counted;
  assign counter_queue = {counter_receive_i, counter_peer_i};
  assign counted       = counter_we_i && keyed_q && !live_q[counter_queue];

  function automatic logic [PlaceW-1:0] next(logic [PlaceW-1:0] place);
    return place == PlaceW'(Pads - 1) ? '0 : place + PlaceW'(1);
  endfunction

  // A scan looks for a pool that lacks a pad, two cycles per pool: one reads, one starts a request,
  // unless a counter is being written. A request takes Blocks cycles; in the first ones the pool's
  // counter is written back.
  logic [QueueW-1:0] scan_q, bump_queue_q;
  logic [2:0] block_q;
  logic looked_q, lacks_q, asking_q, bump_q, begins, asks;
  logic [63:0] asking_counter_q, next_counter_q;
  assign begins = looked_q && lacks_q && !counter_we_i;
  assign asks   = asking_q && !zero_valid && setup_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scan_q   <= '0;
      block_q  <= '0;
      looked_q <= 1'b0;
      asking_q <= 1'b0;
    end else if (flush) begin
      block_q  <= '0;
      looked_q <= 1'b0;
      asking_q <= 1'b0;
    end else if (asks) begin
      block_q <= block_q == 3'(Blocks - 1) ? '0 : block_q + 3'd1;
      if (block_q == 3'(Blocks - 1)) begin
        asking_q <= 1'b0;
        scan_q   <= scan_q + QueueW'(1);
      end
    end else if (!asking_q) begin
      looked_q <= !looked_q && !counter_we_i && !bump_q;
      asking_q <= begins;
      if (looked_q && !lacks_q) scan_q <= scan_q + QueueW'(1);
    end
  end
  // bump_q: next_counter_q is to be written to the pool's counter. A write through the port goes
  // first, and replaces it if it is for the same pool.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bump_q <= 1'b0;
    else if (begins && !flush) bump_q <= 1'b1;
    else if (!counted || counter_queue == bump_queue_q) bump_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    lacks_q <= live_q[scan_q] && asked_q[scan_q] != (PlaceW+1)'(Pads);
    if (!asking_q && !looked_q) asking_counter_q <= counter_q[scan_q];
    if (begins) begin
      next_counter_q <= asking_counter_q + 64'd1;
      bump_queue_q   <= scan_q;
    end
    if (counted) counter_q[counter_queue] <= counter_i;
    else if (bump_q) counter_q[bump_queue_q] <= next_counter_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q  <= '0;
      asked_q <= '0;
      ready_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
    end else if (flush) begin
      live_q  <= '0;
      asked_q <= '0;
      ready_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
    end else begin
      for (int q = 0; q < Queues; q++) begin
        asked_q[q] <= asked_q[q]
            + (PlaceW+1)'(begins && scan_q == QueueW'(q)) - (PlaceW+1)'(take && mine_q[q]);
        ready_q[q] <= ready_q[q] + (PlaceW+1)'(made && made_queue == QueueW'(q))
            - (PlaceW+1)'(take && mine_q[q]);
        if (take && mine_q[q]) head_q[q] <= next(head_q[q]);
        if (made && made_queue == QueueW'(q)) tail_q[q] <= next(tail_q[q]);
      end
      if (counted) live_q[counter_queue] <= 1'b1;
    end
  end

  // ---- the cipher: nonces in, pads out ----
  logic [7:0] here, there;
  logic [95:0] nonce;
  logic cipher_valid_q, cipher_zero_q, cipher_valid;
  logic [2:0] in_block_q, out_block;
  logic [QueueW-1:0] in_queue_q, out_queue;
  block_t cipher_in_q;
  assign here  = 8'(node_q);
  assign there = 8'(scan_q[NodeW-1:0]);
  assign nonce = scan_q[NodeW] ? {there, here, epoch_q, asking_counter_q}
      : {here, there, epoch_q, asking_counter_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {cipher_valid_q, cipher_zero_q} <= '0;
    else {cipher_valid_q, cipher_zero_q} <= {asks, zero_valid};
  end
  always_ff @(posedge clk_i) begin
    in_block_q  <= block_q;
    in_queue_q  <= scan_q;
    // Counters 2 to 5 for the four blocks of text, then 1 for the mask of the tag.
    cipher_in_q <= zero_valid ? '0
        : reverse_bytes({nonce, block_q == 3'd4 ? 32'd1 : 32'd2 + 32'(block_q)});
  end
  cipher_pipe #(.Cfg(Pipe)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(1'b0), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i(cipher_valid_q), .slot_i(1'b0), .block_i(cipher_in_q), .valid_o(cipher_valid),
    .block_o(cipher_out)
  );
  delay_valid #(.Cycles(latency(Pipe))) u_zero (
    .clk_i, .rst_ni, .valid_i(cipher_zero_q), .valid_o(zero_done)
  );
  // The pool and the pad's place are known a cycle before the block. The next pad of the same pool
  // is at least one whole scan later.
  logic [2:0] soon_block;
  logic [QueueW-1:0] soon_queue;
  logic [PlaceW-1:0] out_place;
  delay #(.W(3 + QueueW), .Cycles(latency(Pipe) - 1)) u_beside (
    .clk_i, .d_i({in_block_q, in_queue_q}), .q_o({soon_block, soon_queue})
  );
  always_ff @(posedge clk_i) begin
    out_block <= soon_block;
    out_queue <= soon_queue;
    out_place <= tail_q[soon_queue];
  end
  // Key expansion takes longer than the cipher: blocks that come out meanwhile have the old key.
  logic kept;
  assign kept       = cipher_valid && setup_ready;
  assign made       = kept && out_block == 3'd4;
  assign made_queue = out_queue;

  // ---- a line ----
  typedef enum logic [3:0] {
    Idle, Look, Read, Mix, Hash, Await, Compare, Decide, Answer
  } state_e;

  state_e state_d, state_q;
  logic receive_q, allowed_q;
  logic [NodeW-1:0] peer_q;
  logic [7:0] process_q;
  logic [63:0] line_q;
  logic [2:0] group_q;
  logic hash_valid, good_q, some_q;  // some_q: the pool has a pad
  logic [15:0] same_bytes_q;
  logic [PlaceW-1:0] place_q;        // of the oldest pad
  block_t hash, tag_q, made_tag_q;
  block_t [3:0] text_q, out_q;
  block_t [Blocks-1:0] pad_q;

  logic [Nodes-1:0] table_q [256];
  logic [Nodes-1:0] nodes_q;
  logic [15:0][15:0] known_q;
  logic [15:0] known_row_q;

  assign queue_q = {receive_q, peer_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (process_we_i) known_q[process_i[7:4]][process_i[3:0]] <= 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (process_we_i) table_q[process_i] <= process_nodes_i;
    nodes_q <= process_we_i && process_i == line_process_i ? process_nodes_i
        : table_q[line_process_i];
    if (state_q == Idle) begin
      for (int i = 0; i < 16; i++) begin
        known_row_q[i] <= known_q[line_process_i[7:4]][i]
            || (process_we_i && process_i == {line_process_i[7:4], 4'(i)});
      end
    end
    for (int q = 0; q < Queues; q++) mine_q[q] <= queue_q == QueueW'(q);
    // Read ahead for the line: only the current line removes a pad from its pool.
    some_q  <= ready_q[queue_q] != '0;
    place_q <= head_q[queue_q];
  end

  for (genvar b = 0; b < Blocks; b++) begin : gen_pad
    block_t mem [2**(QueueW + PlaceW)];
    always_ff @(posedge clk_i) begin
      if (kept && out_block == 3'(b)) mem[{out_queue, out_place}] <= cipher_out;
      pad_q[b] <= mem[{queue_q, place_q}];
    end
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:    if (valid_i && ready_o) state_d = Look;
      Look:    state_d = Read;
      Read:    if (!allowed_q) state_d = Answer;
               else if (some_q && setup_ready) state_d = Mix;
      Mix:     state_d = Hash;
      Hash:    if (group_q == 3'd5) state_d = Await;
      Await:   if (hash_valid) state_d = Compare;
      Compare: state_d = Decide;
      Decide:  state_d = Answer;
      Answer:  if (ready_i) state_d = Idle;
      default: state_d = Idle;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  block_t [3:0] mixed, sealed;
  assign mixed  = text_q ^ pad_q[3:0];
  assign sealed = receive_q ? text_q : out_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        receive_q <= receive_i;
        peer_q    <= peer_i;
        process_q <= line_process_i;
        line_q    <= line_i;
        text_q    <= text_i;
        tag_q     <= tag_i;
        good_q    <= 1'b0;
      end
      Look: allowed_q <=
          known_row_q[process_q[3:0]] && nodes_q[node_q] && nodes_q[peer_q] && peer_q != node_q
              && live_q[queue_q];
      Read: group_q <= '0;
      Mix:  out_q <= mixed;
      Hash: group_q <= group_q + 3'd1;
      Await: made_tag_q <= element(hash) ^ pad_q[4];
      Compare: for (int i = 0; i < 16; i++) begin
        same_bytes_q[i] <= made_tag_q[8*i+:8] == tag_q[8*i+:8];
      end
      Decide: good_q <= !receive_q || same_bytes_q == '1;
      default: ;
    endcase
  end

  // Associated data, four blocks, lengths.
  block_t group;
  always_comb begin
    unique case (group_q)
      3'd0:    group = reverse_bytes({process_q, line_q, 56'b0});
      3'd5:    group = reverse_bytes({64'd72, 64'd512});
      default: group = sealed[2'(group_q - 3'd1)];
    endcase
  end
  ghash_powers #(.Count(Depth)) u_powers (
    .clk_i, .rst_ni, .valid_i(derive_valid), .h_i(element(cipher_out)), .ready_o(derive_ready),
    .we_o(power_we), .index_o(power_index), .power_o(power)
  );
  ghash_stride #(.Lanes(1), .Depth(Depth), .Slots(1)) u_ghash (
    .clk_i, .rst_ni, .power_we_i(power_we), .power_slot_i(1'b0), .power_index_i(power_index),
    .power_i(power), .valid_i(state_q == Hash), .slot_i(1'b0), .x_i(element(group)), .after_i('0),
    .exponent_i(group_q == 3'd0 ? 3'd5 : 3'd6 - group_q), .take_i(group_q == 3'd5),
    .fold_i(group_q != 3'd0), .last_i(group_q == 3'd5), .valid_o(hash_valid), .hash_o(hash)
  );

  assign take        = state_q == Answer && ready_i && good_q;
  assign idle        = state_q == Idle;
  assign ready_o     = idle && !key_valid_i && !wipe_q;  // a key has priority
  assign valid_o     = state_q == Answer;
  assign refused_o   = !allowed_q;
  assign authentic_o = receive_q && good_q;
  assign text_o      = good_q ? out_q : '0;
  assign tag_o       = good_q ? made_tag_q : '0;

endmodule
