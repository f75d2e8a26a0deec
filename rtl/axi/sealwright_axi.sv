// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A core with registers for keys and state on AXI4-Lite (sealwright_axil) and AXI4-Streams for
// packets (sealwright_axis, which has the same parameters). Both interfaces share one clock and one
// reset.

module sealwright_axi
  import sealwright_pkg::*;
  import sealwright_registers_pkg::*;
#(
  // Plain integers, which every tool can set: values of mode_e, cipher_e and sbox_e, and of the
  // fields of core_cfg_t.
  parameter int unsigned Mode   = 0,
  parameter int unsigned Cipher = 0,
  parameter int unsigned Sbox   = 0,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,  // blocks in a beat
  parameter int unsigned Depth  = 6,  // registers in GHASH's loop
  parameter int unsigned Slots  = 4,  // key slots
  parameter int unsigned Tag    = 16,  // bytes of the tags
  parameter int unsigned Opens  = 1,  // 0: an OCB core has no inverse cipher
  parameter int unsigned Keep   = 0,  // 1: keys survive a reset
  parameter int unsigned Hold   = 0,  // most bytes of text in a packet; 0: no limit, not held back
  parameter int unsigned Number = 16,  // bits of a packet's number; 0: there are none
  localparam int unsigned SlotW = slot_bits(Slots),
  localparam int unsigned NumberW = Number > 0 ? Number : 1
) (
  input  logic                 clk,
  input  logic                 rst_n,
  input  logic                 s_axil_awvalid,
  output logic                 s_axil_awready,
  input  logic [AddressW-1:0]  s_axil_awaddr,
  input  logic                 s_axil_wvalid,
  output logic                 s_axil_wready,
  input  logic [31:0]          s_axil_wdata,
  input  logic [3:0]           s_axil_wstrb,
  output logic                 s_axil_bvalid,
  input  logic                 s_axil_bready,
  output logic [1:0]           s_axil_bresp,
  input  logic                 s_axil_arvalid,
  output logic                 s_axil_arready,
  input  logic [AddressW-1:0]  s_axil_araddr,
  output logic                 s_axil_rvalid,
  input  logic                 s_axil_rready,
  output logic [31:0]          s_axil_rdata,
  output logic [1:0]           s_axil_rresp,
  output logic                 irq,
  output logic [Slots-1:0]     slot_valid,
  output logic [Slots-1:0]     slot_busy,
  input  logic                 s_axis_command_tvalid,
  output logic                 s_axis_command_tready,
  input  logic [255:0]         s_axis_command_tdata,
  input  logic [SlotW+Number:0] s_axis_command_tuser,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [128*Lanes-1:0] s_axis_tdata,
  input  logic [16*Lanes-1:0]  s_axis_tkeep,
  input  logic                 s_axis_tlast,
  input  logic [NumberW-1:0]   s_axis_tuser,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [128*Lanes-1:0] m_axis_tdata,
  output logic [16*Lanes-1:0]  m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_verdict_tvalid,
  input  logic                 m_axis_verdict_tready,
  output logic [127:0]         m_axis_verdict_tdata,
  output logic [5:0]           m_axis_verdict_tuser
);

  logic key_valid, key_ready, event_valid;
  logic [255:0] key;
  logic [SlotW:0] key_user;
  logic [SlotW+1:0] event_user;

  sealwright_axil #(
    .Mode(Mode), .Cipher(Cipher), .Lanes(Lanes), .Slots(Slots), .Tag(Tag), .Opens(Opens),
    .Keep(Keep), .Hold(Hold), .Number(Number)
  ) u_registers (
    .clk, .rst_n, .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_wvalid, .s_axil_wready,
    .s_axil_wdata, .s_axil_wstrb, .s_axil_bvalid, .s_axil_bready, .s_axil_bresp, .s_axil_arvalid,
    .s_axil_arready, .s_axil_araddr, .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .irq, .m_axis_key_tvalid(key_valid), .m_axis_key_tready(key_ready), .m_axis_key_tdata(key),
    .m_axis_key_tuser(key_user), .s_axis_key_tvalid(event_valid), .s_axis_key_tuser(event_user),
    .slot_valid, .slot_busy, .verdict_taken(m_axis_verdict_tvalid && m_axis_verdict_tready),
    .verdict_status(m_axis_verdict_tuser[4:2])
  );

  sealwright_axis #(
    .Mode(Mode), .Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Depth(Depth),
    .Slots(Slots), .Tag(Tag), .Opens(Opens), .Keep(Keep), .Hold(Hold),
    .Number(Number)
  ) u_streams (
    .clk, .rst_n, .s_axis_key_tvalid(key_valid), .s_axis_key_tready(key_ready),
    .s_axis_key_tdata(key), .s_axis_key_tuser(key_user), .m_axis_key_tvalid(event_valid),
    .m_axis_key_tuser(event_user), .slot_valid, .slot_busy, .s_axis_command_tvalid,
    .s_axis_command_tready, .s_axis_command_tdata, .s_axis_command_tuser, .s_axis_tvalid,
    .s_axis_tready, .s_axis_tdata, .s_axis_tkeep, .s_axis_tlast, .s_axis_tuser, .m_axis_tvalid,
    .m_axis_tready, .m_axis_tdata, .m_axis_tkeep, .m_axis_tlast, .m_axis_verdict_tvalid,
    .m_axis_verdict_tready, .m_axis_verdict_tdata, .m_axis_verdict_tuser
  );

endmodule
