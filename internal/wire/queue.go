package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// item is one message on its way out. Either body holds it encoded, or text grows until the writer
// takes it and build makes it.
type item struct {
	prev, next *item
	body       []byte
	key        string
	latest     bool // a newer one of the same key replaces it

	build  func(text string) any // not nil for text that joins with text of the same key
	method string
	text   []byte
	due    time.Time // when text is written though nothing follows it
}

// itemCost is about what an item costs beside its bytes; a flood of tiny ones is bounded too.
const itemCost = 200

func (it *item) size() int64 { return int64(len(it.body) + len(it.text)) }

// queue holds what the writer has not taken yet, in the order in which it was queued, which is the
// order on the wire. Adding never waits; producers of updates wait for room first. A doubly linked
// list, because items leave from its middle when they are replaced or withdrawn.
type queue struct {
	soft, hard int64         // bytes: above soft producers wait, above hard the connection is given up
	textMax    int           // bytes of joined text in one message
	coalesce   time.Duration // how long text waits for more

	wake chan struct{} // tells the writer that something changed; capacity 1

	mu          sync.Mutex
	first, last *item            // guarded by mu
	bytes       int64            // guarded by mu; of all items in the list
	count       int64            // guarded by mu; of the items
	keys        map[string]*item // guarded by mu; items that a newer one may replace
	room        chan struct{}    // guarded by mu; closed when bytes falls to soft; nil when nobody waits
	closed      bool             // guarded by mu; nothing more is taken in
}

func newQueue(o Options) *queue {
	return &queue{
		soft: o.MaxQueue, hard: o.HardQueue, coalesce: o.Coalesce,
		// JSON may need six bytes for one of text; long texts go in pieces that any peer can read.
		textMax: int(max(utf8.UTFMax, min(64<<10, o.MaxOut/8))),
		wake:    make(chan struct{}, 1),
		keys:    map[string]*item{},
	}
}

// errFull says that the peer has not read for so long that the connection is worth nothing.
var errFull = errors.New("the peer does not read, and too much is queued for it")

// add queues an encoded message at the end.
func (q *queue) add(it *item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.addLocked(it)
}

func (q *queue) addLocked(it *item) error {
	if q.closed {
		return io.ErrClosedPipe
	}
	if q.bytes+it.size()+q.count*itemCost > q.hard {
		return errFull
	}
	if it.latest {
		if old := q.keys[it.key]; old != nil {
			q.unlink(old)
		}
		q.keys[it.key] = it
	}
	it.prev = q.last
	if q.last == nil {
		q.first = it
	} else {
		q.last.next = it
	}
	q.last = it
	q.bytes += it.size()
	q.count++
	q.nudge()
	return nil
}

// unlink takes it out of the list. The caller holds mu.
func (q *queue) unlink(it *item) {
	if it.prev == nil {
		q.first = it.next
	} else {
		it.prev.next = it.next
	}
	if it.next == nil {
		q.last = it.prev
	} else {
		it.next.prev = it.prev
	}
	it.prev, it.next = nil, nil
	if it.latest {
		delete(q.keys, it.key)
	}
	q.bytes -= it.size()
	q.count--
	if q.room != nil && q.bytes <= q.soft {
		close(q.room)
		q.room = nil
	}
}

// withdraw takes it out if the writer has not taken it, and says whether it did.
func (q *queue) withdraw(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it.prev == nil && it.next == nil && q.first != it {
		return false
	}
	q.unlink(it)
	return true
}

// addWithRoom queues at the end once no more than soft bytes are queued.
func (q *queue) addWithRoom(ctx context.Context, it *item) error {
	return q.whenRoom(ctx, func() error { return q.addLocked(it) })
}

// join appends text to the last item if it has the same key, and otherwise queues new items, none
// with more text than textMax and none cut inside a character.
func (q *queue) join(ctx context.Context, key, method, text string, build func(string) any) error {
	return q.whenRoom(ctx, func() error {
		if q.closed {
			return io.ErrClosedPipe
		}
		if q.bytes+int64(len(text)) > q.hard {
			return errFull
		}
		for len(text) > 0 {
			if l := q.last; l != nil && l.build != nil && l.key == key {
				if n := cut(text, q.textMax-len(l.text)); n > 0 {
					l.text = append(l.text, text[:n]...)
					q.bytes += int64(n)
					text = text[n:]
					continue
				}
			}
			it := &item{key: key, method: method, build: build, due: time.Now().Add(q.coalesce)}
			if err := q.addLocked(it); err != nil {
				return err
			}
		}
		return nil
	})
}

// cut is how many bytes of text fit into room without cutting a character.
func cut(text string, room int) int {
	if len(text) <= room {
		return len(text)
	}
	for back := range utf8.UTFMax {
		if room-back <= 0 {
			return 0 // the first character does not fit
		}
		if utf8.RuneStart(text[room-back]) {
			return room - back
		}
	}
	return room // no UTF-8 at all: any cut will do
}

// whenRoom runs do under mu as soon as no more than soft bytes are queued.
func (q *queue) whenRoom(ctx context.Context, do func() error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		q.mu.Lock()
		if q.bytes <= q.soft || q.closed {
			err := do()
			q.mu.Unlock()
			return err
		}
		if q.room == nil {
			q.room = make(chan struct{})
		}
		room := q.room
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

// take gives the writer the next message. wait is how long to wait for it: zero when it is there,
// negative when there is none. ended says that none will come.
func (q *queue) take() (it *item, wait time.Duration, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it = q.first
	if it == nil {
		return nil, -1, q.closed
	}
	if it.build != nil && it == q.last && !q.closed && len(it.text) < q.textMax {
		if left := time.Until(it.due); left > 0 {
			return nil, left, false
		}
	}
	q.unlink(it)
	return it, 0, false
}

// close takes nothing more in, and frees who waits for room. What is queued can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
	q.nudge()
}

func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
