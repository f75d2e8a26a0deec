/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Keys and counters of a core, for a processor. Packets keep their streams. Made from rtl/axi/registers.json
   by python -m flow registers. */
#ifndef SEALWRIGHT_REGISTERS_H
#define SEALWRIGHT_REGISTERS_H

/* To load a key: (1) Read KEY_EVENT until READY is 1. (2) Write the key to KEY: four words for AES-128, eight
   for the other ciphers (PARAMETERS.CIPHER). (3) Write KEY_COMMAND with the slot, and ERASE 0. Once the core
   takes the command the slot holds no key, unless it is busy. Send no packet of the slot until the end. (4)
   Wait for irq, or read KEY_EVENT until DONE is 1. READY is then 1 too, and SLOT the slot of the command. (5)
   Look at STATUS. LOADED: commands for the slot can be sent. BUSY: the slot has the key that it had, and the
   words of the new one are cleared; wait until STATE.BUSY of the slot is 0 and begin again. (6) Write a 1 to
   KEY_EVENT.DONE. */

/* To erase a key: (1) Read KEY_EVENT until READY is 1. (2) Write KEY_COMMAND with the slot, and ERASE 1. No
   word of KEY is needed, and those that were written are cleared. Send no packet of the slot until the end.
   (3) Wait as above. STATUS is ERASED, or BUSY if packets of the slot are under way. (4) Write a 1 to
   KEY_EVENT.DONE. */

/* ro: what this is, and the version of this map */
#define SEALWRIGHT_ID 0x00u
#define SEALWRIGHT_ID_VERSION_SHIFT 0u
#define SEALWRIGHT_ID_VERSION_MASK 0x0000ffffu
#define SEALWRIGHT_ID_VERSION_VALUE 0x2u
#define SEALWRIGHT_ID_MAGIC_SHIFT 16u
#define SEALWRIGHT_ID_MAGIC_MASK 0xffff0000u
#define SEALWRIGHT_ID_MAGIC_VALUE 0x5ea1u

/* ro: what the core was built with */
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

/* wo: loads the words of KEY into a slot, or erases the slot; clears KEY_EVENT.DONE and READY, and the words
   when the core takes the command. SLVERR, and nothing changes: another is under way, there is no such slot,
   or a key is to be loaded of which a word was not written since the last command */
#define SEALWRIGHT_KEY_COMMAND 0x08u
#define SEALWRIGHT_KEY_COMMAND_SLOT_SHIFT 0u
#define SEALWRIGHT_KEY_COMMAND_SLOT_MASK 0x000000ffu
#define SEALWRIGHT_KEY_COMMAND_ERASE_SHIFT 8u
#define SEALWRIGHT_KEY_COMMAND_ERASE_MASK 0x00000100u

/* w1c: the end of a command. Writing a 1 to DONE clears it and the interrupt, and so does the next
   KEY_COMMAND that is taken; the other fields stay */
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

/* rw: irq is 1 while ENABLE and KEY_EVENT.DONE are */
#define SEALWRIGHT_INTERRUPT 0x10u
#define SEALWRIGHT_INTERRUPT_RESET 0x00000000u
#define SEALWRIGHT_INTERRUPT_ENABLE_SHIFT 0u
#define SEALWRIGHT_INTERRUPT_ENABLE_MASK 0x00000001u

/* ro: of the slot that SELECT names; of one that is not there, zero */
#define SEALWRIGHT_STATE 0x14u
#define SEALWRIGHT_STATE_VALID_SHIFT 0u
#define SEALWRIGHT_STATE_VALID_MASK 0x00000001u
#define SEALWRIGHT_STATE_BUSY_SHIFT 1u
#define SEALWRIGHT_STATE_BUSY_MASK 0x00000002u

/* rw: the slot of STATE */
#define SEALWRIGHT_SELECT 0x18u
#define SEALWRIGHT_SELECT_RESET 0x00000000u
#define SEALWRIGHT_SELECT_SLOT_SHIFT 0u
#define SEALWRIGHT_SELECT_SLOT_MASK 0x000000ffu

/* ro: more of what the core was built with */
#define SEALWRIGHT_LIMITS 0x1cu
#define SEALWRIGHT_LIMITS_TAG_SHIFT 0u
#define SEALWRIGHT_LIMITS_TAG_MASK 0x0000001fu
#define SEALWRIGHT_LIMITS_KEEP_SHIFT 5u
#define SEALWRIGHT_LIMITS_KEEP_MASK 0x00000020u
#define SEALWRIGHT_LIMITS_HOLD_SHIFT 16u
#define SEALWRIGHT_LIMITS_HOLD_MASK 0xffff0000u

/* wo: four bytes of the key, the first in the lowest bits; AES-128 needs the first four words, the other
   ciphers all. SLVERR: the key before waits for the core */
#define SEALWRIGHT_KEY(n) (0x20u + 4u * (n)) /* n below 8 */
#define SEALWRIGHT_KEY_WORD_SHIFT 0u
#define SEALWRIGHT_KEY_WORD_MASK 0xffffffffu

/* ro: packets whose verdict had the status of this number, modulo 2^32 */
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
