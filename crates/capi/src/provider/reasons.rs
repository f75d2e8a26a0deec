//! Why a step is refused, for OpenSSL's error queue. It is reported for steps that a program should do differently. A
//! text that is not authentic leaves no error there, as with OpenSSL's own ciphers, because libssl treats errors in the
//! queue as a failed connection.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    mem, ptr,
};

use super::params::{Dispatch, Function};

/// The program's mistake.
#[derive(Clone, Copy)]
pub(super) enum Reason {
    NoKey = 1,
    NoIv,
    IvLen,
    TagLen,
    NoTag,
    LateTag,
    Pieces,
    Behind,
    Ad,
    Memory,
    Number,
    KeyLen,
}

/// OSSL_ITEM.
#[repr(C)]
pub(super) struct Item {
    number: c_uint,
    text: *const c_char,
}

// SAFETY: all are constants, whose pointers lead to constants.
unsafe impl Sync for Item {}

const fn item(reason: Reason, text: &'static CStr) -> Item {
    Item { number: reason as c_uint, text: text.as_ptr() }
}

static TEXTS: [Item; 13] = [
    item(Reason::NoKey, c"no key is set"),
    item(Reason::NoIv, c"no IV is set, or it was already used; initialise with another"),
    item(Reason::IvLen, c"IVs of GCM have 1 to 16 bytes, those of OCB 1 to 15"),
    item(Reason::TagLen, c"tags of GCM have 12 to 16 bytes, those of OCB 8, 12 or 16 as was set"),
    item(Reason::NoTag, c"there is no tag before EVP_EncryptFinal_ex"),
    item(Reason::LateTag, c"the tag must be set before the text to decrypt comes"),
    item(Reason::Pieces, c"the text to decrypt came in several pieces; pass it in one"),
    item(Reason::Behind, c"text came after a partial last block"),
    item(Reason::Ad, c"associated data come after key and IV, and before the text"),
    item(
        Reason::Memory,
        c"no memory: associated data, and some texts to decrypt, are kept whole; pass less, or use provider=default",
    ),
    item(Reason::Number, c"lengths are integers from 0 to SIZE_MAX, of any width that holds them"),
    item(Reason::KeyLen, c"the key length is the one in the cipher's name; fetch another cipher for another length"),
    Item { number: 0, text: ptr::null() },
];

/// Gives OpenSSL the texts when it loads the provider.
pub(super) unsafe extern "C" fn texts(_: *mut c_void) -> *const Item {
    TEXTS.as_ptr()
}

/// OSSL_FUNC_CORE_NEW_ERROR and OSSL_FUNC_CORE_VSET_ERROR, whose last argument is a `va_list`.
const NEW: c_int = 5;
const SET: c_int = 7;
type New = unsafe extern "C" fn(*const c_void);
type Set = unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void);

/// Where refusals are reported: OpenSSL's functions, and its handle of the provider.
#[derive(Clone, Copy)]
pub(super) struct Core {
    handle: *const c_void,
    new: Option<New>,
    set: Option<Set>,
}

impl Core {
    /// # Safety
    /// `functions` must be null, or OpenSSL's terminated list of functions.
    pub(super) unsafe fn of(handle: *const c_void, mut functions: *const Dispatch) -> Core {
        let mut core = Core { handle, new: None, set: None };
        // SAFETY: the list ends with the number 0, behind which nothing is looked at; each function is what its number
        // says.
        unsafe {
            while !functions.is_null() && (*functions).id != 0 {
                let function = (*functions).function;
                match (*functions).id {
                    NEW => core.new = function.map(|it| mem::transmute::<Function, New>(it)),
                    SET => core.set = function.map(|it| mem::transmute::<Function, Set>(it)),
                    _ => {}
                }
                functions = functions.add(1);
            }
        }
        core
    }

    pub(super) fn tell(&self, reason: Reason) {
        let (Some(new), Some(set)) = (self.new, self.set) else { return };
        // Without a format there are no arguments. What is passed as their list may still be copied, if `va_list` is a
        // structure.
        let mut none = [0_u64; 8];
        // SAFETY: they are OpenSSL's functions, called with its handle; the longest `va_list` has 32 bytes.
        unsafe {
            new(self.handle);
            set(self.handle, reason as u32, ptr::null(), none.as_mut_ptr().cast());
        }
    }
}
