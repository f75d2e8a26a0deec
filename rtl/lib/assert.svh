// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What must hold of parameters, and assertions for simulation.

`ifndef SEALWRIGHT_ASSERT_SVH
`define SEALWRIGHT_ASSERT_SVH

// Elaboration fails unless `condition_` holds of the parameters. Whoever compares what sources
// build leaves these out with SEALWRIGHT_UNGUARDED: they build nothing.
`ifdef SEALWRIGHT_UNGUARDED
`define SEALWRIGHT_REQUIRE(name_, condition_, message_)
`else
`define SEALWRIGHT_REQUIRE(name_, condition_, message_) \
  if (!(condition_)) begin : name_ \
    $fatal(1, message_); \
  end
`endif

// Assertions are used inside a module that has clk_i and rst_ni. Synthesis sees none of them.

// An error if `condition_` holds at a rising edge of the clock out of reset. `message_` says what
// then is wrong.
`ifdef SYNTHESIS
`define SEALWRIGHT_NEVER(name_, condition_, message_)
`define SEALWRIGHT_STABLE(name_, valid_, ready_, word_)
`else
`define SEALWRIGHT_NEVER(name_, condition_, message_) \
  always_ff @(posedge clk_i) begin \
    if (rst_ni) begin \
      name_: assert (!(condition_)) else $error("%m: %s", message_); \
    end \
  end

// An error if a word that is offered and not taken is withdrawn or changes.
`define SEALWRIGHT_STABLE(name_, valid_, ready_, word_) \
  logic name_``Waits; \
  logic [$bits(word_)-1:0] name_``Word; \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    if (!rst_ni) name_``Waits <= 1'b0; \
    else name_``Waits <= (valid_) && !(ready_); \
  end \
  always_ff @(posedge clk_i) name_``Word <= (word_); \
  `SEALWRIGHT_NEVER(name_, name_``Waits && !((valid_) && name_``Word == (word_)), \
      "an offer was withdrawn or changed")
`endif

`endif
