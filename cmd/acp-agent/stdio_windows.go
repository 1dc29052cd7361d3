package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeStdio takes the protocol's two streams away from the rest of the process: private handles that
// children do not inherit; the standard input becomes NUL and the standard output stderr.
func takeStdio() (in, out *os.File, err error) {
	dup := func(h windows.Handle) (windows.Handle, error) {
		var d windows.Handle
		me := windows.CurrentProcess()
		err := windows.DuplicateHandle(me, h, me, &d, 0, false, windows.DUPLICATE_SAME_ACCESS)
		return d, err
	}
	inH, err := dup(windows.Handle(os.Stdin.Fd()))
	if err != nil {
		return nil, nil, err
	}
	outH, err := dup(windows.Handle(os.Stdout.Fd()))
	if err != nil {
		return nil, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := windows.SetStdHandle(windows.STD_INPUT_HANDLE, windows.Handle(null.Fd())); err != nil {
		return nil, nil, err
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, err
	}
	os.Stdin, os.Stdout = null, os.Stderr
	return os.NewFile(uintptr(inH), "stdin"), os.NewFile(uintptr(outH), "stdout"), nil
}
