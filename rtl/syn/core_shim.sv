// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A wrapper of a core for place and route, with a clock, a reset, and one pin each for inputs and
// outputs: a core has more ports than a package has pins.
//
// Inputs come from a shift register, and outputs are folded into one bit with a register after each
// step, so that every path in the timing report goes through the core. A path may begin in a
// register of this module that is placed near its pin, such as those of `verdict_ready`, `m_ready`
// and the reset; the cipher alone has hardly any.

module core_shim
  import sealwright_pkg::*;
#(
  parameter int unsigned Mode   = 0,   // 0 GCM, 1 OCB, 2 cipher alone
  parameter int unsigned Cipher = 0,   // of cipher_e
  parameter int unsigned Sbox   = 0,   // of sbox_e
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Depth  = 6,
  parameter int unsigned Slots  = 4,
  parameter int unsigned Tag    = 16,
  parameter int unsigned Opens  = 1,
  parameter int unsigned Hold   = 0,   // packets with more text are refused; nothing is held back
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic clk,
  input  logic rst_n,
  input  logic d,
  output logic q
);

  localparam core_cfg_t Cfg = '{
    pipe: '{
      cipher: cipher_e'(Cipher), sbox: sbox_e'(Sbox), cut: Cut, lanes: Lanes, slots: Slots,
      inverse: 1'b0
    },
    depth: Depth, tag_bytes: Tag, max_text: Hold, opens: Mode == 0 || Opens != 0, keep: 1'b0,
    numbered: 1'b0
  };

  localparam int unsigned InW  = 2 + SlotW + 256 + 1 + SlotW + $bits(command_t) + 2 + 144 * Lanes
      + 2;
  localparam int unsigned OutW = 9 + SlotW + 2 * Slots + 144 * Lanes + $bits(verdict_t);

  logic [InW-1:0] in_q;
  logic rst_nq;
  always_ff @(posedge clk) begin
    in_q   <= {in_q[InW-2:0], d};
    rst_nq <= rst_n;
  end

  logic key_valid, key_erase, command_valid, s_valid, s_last, m_ready, verdict_ready;
  logic [SlotW-1:0] key_slot, command_slot;
  logic [255:0] key;
  command_t command;
  block_t [Lanes-1:0] s_data;
  logic [16*Lanes-1:0] s_keep;
  assign {key_valid, key_erase, key_slot, key, command_valid, command_slot, command, s_valid,
      s_last, s_keep, s_data,
          m_ready, verdict_ready} = in_q;

  logic done_valid;
  logic [SlotW-1:0] done_slot;
  key_status_e done_status;
  logic [Slots-1:0] slot_valid, slot_busy;
  logic key_ready, command_ready, s_ready, m_valid, m_last, verdict_valid;
  block_t [Lanes-1:0] m_data;
  logic [16*Lanes-1:0] m_keep;
  verdict_t verdict;

  if (Mode == 0) begin : gen_gcm
    (* keep_hierarchy *)
    gcm_core #(.Cfg(Cfg)) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready),
      .key_erase_i(key_erase), .key_slot_i(key_slot), .key_i(key), .done_valid_o(done_valid),
      .done_slot_o(done_slot), .done_status_o(done_status), .slot_valid_o(slot_valid),
      .slot_busy_o(slot_busy), .command_valid_i(command_valid), .command_ready_o(command_ready),
      .command_slot_i(command_slot), .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready),
      .s_data_i(s_data), .s_keep_i(s_keep), .s_last_i(s_last), .s_ended_i(1'b0),
      .m_valid_o(m_valid), .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep),
      .m_last_o(m_last), .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready),
      .verdict_o(verdict)
    );
  end else if (Mode == 1) begin : gen_ocb
    (* keep_hierarchy *)
    ocb_core #(.Cfg(Cfg)) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready),
      .key_erase_i(key_erase), .key_slot_i(key_slot), .key_i(key), .done_valid_o(done_valid),
      .done_slot_o(done_slot), .done_status_o(done_status), .slot_valid_o(slot_valid),
      .slot_busy_o(slot_busy), .command_valid_i(command_valid), .command_ready_o(command_ready),
      .command_slot_i(command_slot), .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready),
      .s_data_i(s_data), .s_keep_i(s_keep), .s_last_i(s_last), .s_ended_i(1'b0),
      .m_valid_o(m_valid), .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep),
      .m_last_o(m_last), .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready),
      .verdict_o(verdict)
    );
  end else begin : gen_cipher
    (* keep_hierarchy *)
    cipher_only #(.Cfg(Cfg.pipe)) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready),
      .key_slot_i(key_slot), .key_i(key), .valid_i(s_valid), .slot_i(command_slot),
      .block_i(s_data), .valid_o(m_valid), .block_o(m_data)
    );
    assign {command_ready, s_ready, m_last, verdict_valid, m_keep} = '0;
    assign verdict = '0;
    assign {done_valid, done_slot, slot_valid, slot_busy} = '0;
    assign done_status = KeyLoaded;
  end

  fold #(.Width(OutW)) u_fold (
    .clk,
    .d({key_ready, done_valid, done_slot, done_status, slot_valid, slot_busy, command_ready,
        s_ready, m_valid, m_last, m_data, m_keep, verdict_valid, verdict}),
    .q
  );

endmodule
