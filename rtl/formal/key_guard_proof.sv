// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The life of a key, for all orders of keys, erasures, commands and verdicts: a slot that is being
// loaded, erased or wiped holds no key; it comes to hold one only at the end of a loading, and
// loses it only to an order that goes on; a command is refused exactly if its slot holds none; an
// order goes on only if no packet of its slot is under way, by plain counts of commands and
// verdicts; an erased key is overwritten with zeros. Two slots. With Keep, resets leave the keys
// that they find.

module key_guard_proof
  import sealwright_pkg::*;
#(
  parameter bit Keep = 1'b0,
  localparam core_cfg_t Cfg = '{
    pipe: '{cipher: Aes128, sbox: SboxTable, cut: 0, lanes: 1, slots: 2, inverse: 1'b0},
    depth: 1, tag_bytes: 16, max_text: 100, opens: 1'b0, keep: Keep,
    numbered: 1'b0
  }
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            key_valid_i,
  input  logic            key_erase_i,
  input  logic            key_slot_i,
  input  logic [255:0]    key_i,
  input  logic            setup_ready_i,
  input  logic            command_i,
  input  logic            command_slot_i,
  input  logic            open_i,
  input  logic [LenW-1:0] text_len_i,
  input  logic            verdict_i,
  output logic            right_o
);

  // As many packets are under way as the queues hold, and a verdict is that of one of them.
  typedef logic [9:0] count_t;
  count_t all_q;
  logic command, verdict;
  assign command = command_i && all_q != count_t'(Flight);
  assign verdict = verdict_i && all_q != '0;

  logic key_ready, done_valid, done_slot, setup_valid, setup_slot, full;
  logic [1:0] slot_valid, slot_busy;
  logic [255:0] setup_key;
  key_status_e done_status;
  status_e status;
  key_guard #(.Cfg(Cfg)) u_guard (
    .clk_i, .rst_ni, .key_valid_i, .key_ready_o(key_ready), .key_erase_i, .key_slot_i, .key_i,
    .done_valid_o(done_valid), .done_slot_o(done_slot), .done_status_o(done_status),
    .slot_valid_o(slot_valid), .slot_busy_o(slot_busy), .setup_valid_o(setup_valid),
    .setup_ready_i, .setup_slot_o(setup_slot), .setup_key_o(setup_key), .command_i(command),
    .command_slot_i, .open_i, .text_len_i, .status_o(status), .full_o(full), .verdict_i(verdict)
  );

  // Beside it: the order that is carried out, from its acceptance to its end.
  logic begun_q, erases_q, slot_q, ready_q;
  logic [255:0] key_q;
  logic [1:0] valid_q = '0;
  logic runs_q = 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {begun_q, ready_q} <= '0;
    else begin
      begun_q <= key_valid_i && key_ready ? 1'b1 : begun_q && !key_ready;
      ready_q <= key_ready;
    end
  end
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni || Keep ? slot_valid : '0;
    runs_q  <= rst_ni;
  end
  always_ff @(posedge clk_i) begin
    if (key_valid_i && key_ready) {erases_q, slot_q, key_q} <= {key_erase_i, key_slot_i, key_i};
  end

  // And what a command must be answered, two cycles later.
  logic [1:0] comes_q;
  logic command_slot_q, opens_q, long_q;
  status_e wanted_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) comes_q <= '0;
    else comes_q <= {comes_q[0], command};
  end
  always_ff @(posedge clk_i) begin
    {command_slot_q, opens_q, long_q} <= {command_slot_i, open_i, text_len_i > LenW'(100)};
    wanted_q <= !slot_valid[command_slot_q] ? StatusSlot : opens_q ? StatusSeals
        : long_q ? StatusSize : StatusOk;
  end

  // Packets under way, by slot. Of which slot a verdict's packet is, the guard's queue says two
  // cycles later; it must be one with packets under way, or nothing is claimed from then on.
  logic [1:0] verdicts_q;
  logic wrong_q;
  logic [1:0] goes_q;
  count_t [1:0] under_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {all_q, under_q, verdicts_q, goes_q, wrong_q} <= '0;
    else begin
      all_q      <= all_q + count_t'(command) - count_t'(verdict);
      verdicts_q <= {verdicts_q[0], verdict};
      for (int s = 0; s < 2; s++) begin
        goes_q[s]  <= verdicts_q[1] && u_guard.verdict_slot == 1'(s);
        under_q[s] <= under_q[s] + count_t'(command && command_slot_i == 1'(s))
            - count_t'(verdicts_q[1] && u_guard.verdict_slot == 1'(s));
      end
      wrong_q <= wrong_q || (verdicts_q[1] && under_q[u_guard.verdict_slot] == '0);
    end
  end

  logic wiping, busy, orders, rises, falls, answers;
  assign wiping = !key_ready && !begun_q;  // after a reset
  // Setting a key up begins only for a slot that holds none; a key that goes there is the order's.
  assign orders = (!setup_valid || !slot_valid[setup_slot])
      && (!setup_valid || (wiping ? setup_key == '0
          : setup_slot == slot_q && setup_key == (erases_q ? '0 : key_q)))
      && (!wiping || slot_valid == '0);
  // A slot comes to hold a key only when the loading of one ends.
  assign rises = (slot_valid & ~valid_q) == '0
      || (key_ready && !ready_q && begun_q && !erases_q
          && (slot_valid & ~valid_q) == 2'(1 << slot_q));
  // It loses one only to an order that goes on.
  assign falls = (valid_q & ~slot_valid) == '0
      || (begun_q && !done_valid && (valid_q & ~slot_valid) == 2'(1 << slot_q));
  assign answers = !comes_q[1] || status == wanted_q;
  // What the guard itself keeps of the order.
  typedef enum logic [3:0] {
    Wipe, Wiping, Idle, Pause, Rest, Look, Check, Start, Wait
  } state_e;
  state_e state;
  assign state = state_e'(u_guard.state_q);
  always_comb begin
    busy = 1'b1;
    unique case (state)
      Wipe, Wiping: busy = !Keep && wiping && u_guard.key_q == '0 && u_guard.erase_q;
      Idle: busy = 1'b1;
      Pause, Rest, Look, Check, Start: busy = begun_q && u_guard.slot_q == slot_q
          && u_guard.erase_q == erases_q && u_guard.key_q == (erases_q ? '0 : key_q)
          && (state != Start || !slot_valid[slot_q]);
      Wait: busy = begun_q && u_guard.slot_q == slot_q && u_guard.erase_q == erases_q
          && !slot_valid[slot_q];
      default: busy = 1'b0;
    endcase
  end
  logic kept;
  assign kept = busy && u_guard.command_q == comes_q[0]
      && (!comes_q[0] || (u_guard.command_slot_q == command_slot_q && u_guard.cannot_q == opens_q
          && u_guard.too_long_q == long_q));
  // The guard's counts are the plain ones: of commands a cycle late, of verdicts a cycle later than
  // the queue says whose they are.
  logic counts;
  always_comb begin
    counts = u_guard.verdict_q == verdicts_q[1] && u_guard.verdict_q1 == verdicts_q[0]
        && under_q[0] + under_q[1] == all_q + count_t'(verdicts_q[0]) + count_t'(verdicts_q[1])
        && all_q <= count_t'(Flight) && under_q[0] <= count_t'(Flight + 2)
        && under_q[1] <= count_t'(Flight + 2);
    for (int s = 0; s < 2; s++) begin
      counts = counts && u_guard.goes_q[s] == goes_q[s]
          && count_t'(u_guard.count_q[s]) + count_t'(comes_q[0] && command_slot_q == 1'(s))
              == under_q[s] + count_t'(goes_q[s])
          && slot_busy[s] == (u_guard.count_q[s] != '0);
    end
  end
  // An order goes on only if no packet of its slot is under way.
  logic comes, free;
  assign comes = u_guard.command_q && u_guard.command_slot_q == u_guard.slot_q;
  assign free  = (!(state inside {Rest, Look, Check}) || u_guard.mine_q == comes)
      && (state != Check || u_guard.busy || under_q[slot_q] == '0);
  assign right_o = rst_ni ? wrong_q
      || (kept && orders && rises && falls && answers && counts && free)
      : runs_q || !Keep || slot_valid == valid_q;

endmodule
