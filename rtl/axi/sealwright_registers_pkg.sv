// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Addresses and fields, generated from rtl/axi/registers.json by `python -m flow registers`.

package sealwright_registers_pkg;

  localparam int unsigned AddressW = 7;

  localparam logic [AddressW-1:0] IdAt = 'h0;
  localparam int unsigned IdVersion = 0;
  localparam logic [15:0] IdVersionValue = 'h3;
  localparam int unsigned IdMagic = 16;
  localparam logic [15:0] IdMagicValue = 'h5ea1;
  localparam logic [AddressW-1:0] ParametersAt = 'h4;
  localparam int unsigned ParametersMode = 0;
  localparam logic [0:0] ParametersModeGcm = 'h0;
  localparam logic [0:0] ParametersModeOcb = 'h1;
  localparam int unsigned ParametersCipher = 1;
  localparam logic [1:0] ParametersCipherAes128 = 'h0;
  localparam logic [1:0] ParametersCipherAes256 = 'h1;
  localparam logic [1:0] ParametersCipherSerpent256 = 'h2;
  localparam int unsigned ParametersLanes = 4;
  localparam int unsigned ParametersOpens = 7;
  localparam int unsigned ParametersSlots = 8;
  localparam logic [AddressW-1:0] KeyCommandAt = 'h8;
  localparam int unsigned KeyCommandSlot = 0;
  localparam int unsigned KeyCommandErase = 8;
  localparam logic [AddressW-1:0] KeyEventAt = 'hc;
  localparam logic [31:0] KeyEventReset = 'h8;
  localparam int unsigned KeyEventDone = 0;
  localparam int unsigned KeyEventStatus = 1;
  localparam logic [1:0] KeyEventStatusLoaded = 'h0;
  localparam logic [1:0] KeyEventStatusErased = 'h1;
  localparam logic [1:0] KeyEventStatusBusy = 'h2;
  localparam int unsigned KeyEventReady = 3;
  localparam int unsigned KeyEventSlot = 8;
  localparam logic [AddressW-1:0] InterruptAt = 'h10;
  localparam logic [31:0] InterruptReset = 'h0;
  localparam int unsigned InterruptEnable = 0;
  localparam logic [AddressW-1:0] StateAt = 'h14;
  localparam int unsigned StateValid = 0;
  localparam int unsigned StateBusy = 1;
  localparam logic [AddressW-1:0] SelectAt = 'h18;
  localparam logic [31:0] SelectReset = 'h0;
  localparam int unsigned SelectSlot = 0;
  localparam logic [AddressW-1:0] LimitsAt = 'h1c;
  localparam int unsigned LimitsTag = 0;
  localparam int unsigned LimitsKeep = 5;
  localparam int unsigned LimitsNumber = 8;
  localparam int unsigned LimitsHold = 16;
  localparam logic [AddressW-1:0] KeyAt = 'h20;
  localparam int unsigned KeyWord = 0;
  localparam logic [AddressW-1:0] VerdictsAt = 'h40;
  localparam logic [31:0] VerdictsReset = 'h0;
  localparam int unsigned VerdictsOk = 0;
  localparam int unsigned VerdictsForged = 1;
  localparam int unsigned VerdictsShort = 2;
  localparam int unsigned VerdictsLong = 3;
  localparam int unsigned VerdictsKeep = 4;
  localparam int unsigned VerdictsSlot = 5;
  localparam int unsigned VerdictsSize = 6;
  localparam int unsigned VerdictsSeals = 7;
  localparam int unsigned VerdictsCount = 0;

endpackage
