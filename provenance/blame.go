package provenance

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"acp-agent/internal/workspace"
)

// Line is one line of a file with the record that brought it in; nil when no record did.
type Line struct {
	Number int // 1-based
	Text   string
	Record *Record
}

// Blame attributes the present lines of a file to records, following moves, with the contents kept
// in blobs. A line belongs to the last record whose result brought it in; lines that nobody recorded,
// among them what the user changed since, have no record. What an undo brings back belongs again to
// whom it belonged before. Where an old content is not kept any more, nothing before it is attributed.
func Blame(l *Log, blobs *Blobs, path workspace.Path, text string) ([]Line, error) {
	records, err := l.Records()
	if err != nil {
		return nil, err
	}
	b := &blamer{blobs: blobs, seen: map[workspace.Hash]owned{}}
	for _, step := range history(records, path) {
		if err := b.step(step); err != nil {
			return nil, err
		}
	}
	now := b.now.follow(splitLines(text), nil)
	lines := make([]Line, len(now.lines))
	for i, line := range now.lines {
		lines[i] = Line{Number: i + 1, Text: line, Record: now.owners[i]}
	}
	return lines, nil
}

// step is one change in a file's history.
type step struct {
	record *Record
	file   File
}

// history lists the changes that led to the file now at path, oldest first.
func history(records []Record, path workspace.Path) []step {
	names := []workspace.Path{path}
	if real, err := filepath.EvalSymlinks(string(path)); err == nil && real != string(path) {
		names = append(names, workspace.Path(real))
	}
	var steps []step
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		if r.Kind != Applied && r.Kind != External && r.Kind != Undo {
			continue
		}
		j := slices.IndexFunc(r.Files, func(f File) bool { return slices.Contains(names, f.result()) })
		from := names
		if j >= 0 {
			f := r.Files[j]
			steps = append(steps, step{r, f})
			if f.To != "" && f.To != f.Path {
				names = []workspace.Path{f.Path}
				continue
			}
		}
		if slices.ContainsFunc(r.Files, func(f File) bool { return f.result() != f.Path && slices.Contains(from, f.Path) }) {
			break // the file of that name went elsewhere; what is here now began with this record
		}
	}
	slices.Reverse(steps)
	return steps
}

// result is the path that holds the operation's result.
func (f File) result() workspace.Path {
	if f.To != "" {
		return f.To
	}
	return f.Path
}

// owned is a text with the record of each line.
type owned struct {
	lines  []string
	owners []*Record
}

// follow gives the owners of a later text: kept lines keep theirs, new ones belong to owner.
func (o owned) follow(lines []string, owner *Record) owned {
	next := owned{lines: lines, owners: make([]*Record, len(lines))}
	for i, from := range matches(o.lines, lines) {
		if from >= 0 {
			next.owners[i] = o.owners[from]
		} else {
			next.owners[i] = owner
		}
	}
	return next
}

type blamer struct {
	blobs *Blobs
	now   owned
	hash  workspace.Hash           // of now
	seen  map[workspace.Hash]owned // earlier states, for undo
}

func (b *blamer) step(s step) error {
	known := true
	if s.file.Before != b.hash {
		// Somebody else changed the file since the last recorded result.
		before, kept, err := b.text(s.file.Before)
		if err != nil {
			return err
		}
		if known = kept; known {
			b.now = b.now.follow(before, nil)
		}
	}
	after, kept, err := b.text(s.file.Landed())
	if err != nil {
		return err
	}
	b.seen[s.file.Before] = b.now
	earlier, restored := b.seen[s.file.Landed()]
	switch {
	case restored && s.record.Kind == Undo:
		b.now = earlier
	case kept && known:
		b.now = b.now.follow(after, s.record)
	case kept:
		b.now = owned{}.follow(after, nil) // which of its lines are new cannot be told
	default:
		b.now = owned{}
	}
	b.hash = s.file.Landed()
	b.seen[b.hash] = b.now
	return nil
}

// text gives the lines of a content; known is false when it is not kept or not text.
func (b *blamer) text(h workspace.Hash) (lines []string, known bool, err error) {
	if h == "" {
		return nil, true, nil
	}
	data, err := b.blobs.Get(h)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	// A charset that only the user's settings name is not known here: lines with such characters then
	// look different from the present ones and have no owner.
	text, _, err := workspace.Decode(data, "")
	if err != nil {
		return nil, false, nil
	}
	return splitLines(text), true, nil
}
