// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Manages the key slots: which hold a key, which have packets under way, and so which key requests
// (load or erase) and which commands may proceed.
//
//   - A key is loaded or erased only while no packet of its slot is under way. Otherwise, or if
//     there is no such slot, the answer is KeyBusy, and the slot keeps its key.
//   - From the start of a load or erase to its end the slot holds no key. Packets for it are then
//     refused, as are packets for a slot that never had a key. Key requests and commands take
//     effect in the order in which they are accepted, with one exception: a command that is
//     accepted in the two cycles after a key request for its slot counts as before the request. The
//     answer to the request is then KeyBusy, and the key stays.
//   - Erasing loads the all-zero key, which overwrites every register and memory that holds the old
//     key or values derived from it, and leaves the slot without a key. After a reset every slot is
//     erased in this way, unless Cfg.keep is set.
//
// key_ready_o is low during a request; done_valid_o is high for one cycle at its end.

module key_guard
  import sealwright_pkg::*;
#(
  parameter core_cfg_t Cfg = CoreDefault,
  localparam int unsigned Slots = Cfg.pipe.slots,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             key_valid_i,
  output logic             key_ready_o,
  input  logic             key_erase_i,
  input  logic [SlotW-1:0] key_slot_i,
  input  logic [255:0]     key_i,
  output logic             done_valid_o,
  output logic [SlotW-1:0] done_slot_o,
  output key_status_e      done_status_o,
  output logic [Slots-1:0] slot_valid_o,
  output logic [Slots-1:0] slot_busy_o,
  // to key_setup
  output logic             setup_valid_o,
  input  logic             setup_ready_i,
  output logic [SlotW-1:0] setup_slot_o,
  output logic [255:0]     setup_key_o,
  // The core's port accepted a command one cycle ago. Two cycles later status_o is its packet's
  // status, unless its frame or its tag turns out wrong.
  input  logic             command_i,
  input  logic [SlotW-1:0] command_slot_i,
  input  logic             open_i,
  input  logic [LenW-1:0]  text_len_i,
  output status_e          status_o,
  output logic             full_o,    // the queues have no room for more packets
  input  logic             verdict_i  // a verdict is accepted at the core's port
);

  localparam int unsigned CountW = $clog2(Flight + 1);

  typedef enum logic [3:0] {
    Wipe, Wiping, Idle, Pause, Rest, Look, Check, Start, Wait
  } state_e;

  state_e state_q;
  logic erase_q;
  logic [SlotW-1:0] slot_q;
  logic [255:0] key_q;
  logic [Slots-1:0] valid_q;

  // With one slot its number still has one bit: 1 names no slot.
  logic no_slot_q, no_key_slot_q;  // in a command, in a key request
  if (Slots == 1) begin : gen_one
    always_ff @(posedge clk_i) begin
      no_slot_q <= command_slot_i != '0;
      if (state_q == Idle) no_key_slot_q <= key_slot_i != '0;
    end
  end else begin : gen_many
    assign {no_slot_q, no_key_slot_q} = '0;
  end

  // ---- packets under way, by slot ----
  logic command_q, unused_order, unused_order_full;
  logic [SlotW-1:0] command_slot_q, verdict_slot;
  logic [Slots-1:0][CountW-1:0] count_q;
  logic [Slots-1:0] some_q, comes, goes_q;  // some_q: count_q is not 0
  // The ports are far apart: verdicts are counted three cycles late, from registers that the tools
  // must not merge with others. A key request waits one cycle more than that.
  (* keep *) logic verdict_q1, verdict_q;
  logic [CountW-1:0] all_q;
  logic too_long_q, cannot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {command_q, verdict_q1, verdict_q} <= '0;
    else {command_q, verdict_q1, verdict_q} <= {command_i, verdict_i, verdict_q1};
  end
  // Verdicts come in the order of the commands.
  fifo_port #(.Cfg(queue(SlotW, Flight))) u_order (
    .clk_i, .rst_ni, .push_i(command_q), .data_i(command_slot_q), .near_full_o(unused_order_full),
    .valid_o(unused_order), .data_o(verdict_slot), .pop_i(verdict_q)
  );
  always_ff @(posedge clk_i) begin
    command_slot_q <= Slots > 1 ? command_slot_i : '0;
    too_long_q     <= Cfg.max_text != 0 && text_len_i > LenW'(Cfg.max_text);
    cannot_q       <= open_i && !Cfg.opens;
    status_o       <= StatusOk;
    if (too_long_q) status_o <= StatusSize;
    if (cannot_q) status_o <= StatusSeals;
    if (!valid_q[command_slot_q] || no_slot_q) status_o <= StatusSlot;
  end
  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    assign comes[s] = command_q && command_slot_q == SlotW'(s);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      goes_q  <= '0;
      some_q  <= '0;
      all_q   <= '0;
      full_o  <= 1'b0;
    end else begin
      for (int s = 0; s < Slots; s++) begin
        goes_q[s]  <= verdict_q && verdict_slot == SlotW'(s);
        count_q[s] <= count_q[s] + CountW'(comes[s]) - CountW'(goes_q[s]);
        some_q[s]  <= comes[s] || (some_q[s] && !(goes_q[s] && count_q[s] == CountW'(1)));
      end
      all_q  <= all_q + CountW'(command_q) - CountW'(verdict_q);
      full_o <= all_q >= CountW'(Flight - 8);
    end
  end

  // ---- keys ----
  // Packets of the slot were under way a cycle ago, or a command for it arrives. The registers are
  // valid in state Check, since slot_q is stable from Pause on.
  logic busy, mine_q, held_q;
  assign busy = held_q || mine_q || no_key_slot_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {mine_q, held_q} <= '0;
    else begin
      mine_q <= command_i && (Slots == 1 || command_slot_i == slot_q);
      held_q <= some_q[slot_q] || mine_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Cfg.keep ? Idle : Wipe;
      done_valid_o <= 1'b0;
    end else begin
      done_valid_o <= (state_q == Check && busy) || (state_q == Wait && setup_ready_i);
      unique case (state_q)
        Wipe:    if (setup_ready_i) state_q <= Wiping;
        Wiping:  if (setup_ready_i) state_q <= slot_q == SlotW'(Slots - 1) ? Idle : Wipe;
        Idle:    if (key_valid_i) state_q <= Pause;
        Pause:   state_q <= Rest;
        Rest:    state_q <= Look;
        Look:    state_q <= Check;
        Check:   state_q <= busy ? Idle : Start;
        Start:   if (setup_ready_i) state_q <= Wait;
        Wait:    if (setup_ready_i) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  // valid_q: slots that hold a key. A reset clears it, unless keys are to survive the reset; then
  // it has only an initial value.
  if (Cfg.keep) begin : gen_keep
    logic [Slots-1:0] kept_q = '0;  // no reset
    always_ff @(posedge clk_i) begin
      if (state_q == Check && !busy) kept_q[slot_q] <= 1'b0;
      if (state_q == Wait && setup_ready_i) kept_q[slot_q] <= !erase_q;
    end
    assign valid_q = kept_q;
  end else begin : gen_forget
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else begin
        if (state_q == Check && !busy) valid_q[slot_q] <= 1'b0;
        if (state_q == Wait && setup_ready_i) valid_q[slot_q] <= !erase_q;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q  <= '0;
      erase_q <= 1'b1;
      key_q   <= '0;
    end else if (state_q == Idle) begin
      slot_q  <= Slots > 1 ? key_slot_i : '0;
      erase_q <= key_erase_i;
      key_q   <= key_valid_i && !key_erase_i ? key_i : '0;
    end else if (state_q == Wiping && setup_ready_i) begin
      slot_q <= slot_q + SlotW'(1);
    end else if (state_q == Wait) begin
      key_q <= '0;
    end
  end
  always_ff @(posedge clk_i) begin
    done_slot_o   <= slot_q | SlotW'(no_key_slot_q);
    done_status_o <= state_q == Check ? KeyBusy : erase_q ? KeyErased : KeyLoaded;
  end

  assign key_ready_o   = state_q == Idle;
  assign setup_valid_o = state_q == Wipe || state_q == Start;
  assign setup_slot_o  = slot_q;
  assign setup_key_o   = key_q;
  assign slot_valid_o  = valid_q;
  assign slot_busy_o   = some_q;

endmodule
