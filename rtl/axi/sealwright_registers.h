/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The registers of a core, for a processor: keys, the state of the slots, and packet counts. Packets
   themselves use AXI4-Streams. Generated from rtl/axi/registers.json by python -m flow registers. */
#ifndef SEALWRIGHT_REGISTERS_H
#define SEALWRIGHT_REGISTERS_H

/* To load a key: (1) Read KEY_EVENT until READY is 1. (2) Write the key to KEY: four words for AES-128, eight
   for the other ciphers (PARAMETERS.CIPHER). (3) Write KEY_COMMAND with the slot and ERASE = 0. Once the core
   accepts the command the slot holds no key, unless it is busy. Send no packet of the slot until the command
   has ended. (4) Wait for irq, or read KEY_EVENT until DONE is 1. READY is then 1, too, and SLOT is the slot
   of the command. (5) Check STATUS. LOADED: packets of the slot can be sent. BUSY: the slot keeps its old
   key, and the new one is cleared from KEY; wait until STATE.BUSY of the slot is 0, and begin again. (6)
   Write a 1 to KEY_EVENT.DONE. */

/* To erase a key: (1) Read KEY_EVENT until READY is 1. (2) Write KEY_COMMAND with the slot and ERASE = 1. KEY
   need not be written; words that were written are cleared. Send no packet of the slot until the command has
   ended. (3) Wait as for a load. STATUS is ERASED, or BUSY if packets of the slot are under way. (4) Write a
   1 to KEY_EVENT.DONE. */

/* ro: identifies the core, and the version of this register map */
#define SEALWRIGHT_ID 0x00u
#define SEALWRIGHT_ID_VERSION_SHIFT 0u
#define SEALWRIGHT_ID_VERSION_MASK 0x0000ffffu
#define SEALWRIGHT_ID_VERSION_VALUE 0x3u
#define SEALWRIGHT_ID_MAGIC_SHIFT 16u
#define SEALWRIGHT_ID_MAGIC_MASK 0xffff0000u
#define SEALWRIGHT_ID_MAGIC_VALUE 0x5ea1u

/* ro: parameters with which the core was built */
#define SEALWRIGHT_PARAMETERS 0x04u
#define SEALWRIGHT_PARAMETERS_MODE_SHIFT 0u
#define SEALWRIGHT_PARAMETERS_MODE_MASK 0x00000001u
#define SEALWRIGHT_PARAMETERS_MODE_GCM 0u
#define SEALWRIGHT_PARAMETERS_MODE_OCB 1u
#define SEALWRIGHT_PARAMETERS_CIPHER_SHIFT 1u
#define SEALWRIGHT_PARAMETERS_CIPHER_MASK 0x00000006u
#define SEALWRIGHT_PARAMETERS_CIPHER_AES128 0u
#define SEALWRIGHT_PARAMETERS_CIPHER_AES256 1u
#define SEALWRIGHT_PARAMETERS_CIPHER_SERPENT256 2u
#define SEALWRIGHT_PARAMETERS_LANES_SHIFT 4u
#define SEALWRIGHT_PARAMETERS_LANES_MASK 0x00000070u
#define SEALWRIGHT_PARAMETERS_OPENS_SHIFT 7u
#define SEALWRIGHT_PARAMETERS_OPENS_MASK 0x00000080u
#define SEALWRIGHT_PARAMETERS_SLOTS_SHIFT 8u
#define SEALWRIGHT_PARAMETERS_SLOTS_MASK 0x0001ff00u

/* wo: loads the key in KEY into a slot, or erases the slot. The write clears KEY_EVENT.DONE and
   KEY_EVENT.READY; KEY is cleared when the core accepts the command. SLVERR, without effect, if another
   command is under way, if there is no such slot, or if a word of the key to load was not written since the
   last command */
#define SEALWRIGHT_KEY_COMMAND 0x08u
#define SEALWRIGHT_KEY_COMMAND_SLOT_SHIFT 0u
#define SEALWRIGHT_KEY_COMMAND_SLOT_MASK 0x000000ffu
#define SEALWRIGHT_KEY_COMMAND_ERASE_SHIFT 8u
#define SEALWRIGHT_KEY_COMMAND_ERASE_MASK 0x00000100u

/* w1c: result of the last command. Writing 1 to DONE clears it and the interrupt, and so does the next
   accepted KEY_COMMAND; STATUS and SLOT keep their values until a command ends */
#define SEALWRIGHT_KEY_EVENT 0x0cu
#define SEALWRIGHT_KEY_EVENT_RESET 0x00000008u
#define SEALWRIGHT_KEY_EVENT_DONE_SHIFT 0u
#define SEALWRIGHT_KEY_EVENT_DONE_MASK 0x00000001u
#define SEALWRIGHT_KEY_EVENT_STATUS_SHIFT 1u
#define SEALWRIGHT_KEY_EVENT_STATUS_MASK 0x00000006u
#define SEALWRIGHT_KEY_EVENT_STATUS_LOADED 0u
#define SEALWRIGHT_KEY_EVENT_STATUS_ERASED 1u
#define SEALWRIGHT_KEY_EVENT_STATUS_BUSY 2u
#define SEALWRIGHT_KEY_EVENT_READY_SHIFT 3u
#define SEALWRIGHT_KEY_EVENT_READY_MASK 0x00000008u
#define SEALWRIGHT_KEY_EVENT_SLOT_SHIFT 8u
#define SEALWRIGHT_KEY_EVENT_SLOT_MASK 0x0000ff00u

/* rw: irq is 1 while both ENABLE and KEY_EVENT.DONE are 1 */
#define SEALWRIGHT_INTERRUPT 0x10u
#define SEALWRIGHT_INTERRUPT_RESET 0x00000000u
#define SEALWRIGHT_INTERRUPT_ENABLE_SHIFT 0u
#define SEALWRIGHT_INTERRUPT_ENABLE_MASK 0x00000001u

/* ro: state of the slot in SELECT; 0 if there is no such slot */
#define SEALWRIGHT_STATE 0x14u
#define SEALWRIGHT_STATE_VALID_SHIFT 0u
#define SEALWRIGHT_STATE_VALID_MASK 0x00000001u
#define SEALWRIGHT_STATE_BUSY_SHIFT 1u
#define SEALWRIGHT_STATE_BUSY_MASK 0x00000002u

/* rw: the slot whose state STATE shows */
#define SEALWRIGHT_SELECT 0x18u
#define SEALWRIGHT_SELECT_RESET 0x00000000u
#define SEALWRIGHT_SELECT_SLOT_SHIFT 0u
#define SEALWRIGHT_SELECT_SLOT_MASK 0x000000ffu

/* ro: more parameters with which the core was built */
#define SEALWRIGHT_LIMITS 0x1cu
#define SEALWRIGHT_LIMITS_TAG_SHIFT 0u
#define SEALWRIGHT_LIMITS_TAG_MASK 0x0000001fu
#define SEALWRIGHT_LIMITS_KEEP_SHIFT 5u
#define SEALWRIGHT_LIMITS_KEEP_MASK 0x00000020u
#define SEALWRIGHT_LIMITS_NUMBER_SHIFT 8u
#define SEALWRIGHT_LIMITS_NUMBER_MASK 0x00001f00u
#define SEALWRIGHT_LIMITS_HOLD_SHIFT 16u
#define SEALWRIGHT_LIMITS_HOLD_MASK 0xffff0000u

/* wo: four bytes of the key, the first in the lowest bits; AES-128 uses the first four words, the other
   ciphers all eight. SLVERR while the previous command waits for the core */
#define SEALWRIGHT_KEY(n) (0x20u + 4u * (n)) /* n below 8 */
#define SEALWRIGHT_KEY_WORD_SHIFT 0u
#define SEALWRIGHT_KEY_WORD_MASK 0xffffffffu

/* ro: number of packets whose status was the index of this register, modulo 2^32 */
#define SEALWRIGHT_VERDICTS(n) (0x40u + 4u * (n)) /* n below 8 */
#define SEALWRIGHT_VERDICTS_RESET 0x00000000u
#define SEALWRIGHT_VERDICTS_OK 0u
#define SEALWRIGHT_VERDICTS_FORGED 1u
#define SEALWRIGHT_VERDICTS_SHORT 2u
#define SEALWRIGHT_VERDICTS_LONG 3u
#define SEALWRIGHT_VERDICTS_KEEP 4u
#define SEALWRIGHT_VERDICTS_SLOT 5u
#define SEALWRIGHT_VERDICTS_SIZE 6u
#define SEALWRIGHT_VERDICTS_SEALS 7u
#define SEALWRIGHT_VERDICTS_COUNT_SHIFT 0u
#define SEALWRIGHT_VERDICTS_COUNT_MASK 0xffffffffu

#endif /* SEALWRIGHT_REGISTERS_H */
