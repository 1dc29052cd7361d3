package main

import "golang.org/x/sys/unix"

// dup2 makes newFD a copy of oldFD. Some Linux architectures have only dup3.
func dup2(oldFD, newFD int) error { return unix.Dup3(oldFD, newFD, 0) }
