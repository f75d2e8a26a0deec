//! What the levels with vector registers have in common, apart from the instructions.

/// Bitwise operators of a register type, each one intrinsic.
macro_rules! operators {
    ($reg:ident: $($trait:ident $method:ident $intrinsic:ident),*) => {
        $(
            impl core::ops::$trait for $reg {
                type Output = $reg;
                #[inline(always)]
                fn $method(self, other: $reg) -> $reg {
                    // SAFETY: a register proves the level.
                    $reg(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        )*
    };
}

/// Register methods that are one expression of intrinsics.
macro_rules! methods {
    ($reg:ident: $($name:ident($self:ident $(, $other:ident)?) = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name($self $(, $other: $reg)?) -> $reg {
                // SAFETY: a register proves the level.
                $reg(unsafe { $body })
            }
        )*
    };
}

/// Register methods with an immediate operand.
macro_rules! immediates {
    ($reg:ident: $($name:ident<$n:ident>($self:ident $(, $other:ident)?) = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name<const $n: i32>($self $(, $other: $reg)?) -> $reg {
                // SAFETY: a register proves the level.
                $reg(unsafe { $body })
            }
        )*
    };
}

/// `load`, `store` and `first_block` of a register of `$bytes` bytes.
macro_rules! load {
    ($reg:ident, $bytes:literal, $intrinsic:ident) => {
        #[inline(always)]
        fn load(self, bytes: &[u8]) -> $reg {
            assert!(bytes.len() >= $bytes);
            // SAFETY: the bytes are there; the token proves the level.
            $reg(unsafe { $intrinsic(bytes.as_ptr().cast()) })
        }
    };
}
macro_rules! store {
    ($bytes:literal, $intrinsic:ident) => {
        #[inline(always)]
        fn store(self, bytes: &mut [u8]) {
            assert!(bytes.len() >= $bytes);
            // SAFETY: the bytes are there; a register proves the level.
            unsafe { $intrinsic(bytes.as_mut_ptr().cast(), self.0) }
        }
    };
}

/// `order_barrier` of a level: an empty `asm` statement with the registers as operands.
#[cfg(target_arch = "x86_64")]
macro_rules! order_barrier {
    ($reg:ident, $class:ident, $features:literal) => {
        #[inline(always)]
        fn order_barrier(self, [a, b]: [&mut $reg; 2], [c, d, e]: [&mut $reg; 3]) {
            // Not `inline(always)`, which cannot be combined with target features; small enough to be inlined where
            // these are enabled.
            #[inline]
            #[target_feature(enable = $features)]
            fn tied(a: &mut $reg, b: &mut $reg, c: &mut $reg, d: &mut $reg, e: &mut $reg) {
                // SAFETY: the `asm` contains no instruction.
                unsafe {
                    core::arch::asm!(
                        "/* {} {} {} {} {} */",
                        inout($class) a.0, inout($class) b.0, inout($class) c.0, inout($class) d.0, inout($class) e.0,
                        options(nomem, nostack, preserves_flags)
                    );
                }
            }
            // SAFETY: the token proves the level.
            unsafe { tied(a, b, c, d, e) }
        }
    };
}

/// `rotate32` of a level that has no instruction for it.
#[cfg(target_arch = "x86_64")]
macro_rules! rotate32 {
    ($reg:ident, $vector:ident, $class:ident, $features:literal, $down:ident) => {
        #[inline(always)]
        fn rotate32<const N: i32>(self) -> $reg {
            /// The same value, opaque to the compiler.
            #[inline]
            #[target_feature(enable = $features)]
            fn opaque(mut value: $vector) -> $vector {
                // SAFETY: the `asm` contains no instruction.
                unsafe {
                    core::arch::asm!("/* {} */", inout($class) value, options(pure, nomem, nostack, preserves_flags));
                }
                value
            }
            // Compilers make one shuffle of a rotation by whole bytes, but two of a rotated xor, of its operands.
            // SAFETY: a register proves the level.
            let value = if N % 8 == 0 { unsafe { opaque(self.0) } } else { self.0 };
            // SAFETY: likewise.
            let down = unsafe { $down(value, _mm_cvtsi32_si128(32 - N)) };
            $reg(value).shift32::<N>() | $reg(down)
        }
    };
}

/// Methods of a token whose register holds one block; `run` and `outlined` precede it.
macro_rules! one_block_token {
    ($reg:ident) => {
        #[inline(always)]
        fn outlined<P: Outlined<Self>>(self, part: P) -> P::Output {
            // SAFETY: the token proves the level.
            unsafe { outlined(self, part) }
        }
        #[inline(always)]
        fn load_partial(self, bytes: &[u8]) -> $reg {
            if bytes.len() >= 16 {
                return self.load(bytes);
            }
            self.load(&few::number(bytes).to_le_bytes())
        }
        #[inline(always)]
        fn splat(self, block: &Block) -> $reg {
            self.load(block)
        }
        #[inline(always)]
        fn gather<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> $reg {
            self.load(&frames[0][row])
        }
        #[inline(always)]
        fn first(self, block: &Block) -> $reg {
            self.load(block)
        }
        #[inline(always)]
        fn lane_numbers(self) -> $reg {
            self.zero()
        }
    };
}

/// Memory and lane operations of a register of one block.
macro_rules! one_block_register {
    ($token:ident, $reg:ident) => {
        const BLOCKS: usize = 1;

        #[inline(always)]
        fn store_partial(self, bytes: &mut [u8]) {
            if bytes.len() >= 16 {
                return self.store(bytes);
            }
            few::write(u128::from_le_bytes(self.first_block()), bytes);
        }
        #[inline(always)]
        fn keep(self, bytes: usize) -> $reg {
            self & $token(()).load(&few::KEEP[32 - bytes.min(16)..])
        }
        #[inline(always)]
        fn scatter<const ROWS: usize>(self, frames: &mut [&mut [Block; ROWS]], row: usize) {
            self.store(&mut frames[0][row]);
        }
        #[inline(always)]
        fn first_block(self) -> Block {
            let mut block = [0; 16];
            self.store(&mut block);
            block
        }
        #[inline(always)]
        fn fold(self) -> $reg {
            self
        }
        #[inline(always)]
        fn replace_last(self, other: $reg) -> $reg {
            other
        }
        #[inline(always)]
        fn last_lane(self) -> $reg {
            self
        }
        #[inline(always)]
        fn replace_lane(self, lane: usize, other: $reg) -> $reg {
            if lane == 0 { other } else { self }
        }
    };
}
