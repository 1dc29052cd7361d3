package workspace

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
)

// Temp files of atomic writes are named tempPrefix…tempSuffix (contract §2).
const (
	tempPrefix = ".acp-agent-"
	tempSuffix = ".tmp"
)

// TempName gives a new name for a temp file of a process of this machine. The name says whose it is,
// so that what a crash left can be told from what another process is writing just now.
func TempName(pid int) string {
	return tempPrefix + machine() + "-" + strconv.Itoa(pid) + "-" + strings.ToLower(rand.Text()) + tempSuffix
}

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// owner is the process that a temp file belongs to; ok is false when it is none of this machine.
func owner(name string) (pid int, ok bool) {
	rest, here := strings.CutPrefix(name, tempPrefix+machine()+"-")
	number, _, found := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, here && found && err == nil && pid > 0
}

// machine tells process numbers apart that mean different processes: folders may be shared between
// machines, and between containers that count for themselves.
func machine() string {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid") // there are none elsewhere
	return string(HashBytes([]byte(host + "\x00" + space))[:8])
}
