package provenance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// head is the small file beside a log. Its first line, of fixed length and rewritten in place after
// each durable append, says where the log ended; the lines below it are only ever added to. It is not
// synced: after a power cut it may lag behind the log, which is harmless, but never run ahead of it.
type head struct {
	seq     int64
	settled int64 // every intent before this offset has its end
	hash    string
	root    string
	healed  []string
}

const (
	headLine   = "1 %019d %019d %64s\n"
	headLength = 2 + 19 + 1 + 19 + 1 + 64 + 1
)

var errBadHead = errors.New("not readable")

// readHead gives the head file's content; fs.ErrNotExist when there is none.
func readHead(name string) (head, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return head{}, err
	}
	var h head
	first, rest, ok := strings.Cut(string(data), "\n")
	if !ok || len(first)+1 != headLength {
		return head{}, errBadHead
	}
	if _, err := fmt.Sscanf(first+"\n", "1 %d %d %s\n", &h.seq, &h.settled, &h.hash); err != nil {
		return head{}, errBadHead
	}
	for line := range strings.Lines(rest) {
		line, whole := strings.CutSuffix(line, "\n")
		key, value, _ := strings.Cut(line, " ")
		switch {
		case !whole:
		case key == "root":
			h.root, _ = strconv.Unquote(value)
		case key == "healed":
			h.healed = append(h.healed, value)
		}
	}
	return h, nil
}

// writeHead rewrites the first line, and makes the file with its root line when it is not there.
func writeHead(name, root string, h head) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0o600)
	first := fmt.Sprintf(headLine, h.seq, h.settled, h.hash)
	if errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(name, []byte(first+"root "+strconv.Quote(root)+"\n"), 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(first), 0)
	return errors.Join(err, f.Close())
}

// noteHealed adds a line about a torn tail that was cut off.
func noteHealed(name, root string, h head, bytes int64, now time.Time) error {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := writeHead(name, root, h); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "healed a torn line of %d bytes behind record %d at %s\n", bytes, h.seq, now.UTC().Format(time.RFC3339))
	return errors.Join(err, f.Close())
}
