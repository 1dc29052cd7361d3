package procgroup

import (
	"bytes"
	"os"
	"strconv"
)

// processTable reads /proc. A process that ends meanwhile is left out, and so is a dead one that its
// parent has not looked at yet.
func processTable() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var table []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, stat); ok {
			table = append(table, p)
		}
	}
	return table
}

// parseStat reads one line of /proc/PID/stat: "pid (name) state parent group session …". The name may
// hold anything, so the fields are counted from its end.
func parseStat(pid int, stat []byte) (process, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return process{}, false
	}
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(string(fields[i+1])); err != nil {
			return process{}, false
		}
	}
	return process{pid: pid, parent: n[0], group: n[1], session: n[2]}, true
}
