//go:build !unix

package wire

import "os"

// Interruptible gives f: there is no way to make an inherited descriptor's Read end by Close here,
// so a reader that waits for input is left behind when the connection ends.
func Interruptible(f *os.File) *os.File { return f }
