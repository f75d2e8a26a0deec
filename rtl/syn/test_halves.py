# SPDX-License-Identifier: MIT OR Apache-2.0
"""Both halves of the lanes of cipher_halves encrypt as AES does, under the key of their slot (`flow halves`)."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

LANES, SLOTS = int(os.environ["LANES"]), int(os.environ["SLOTS"])


def doubled(byte):
    """A byte times x, modulo AES's polynomial (FIPS 197, section 4.2)."""
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def sbox():
    """The S-box (FIPS 197, section 5.1.1): inverses by powers of 3 and of its inverse, then the affine map."""
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p ^= doubled(p)
        for shift in (1, 2, 4):
            q ^= q << shift & 0xFF
        q ^= 0x09 if q & 0x80 else 0
        box[p] = q ^ 0x63
        for turn in (1, 2, 3, 4):
            box[p] ^= (q << turn | q >> (8 - turn)) & 0xFF
        if p == 1:
            return box


BOX = sbox()


def schedule(key):
    """The round keys of AES-128 (FIPS 197, section 5.2)."""
    words, constant = [key[i:i + 4] for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        last = words[-1]
        if i % 4 == 0:
            last = bytes(BOX[byte] for byte in last[1:] + last[:1])
            last, constant = bytes([last[0] ^ constant]) + last[1:], doubled(constant)
        words.append(bytes(a ^ b for a, b in zip(words[-4], last, strict=True)))
    return [b"".join(words[i:i + 4]) for i in range(0, 44, 4)]


def encrypted(key, block):
    """A block under AES-128 (FIPS 197, section 5.1)."""
    first, *others = schedule(key)
    state = [a ^ b for a, b in zip(block, first, strict=True)]
    for number, round_key in enumerate(others, 1):
        state = [BOX[state[(5 * i) % 16]] for i in range(16)]  # SubBytes and ShiftRows
        if number < 10:
            columns = [state[i:i + 4] for i in range(0, 16, 4)]
            state = [doubled(c[i] ^ c[(i + 1) % 4]) ^ c[(i + 1) % 4] ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]
                     for c in columns for i in range(4)]
        state = [a ^ b for a, b in zip(state, round_key, strict=True)]
    return bytes(state)


def packed(blocks):
    """Blocks as the value of a port: byte 0 of block 0 in the lowest bits."""
    return int.from_bytes(b"".join(blocks), "little")


@cocotb.test()
async def reference(dut):  # noqa: ARG001
    """The reference above gives what FIPS 197 (appendix C.1) prints."""
    block = encrypted(bytes(range(16)), bytes(17 * i for i in range(16)))
    assert block.hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def blocks(dut):
    """Random blocks in all lanes, with gaps, under a key in each slot; keys of other slots are replaced meanwhile."""
    source, keys, wanted, right = random.Random(1), {}, [], 0
    cocotb.start_soon(Clock(dut.clk_i, 2, "ns").start())
    dut.rst_ni.value = dut.key_valid_i.value = dut.valid_i.value = 0
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1

    async def load(slot):
        key = source.randbytes(16)
        dut.key_slot_i.value, dut.key_i.value, dut.key_valid_i.value = slot, int.from_bytes(key, "little"), 1
        await RisingEdge(dut.clk_i)
        while not dut.key_ready_o.value:
            await RisingEdge(dut.clk_i)
        dut.key_valid_i.value = 0
        await RisingEdge(dut.clk_i)
        while not dut.key_ready_o.value:
            await RisingEdge(dut.clk_i)
        for _ in range(8):  # until its last round key is written
            await RisingEdge(dut.clk_i)
        keys[slot] = key

    async def watch():
        nonlocal right
        while True:
            await RisingEdge(dut.clk_i)
            if dut.valid_o.value == 1:
                assert int(dut.block_o.value) == wanted.pop(0)
                right += 1

    for slot in range(SLOTS):
        await load(slot)
    cocotb.start_soon(watch())
    for turn in range(20):
        replaced = turn % SLOTS
        loading = cocotb.start_soon(load(replaced))
        others = [slot for slot in range(SLOTS) if slot != replaced]
        while not loading.done():
            if source.random() < 0.8:
                slot, entered = source.choice(others), [source.randbytes(16) for _ in range(LANES)]
                dut.slot_i.value, dut.block_i.value, dut.valid_i.value = slot, packed(entered), 1
                wanted.append(packed([encrypted(keys[slot], block) for block in entered]))
            else:
                dut.valid_i.value = 0
            await RisingEdge(dut.clk_i)
        dut.valid_i.value = 0
        for _ in range(60):  # what is in the pipeline has the key that is replaced next
            await RisingEdge(dut.clk_i)
    assert right > 500 and not wanted, f"{right} right, {len(wanted)} missing"
