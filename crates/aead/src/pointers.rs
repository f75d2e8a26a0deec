//! [`Aead`] for references, boxes and [`Arc`]s: code that takes an [`Aead`] of any type also accepts one that is chosen
//! at run time, or shared.

use alloc::{boxed::Box, vec::Vec};

use crate::{
    aead::Aead,
    error::{OpenError, SealError},
    sealed::Sealed,
    tag::Tag,
};

/// Every method is forwarded, because modes override the trait's defaults with faster ones.
macro_rules! forward {
    ($pointer:ty) => {
        impl<A: Aead + ?Sized> Sealed for $pointer {}
        impl<A: Aead + ?Sized> Aead for $pointer {
            #[inline]
            fn tag_len(&self) -> usize {
                (**self).tag_len()
            }

            #[inline]
            fn nonce_len(&self) -> usize {
                (**self).nonce_len()
            }

            #[inline]
            fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
                (**self).seal_in_place(nonce, ad, text)
            }

            #[inline]
            fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
                (**self).open_in_place(nonce, ad, text, tag)
            }

            #[inline]
            fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
                (**self).seal_message(nonce, ad, message)
            }

            #[inline]
            fn open_message<'m>(
                &self,
                nonce: &[u8],
                ad: &[u8],
                message: &'m mut [u8],
            ) -> Result<&'m mut [u8], OpenError> {
                (**self).open_message(nonce, ad, message)
            }

            #[inline]
            fn seal_vec(&self, nonce: &[u8], ad: &[u8], text: &mut Vec<u8>) -> Result<(), SealError> {
                (**self).seal_vec(nonce, ad, text)
            }

            #[inline]
            fn open_vec(&self, nonce: &[u8], ad: &[u8], message: &mut Vec<u8>) -> Result<(), OpenError> {
                (**self).open_vec(nonce, ad, message)
            }

            #[inline]
            fn seal_into(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
                (**self).seal_into(nonce, ad, text, out)
            }

            #[inline]
            fn open_into(&self, nonce: &[u8], ad: &[u8], message: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
                (**self).open_into(nonce, ad, message, out)
            }

            #[inline]
            fn seal_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, SealError> {
                (**self).seal_to(nonce, ad, text, out)
            }

            #[inline]
            fn open_to(
                &self,
                nonce: &[u8],
                ad: &[u8],
                text: &[u8],
                tag: &[u8],
                out: &mut [u8],
            ) -> Result<(), OpenError> {
                (**self).open_to(nonce, ad, text, tag, out)
            }

            #[inline]
            fn seal_scattered(&self, nonce: &[u8], ad: &[u8], text: &mut [&mut [u8]]) -> Result<Tag, SealError> {
                (**self).seal_scattered(nonce, ad, text)
            }

            #[inline]
            fn open_scattered(
                &self,
                nonce: &[u8],
                ad: &[u8],
                text: &mut [&mut [u8]],
                tag: &[u8],
            ) -> Result<(), OpenError> {
                (**self).open_scattered(nonce, ad, text, tag)
            }
        }
    };
}
forward!(&A);
forward!(Box<A>);
#[cfg(target_has_atomic = "ptr")]
forward!(alloc::sync::Arc<A>);

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use core::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Does nothing, and notes which method was called.
    #[derive(Debug, Default)]
    struct Spy(AtomicU32);

    impl Spy {
        fn seal<T>(&self, method: u32) -> Result<T, SealError> {
            self.0.store(method, Ordering::Relaxed);
            Err(SealError::KeyExhausted)
        }

        fn open<T>(&self, method: u32) -> Result<T, OpenError> {
            self.0.store(method, Ordering::Relaxed);
            Err(OpenError)
        }
    }

    impl Sealed for Spy {}
    impl Aead for Spy {
        fn tag_len(&self) -> usize {
            5
        }
        fn nonce_len(&self) -> usize {
            7
        }
        fn seal_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<Tag, SealError> {
            self.seal(1)
        }
        fn open_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8], _: &[u8]) -> Result<(), OpenError> {
            self.open(2)
        }
        fn seal_message(&self, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), SealError> {
            self.seal(3)
        }
        fn open_message<'m>(&self, _: &[u8], _: &[u8], _: &'m mut [u8]) -> Result<&'m mut [u8], OpenError> {
            self.open(4)
        }
        fn seal_vec(&self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> Result<(), SealError> {
            self.seal(5)
        }
        fn open_vec(&self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> Result<(), OpenError> {
            self.open(6)
        }
        fn seal_into(&self, _: &[u8], _: &[u8], _: &[u8], _: &mut Vec<u8>) -> Result<(), SealError> {
            self.seal(7)
        }
        fn open_into(&self, _: &[u8], _: &[u8], _: &[u8], _: &mut Vec<u8>) -> Result<(), OpenError> {
            self.open(8)
        }
        fn seal_to(&self, _: &[u8], _: &[u8], _: &[u8], _: &mut [u8]) -> Result<Tag, SealError> {
            self.seal(9)
        }
        fn open_to(&self, _: &[u8], _: &[u8], _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), OpenError> {
            self.open(10)
        }
        fn seal_scattered(&self, _: &[u8], _: &[u8], _: &mut [&mut [u8]]) -> Result<Tag, SealError> {
            self.seal(11)
        }
        fn open_scattered(&self, _: &[u8], _: &[u8], _: &mut [&mut [u8]], _: &[u8]) -> Result<(), OpenError> {
            self.open(12)
        }
    }

    /// Calls every method of a key of any type; what the spy noted of each.
    fn called(key: impl Aead, noted: &AtomicU32) -> Vec<u32> {
        assert_eq!((key.tag_len(), key.nonce_len()), (5, 7));
        let (n, ad, out, vec) = (&[1; 7], b"ad", &mut [0; 9], &mut Vec::new());
        let note = |failed: bool| if failed { noted.swap(0, Ordering::Relaxed) } else { 0 };
        alloc::vec![
            note(key.seal_in_place(n, ad, out).is_err()),
            note(key.open_in_place(n, ad, out, &[]).is_err()),
            note(key.seal_message(n, ad, out).is_err()),
            note(key.open_message(n, ad, out).is_err()),
            note(key.seal_vec(n, ad, vec).is_err()),
            note(key.open_vec(n, ad, vec).is_err()),
            note(key.seal_into(n, ad, &[], vec).is_err()),
            note(key.open_into(n, ad, &[], vec).is_err()),
            note(key.seal_to(n, ad, &[], &mut []).is_err()),
            note(key.open_to(n, ad, &[], &[], &mut []).is_err()),
            note(key.seal_scattered(n, ad, &mut []).is_err()),
            note(key.open_scattered(n, ad, &mut [], &[]).is_err()),
        ]
    }

    #[test]
    fn a_pointer_to_a_key_passes_every_method_on() {
        let all: Vec<u32> = (1..=12).collect();
        let spy = Arc::new(Spy::default());
        assert_eq!(called(&*spy, &spy.0), all);
        assert_eq!(called(&*spy as &dyn Aead, &spy.0), all);
        assert_eq!(called(&spy, &spy.0), all, "a reference to a reference");
        assert_eq!(called(spy.clone(), &spy.0), all);
        assert_eq!(called(spy.clone() as Arc<dyn Aead>, &spy.0), all);
        assert_eq!(called(Box::new(&*spy), &spy.0), all);
        assert_eq!(called(Box::new(spy.clone()) as Box<dyn Aead>, &spy.0), all);
    }
}
