//go:build unix

package procgroup

import "syscall"

// process is one line of the system's process table.
type process struct{ pid, parent, group, session int }

// spread adds to known all processes of the table that belong to it, by parent, group or session, and
// gives the new ones. timeout(1) and shells with job control put what they run into groups of its own,
// which a signal to ours does not reach. Only what was orphaned in a session of its own before anybody
// looked, as daemons do, is not found.
func spread(known map[int]bool, table []process) []int {
	var found []int
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !known[p.pid] && (known[p.parent] || known[p.group] || known[p.session]) {
				known[p.pid], grown = true, true
				found = append(found, p.pid)
			}
		}
	}
	return found
}

// maxRounds bounds how often what is killed is looked for, since it may start more meanwhile.
const maxRounds = 10

// signalAll signals the group and all that belongs to it. It says whether there was anybody.
func signalAll(pgid int, sig syscall.Signal) bool {
	some := false
	known := map[int]bool{pgid: true}
	for range maxRounds {
		// The table first: with a parent gone, nobody can tell whose child one was.
		list := spread(known, processTable())
		if syscall.Kill(-pgid, sig) == nil {
			some = true
		}
		for _, pid := range list {
			if syscall.Kill(pid, sig) == nil {
				some = true
			}
		}
		if len(list) == 0 || sig != syscall.SIGKILL {
			break
		}
	}
	return some
}
