package edits

import (
	"fmt"
	"io/fs"
	"os"

	"acp-agent/internal/workspace"
)

// conflict finds what in a proposal would be in its own way: applying it would find a file that its
// own first part has changed, and take that for somebody else's work.
func (pl *plan) conflict(changes []Change) *Refusal {
	if r := pl.belowFile(changes); r != nil {
		return r
	}
	return pl.oneFile(changes)
}

// belowFile refuses a new file below another one.
func (pl *plan) belowFile(changes []Change) *Refusal {
	made := map[workspace.Path]bool{}
	for i := range changes {
		if c := &changes[i]; c.Op == Create || c.Op == Move {
			made[c.realTarget()] = true
		}
	}
	for i := range changes {
		c := &changes[i]
		if !made[c.realTarget()] {
			continue
		}
		for dir := c.realTarget().Dir(); dir != dir.Dir(); dir = dir.Dir() {
			if made[dir] {
				return &Refusal{Code: CodeInvalidPatch, Path: c.Target(), Message: fmt.Sprintf(
					"The patch makes %s, but %s is a file in it and not a folder. Choose another name.", pl.name(c.Target()), pl.name(dir))}
			}
		}
	}
	return nil
}

// oneFile refuses two changes of one file that has several hard links, unless each only takes its name away.
func (pl *plan) oneFile(changes []Change) *Refusal {
	same := map[workspace.Hash][]int{} // one file has one content
	for i := range changes {
		if changes[i].Before != "" {
			same[changes[i].Before] = append(same[changes[i].Before], i)
		}
	}
	for _, group := range same {
		if len(group) == 1 {
			continue
		}
		infos := make([]fs.FileInfo, len(group))
		for i, n := range group {
			infos[i], _ = os.Lstat(string(changes[n].Real)) // one that is gone is found by Check
		}
		for i, n := range group {
			for k := i + 1; k < len(group); k++ {
				a, b := &changes[n], &changes[group[k]]
				if infos[i] == nil || infos[k] == nil || !os.SameFile(infos[i], infos[k]) || a.Op != Update && b.Op != Update {
					continue
				}
				return &Refusal{Code: CodeInvalidPatch, Path: b.Path, Message: fmt.Sprintf(
					"%s and %s are one file with two names (a hard link). Make all its changes under one of them.", pl.name(a.Path), pl.name(b.Path))}
			}
		}
	}
	return nil
}

// realTarget is where the content ends up.
func (c *Change) realTarget() workspace.Path {
	if c.Op == Move {
		return c.ToReal
	}
	return c.Real
}
