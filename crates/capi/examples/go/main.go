// Messages from Go, through the C library.
package main

/*
#cgo pkg-config: sealwright
#include <stdlib.h>
#include <sealwright.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Key is a suite under a key.
type Key struct{ c *C.sealwright_key }

// NewKey makes a key of the suite with this name.
func NewKey(suite string, secret []byte) (*Key, error) {
	// The text of an error belongs to the thread of the call.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	name := C.CString(suite)
	defer C.free(unsafe.Pointer(name))
	var key *C.sealwright_key
	if C.sealwright_key_new(name, pointer(secret), C.size_t(len(secret)), &key) != C.SEALWRIGHT_OK {
		return nil, errors.New(C.GoString(C.sealwright_last_error()))
	}
	return &Key{key}, nil
}

// Close wipes the key. A second call does nothing, and a use after it is an error.
func (key *Key) Close() {
	C.sealwright_key_free(key.c)
	key.c = nil
}

// Seal returns the ciphertext of text and the tag.
func (key *Key) Seal(nonce, text, ad []byte) ([]byte, error) {
	message := make([]byte, len(text)+C.SEALWRIGHT_TAG_LEN)
	failed := C.sealwright_seal(key.c, pointer(nonce), C.size_t(len(nonce)), pointer(ad), C.size_t(len(ad)),
		pointer(text), C.size_t(len(text)), pointer(message))
	return message, wrapped(failed)
}

// Open returns the text of message, if it is authentic.
func (key *Key) Open(nonce, message, ad []byte) ([]byte, error) {
	text := make([]byte, max(len(message)-C.SEALWRIGHT_TAG_LEN, 0))
	failed := C.sealwright_open(key.c, pointer(nonce), C.size_t(len(nonce)), pointer(ad), C.size_t(len(ad)),
		pointer(message), C.size_t(len(message)), pointer(text))
	if failed != C.SEALWRIGHT_OK {
		return nil, wrapped(failed)
	}
	return text, nil
}

func pointer(bytes []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(bytes)) }

func wrapped(failed C.int) error {
	if failed == C.SEALWRIGHT_OK {
		return nil
	}
	return errors.New(C.GoString(C.sealwright_error_text(failed)))
}

func main() {
	key, err := NewKey("aes-256-gcm", make([]byte, 32))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer key.Close()
	nonce := make([]byte, C.SEALWRIGHT_NONCE_LEN)
	message, err := key.Seal(nonce, []byte("attack at dawn"), []byte("header"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, err := key.Open(nonce, message, []byte("header"))
	fmt.Printf("opened: %s\n", text)
	if err != nil {
		os.Exit(1)
	}
	message[0] ^= 1
	_, err = key.Open(nonce, message, []byte("header"))
	fmt.Printf("forged: %v\n", err)
}
