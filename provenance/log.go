package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"acp-agent/internal/workspace"
)

// Log is the record of one root. Several processes, and several Logs of one process, may append to
// the same file at once. It holds no open file between calls but one small lock file for each of its
// own intents that has no end yet.
type Log struct {
	path string // <dir>/<id>.jsonl
	root string

	queueMu sync.Mutex
	queue   []*request // guarded by queueMu: appends that no commit has taken yet

	commitMu sync.Mutex
	tail     tail                   // guarded by commitMu
	live     map[int64]*flock.Flock // guarded by commitMu: our intents without an end, by seq
}

// request is one Append on its way into a commit.
type request struct {
	record Record
	err    error
	done   bool // guarded by commitMu
}

// Open opens the log of a root below dir (<home>/provenance), and cuts off a torn last line. Nothing
// is made before the first Append.
func Open(dir string, root workspace.Path) (*Log, error) {
	real := string(root)
	if r, err := filepath.EvalSymlinks(real); err == nil {
		real = r
	}
	sum := sha256.Sum256([]byte(real))
	return openFile(filepath.Join(dir, hex.EncodeToString(sum[:8])+".jsonl"), real)
}

// openFile opens the log in a file of that name.
func openFile(path, root string) (*Log, error) {
	l := &Log{path: path, root: root, live: map[int64]*flock.Flock{}}
	torn, err := isTorn(l.path)
	if err != nil || !torn {
		return l, err
	}
	return l, l.locked(func(f *os.File) error { return l.tail.catchUp(l, f) })
}

// Path is the log's file, which may not exist yet.
func (l *Log) Path() string { return l.path }

// Append chains r to the log and returns it complete, durable on disk. It takes a file lock for the
// time of one write. Appends that arrive while another one is being synced share the next sync.
func (l *Log) Append(r Record) (Record, error) {
	req := &request{record: r}
	l.queueMu.Lock()
	l.queue = append(l.queue, req)
	l.queueMu.Unlock()

	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	if !req.done {
		l.queueMu.Lock()
		batch := l.queue
		l.queue = nil
		l.queueMu.Unlock()
		l.commit(batch)
	}
	if req.err != nil {
		return Record{}, fmt.Errorf("provenance record: %w", req.err)
	}
	return req.record, nil
}

// commit writes a batch with one write and one sync, and marks its requests done.
func (l *Log) commit(batch []*request) {
	err := os.MkdirAll(filepath.Dir(l.path), 0o700)
	if err == nil {
		err = l.locked(func(f *os.File) error { return l.write(f, batch) })
	}
	for _, req := range batch {
		req.done = true
		if req.err == nil {
			req.err = err
		}
	}
}

// write appends the batch behind whatever other processes have appended meanwhile. The file lock is
// held.
func (l *Log) write(f *os.File, batch []*request) error {
	if err := l.tail.catchUp(l, f); err != nil {
		return err
	}
	next, before := l.tail.clone(), l.tail.open
	var lines []byte
	for _, req := range batch {
		if req.record.Time.IsZero() {
			req.record.Time = time.Now()
		}
		req.record.Time = req.record.Time.UTC().Round(0)
		line, err := seal(&req.record, next.seq+1, next.hash)
		if err != nil {
			req.err = err
			continue
		}
		next.add(linkOf(req.record), int64(len(line)))
		lines = append(lines, line...)
	}
	begun, err := l.markLive(batch)
	if err == nil {
		_, err = f.WriteAt(lines, l.tail.size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && l.tail.size == 0 {
		dir := filepath.Dir(l.path)
		err = errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)))
	}
	if err != nil {
		// Half a line would be healed later; taking it back now keeps the file clean for readers.
		err = errors.Join(err, f.Truncate(l.tail.size))
		l.forget(begun)
		l.tail = tail{}
		return err
	}
	if next.file, err = f.Stat(); err == nil {
		l.tail = next
	} else {
		l.tail = tail{} // the records are durable; the next append looks at the file afresh
	}
	l.forget(l.ended(before, next.open))
	// A head that cannot be written weakens only what Verify can see. The records are durable, and an
	// error would make the caller take back what it did.
	_ = writeHead(l.headPath(), l.root, next.head())
	return nil
}

// markLive takes a lock for each intent of the batch, so that no other process takes it for the
// remains of a crash while we are at it.
func (l *Log) markLive(batch []*request) ([]int64, error) {
	var begun []int64
	for _, req := range batch {
		if req.err != nil || req.record.Kind != Intent {
			continue
		}
		lock := flock.New(l.livePath(req.record.Seq), flock.SetPermissions(0o600))
		if ok, err := lock.TryLock(); err != nil || !ok {
			l.forget(begun)
			return nil, errors.Join(err, fmt.Errorf("%s is locked", lock.Path()))
		}
		l.live[req.record.Seq] = lock
		begun = append(begun, req.record.Seq)
	}
	return begun, nil
}

// ended lists the intents, our own and crashed ones that were repaired, that are open no more.
func (l *Log) ended(before, after []intent) []int64 {
	still := map[int64]bool{}
	for _, in := range after {
		still[in.seq] = true
	}
	var ended []int64
	for seq := range l.live {
		if !still[seq] {
			ended = append(ended, seq)
		}
	}
	for _, in := range before {
		if !still[in.seq] && l.live[in.seq] == nil {
			ended = append(ended, in.seq)
		}
	}
	return ended
}

// forget lets the locks of intents go. What cannot be removed is an empty file that nobody reads.
func (l *Log) forget(seqs []int64) {
	for _, seq := range seqs {
		if lock := l.live[seq]; lock != nil {
			_ = lock.Unlock()
			delete(l.live, seq)
		}
		_ = os.Remove(l.livePath(seq))
	}
}

// locked runs do on the opened log while no other process writes it. Callers hold commitMu or own l.
func (l *Log) locked(do func(f *os.File) error) error {
	lock := flock.New(l.beside(".lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(do(f), f.Close())
	}
	return errors.Join(err, lock.Unlock())
}

func (l *Log) headPath() string { return l.beside(".head") }

func (l *Log) livePath(seq int64) string {
	return l.beside("." + strconv.FormatInt(seq, 10) + ".live")
}

func (l *Log) beside(suffix string) string { return beside(l.path, suffix) }

func beside(path, suffix string) string { return strings.TrimSuffix(path, ".jsonl") + suffix }

// isTorn says whether the file exists and does not end with a newline.
func isTorn(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', err
}
