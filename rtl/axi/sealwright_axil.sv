// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AXI4-Lite registers for a core's key port and its state (axi/registers.json, docs/REGISTERS.md).
// There is no combinational path from an input to an output (IHI 0022, A3.1). Address and data of a
// write are accepted independently; the write happens when both are there. Refused with SLVERR:
// writes of less than four bytes, accesses to addresses without a register, a command while another
// is under way or for a slot that does not exist, words of a key while the previous command waits
// for the core, and loading a key if one of its words was not written since the last command.

`include "assert.svh"

module sealwright_axil
  import sealwright_pkg::*;
  import sealwright_registers_pkg::*;
#(
  parameter int unsigned Mode   = 0,  // the core's parameters
  parameter int unsigned Cipher = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Slots  = 4,
  parameter int unsigned Tag    = 16,
  parameter int unsigned Opens  = 1,
  parameter int unsigned Keep   = 0,
  parameter int unsigned Hold   = 0,
  parameter int unsigned Number = 16,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic                clk,
  input  logic                rst_n,
  input  logic                s_axil_awvalid,
  output logic                s_axil_awready,
  input  logic [AddressW-1:0] s_axil_awaddr,
  input  logic                s_axil_wvalid,
  output logic                s_axil_wready,
  input  logic [31:0]         s_axil_wdata,
  input  logic [3:0]          s_axil_wstrb,
  output logic                s_axil_bvalid,
  input  logic                s_axil_bready,
  output logic [1:0]          s_axil_bresp,
  input  logic                s_axil_arvalid,
  output logic                s_axil_arready,
  input  logic [AddressW-1:0] s_axil_araddr,
  output logic                s_axil_rvalid,
  input  logic                s_axil_rready,
  output logic [31:0]         s_axil_rdata,
  output logic [1:0]          s_axil_rresp,
  output logic                irq,
  // to sealwright_axis
  output logic                m_axis_key_tvalid,
  input  logic                m_axis_key_tready,
  output logic [255:0]        m_axis_key_tdata,
  output logic [SlotW:0]      m_axis_key_tuser,
  input  logic                s_axis_key_tvalid,
  input  logic [SlotW+1:0]    s_axis_key_tuser,
  input  logic [Slots-1:0]    slot_valid,
  input  logic [Slots-1:0]    slot_busy,
  // its verdicts, as they are accepted
  input  logic                verdict_taken,
  input  logic [2:0]          verdict_status
);

  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;
  localparam logic [7:0] KeyWords = Cipher == 32'(Aes128) ? 8'h0f : 8'hff;  // words of a key

  // The checks of sealwright_axis: other values would not fit in PARAMETERS and LIMITS.
  `SEALWRIGHT_REQUIRE(gen_bad_mode, Mode <= 32'(ModeOcb), "Mode must be 0 (GCM) or 1 (OCB)")
  `SEALWRIGHT_REQUIRE(gen_bad_cipher, Cipher <= 32'(Serpent256),
      "Cipher must be 0 (AES-128), 1 (AES-256) or 2 (Serpent-256)")
  `SEALWRIGHT_REQUIRE(gen_bad_lanes, Lanes == 1 || Lanes == 2 || Lanes == 4,
      "Lanes must be 1, 2 or 4")
  `SEALWRIGHT_REQUIRE(gen_bad_tag, Mode == 32'(ModeOcb) || Tag == 4 || Tag == 8
      || (Tag >= 12 && Tag <= 16), "Tag must be 4, 8 or 12 to 16 bytes in GCM")
  `SEALWRIGHT_REQUIRE(gen_bad_ocb_tag, Mode != 32'(ModeOcb) || Tag == 8 || Tag == 12 || Tag == 16,
      "Tag must be 8, 12 or 16 bytes in OCB")
  `SEALWRIGHT_REQUIRE(gen_bad_flag, Opens <= 1 && Keep <= 1, "Opens and Keep must be 0 or 1")
  `SEALWRIGHT_REQUIRE(gen_bad_hold, Hold <= 65535, "Hold must be at most 65535 bytes")
  `SEALWRIGHT_REQUIRE(gen_bad_number, Number == 0 || (Number > $clog2(Flight) && Number <= 16),
      "Number must be 0, or 9 to 16 bits")
  `SEALWRIGHT_REQUIRE(gen_bad_slots, Slots >= 1 && Slots <= 256 && (Slots & (Slots - 1)) == 0,
      "Slots must be a power of two up to 256")

  logic [7:0][31:0] key_q, verdicts_q;
  logic [7:0] written_q;  // words of key_q that were written
  logic [7:0] select_q, event_slot_q;
  logic [SlotW-1:0] slot_q;
  logic erase_q, starts_q, under_way_q, done_q, enable_q;
  logic [1:0] status_q;

  // ---- writes ----
  // Address and data wait for each other, and for the previous write response to be accepted.
  logic to_held_q, data_held_q;
  logic [AddressW-1:0] to_q;
  logic [31:0] data_q;
  logic [3:0] strobe_q;
  logic write, takes, to_key, commands, loads;
  logic [AddressW-1:0] to;
  assign s_axil_awready = !to_held_q;
  assign s_axil_wready  = !data_held_q;
  assign write          = to_held_q && data_held_q && !s_axil_bvalid;
  assign to             = {to_q[AddressW-1:2], 2'b0};
  assign to_key         = to >= KeyAt && to < KeyAt + 32 && !starts_q;
  assign loads          = (written_q & KeyWords) == KeyWords || data_q[KeyCommandErase];
  assign commands       = to == KeyCommandAt && !under_way_q && loads
      && 9'(data_q[KeyCommandSlot+:8]) < 9'(Slots);
  assign takes          = write && strobe_q == '1
      && (to inside {KeyEventAt, InterruptAt, SelectAt} || to_key || commands);

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      {to_held_q, data_held_q, to_q, data_q, strobe_q} <= '0;
    end else begin
      if (write) {to_held_q, data_held_q, data_q} <= '0;  // data_q may hold a word of a key
      if (s_axil_awvalid && s_axil_awready) begin
        to_held_q <= 1'b1;
        to_q      <= s_axil_awaddr;
      end
      if (s_axil_wvalid && s_axil_wready) begin
        data_held_q        <= 1'b1;
        {data_q, strobe_q} <= {s_axil_wdata, s_axil_wstrb};
      end
    end
  end

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      {s_axil_bvalid, starts_q, under_way_q, done_q, enable_q, erase_q} <= '0;
      {slot_q, select_q, event_slot_q, status_q} <= '0;
      {key_q, written_q} <= '0;
      s_axil_bresp       <= Okay;
    end else begin
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (m_axis_key_tready && starts_q) begin
        starts_q           <= 1'b0;
        {key_q, written_q} <= '0;
      end
      if (write) begin
        s_axil_bvalid <= 1'b1;
        s_axil_bresp  <= takes ? Okay : SlaveError;
      end
      if (takes) begin
        if (to_key) begin
          key_q[to[4:2]]     <= data_q;
          written_q[to[4:2]] <= 1'b1;
        end
        if (commands) begin
          {starts_q, under_way_q, done_q} <= 3'b110;
          slot_q  <= data_q[KeyCommandSlot+:SlotW];
          erase_q <= data_q[KeyCommandErase];
        end
        if (to == KeyEventAt && data_q[KeyEventDone]) done_q <= 1'b0;
        if (to == InterruptAt) enable_q <= data_q[InterruptEnable];
        if (to == SelectAt) select_q <= data_q[SelectSlot+:8];
      end
      // A new event is not lost if software clears the previous one in the same cycle.
      if (s_axis_key_tvalid) begin
        under_way_q  <= 1'b0;
        done_q       <= 1'b1;
        status_q     <= s_axis_key_tuser[SlotW+1:SlotW];
        event_slot_q <= 8'(s_axis_key_tuser[SlotW-1:0]);
      end
    end
  end
  assign irq               = done_q && enable_q;
  assign m_axis_key_tvalid = starts_q;
  assign m_axis_key_tdata  = key_q;
  assign m_axis_key_tuser  = {erase_q, slot_q};

  logic unused_bytes;
  assign unused_bytes = ^{to_q[1:0], s_axil_araddr[1:0]};

  // ---- reads ----
  logic read;
  logic [AddressW-1:0] from;
  logic [255:0] valid, busy;
  assign s_axil_arready = !s_axil_rvalid;
  assign read           = s_axil_arvalid && s_axil_arready;
  assign from           = {s_axil_araddr[AddressW-1:2], 2'b0};
  assign valid          = 256'(slot_valid);
  assign busy           = 256'(slot_busy);

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      s_axil_rvalid <= 1'b0;
      s_axil_rresp  <= Okay;
      s_axil_rdata  <= '0;
    end else if (read) begin
      s_axil_rvalid <= 1'b1;
      s_axil_rresp  <= Okay;
      s_axil_rdata  <= '0;
      if (from == IdAt) s_axil_rdata <= {IdMagicValue, IdVersionValue};
      else if (from == ParametersAt) begin
        s_axil_rdata[ParametersMode]       <= 1'(Mode);
        s_axil_rdata[ParametersCipher+:2]  <= 2'(Cipher);
        s_axil_rdata[ParametersLanes+:3]   <= 3'(Lanes);
        s_axil_rdata[ParametersOpens]      <= Mode == 32'(ModeGcm) || Opens != 0;
        s_axil_rdata[ParametersSlots+:9]   <= 9'(Slots);
      end else if (from == LimitsAt) begin
        s_axil_rdata[LimitsTag+:5]    <= 5'(Tag);
        s_axil_rdata[LimitsKeep]      <= 1'(Keep);
        s_axil_rdata[LimitsNumber+:5] <= 5'(Number);
        s_axil_rdata[LimitsHold+:16]  <= 16'(Hold);
      end else if (from == KeyEventAt) begin
        s_axil_rdata[KeyEventDone]      <= done_q;
        s_axil_rdata[KeyEventStatus+:2] <= status_q;
        s_axil_rdata[KeyEventReady]     <= !under_way_q;
        s_axil_rdata[KeyEventSlot+:8]   <= event_slot_q;
      end else if (from == InterruptAt) s_axil_rdata[InterruptEnable] <= enable_q;
      else if (from == SelectAt) s_axil_rdata[SelectSlot+:8] <= select_q;
      else if (from == StateAt) begin
        s_axil_rdata[StateValid] <= valid[select_q];
        s_axil_rdata[StateBusy]  <= busy[select_q];
      end else if (from >= VerdictsAt && from < VerdictsAt + 32)
        s_axil_rdata <= verdicts_q[from[4:2]];
      else s_axil_rresp <= SlaveError;
    end else if (s_axil_rready) begin
      s_axil_rvalid <= 1'b0;
    end
  end

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) verdicts_q <= '0;
    else if (verdict_taken) verdicts_q[verdict_status] <= verdicts_q[verdict_status] + 32'd1;
  end

endmodule
