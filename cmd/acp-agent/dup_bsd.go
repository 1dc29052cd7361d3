//go:build unix && !linux

package main

import "golang.org/x/sys/unix"

// dup2 makes newFD a copy of oldFD.
func dup2(oldFD, newFD int) error { return unix.Dup2(oldFD, newFD) }
