package permissions

import "strings"

// windowsShell is true where the command may be read by cmd.exe or PowerShell, whose quoting and
// expansion differ from sh: only lines of plain words are judged there, everything else asks.
const windowsShell = true

func notPlainOnWindows(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(" ./_-:=+,", r)
}
