//go:build !windows

package permissions

const windowsShell = false

func notPlainOnWindows(rune) bool { return false }
