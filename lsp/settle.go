package lsp

import (
	"slices"
	"time"
)

// This file decides when a word that the server said by itself is a verdict on the text that it has of
// a document now. With a version that is the word's own matter. Without one it may still be about an
// earlier text: a look that was already running, or one more because some file changed. Then it counts
// when the server had been at rest before, or when it has kept silent since for as long as it lately
// took to say something.

// Bounds of that silence.
const (
	settleTime = 200 * time.Millisecond
	settleMost = 2 * time.Second
	// longestGap is how far apart two words on one text may be for the second to be waited for. Later
	// ones are second thoughts, and are told when they come.
	longestGap = time.Second
	// plainWords is how many texts in a row must have got one word each before a server without
	// versions is taken at its first.
	plainWords = 3
)

// rhythm is how a server is used to speak. The instance's mu guards it.
type rhythm struct {
	stirred time.Time     // when it was last told something that may make it speak
	lag     time.Duration // from a change to the word on it, the longest of late
	gap     time.Duration // from a word to a different one on the same text, when the first called it clean
	plain   int           // texts in a row that got one word
}

// silence is how long the server must keep silent for its last word to count.
func (r *rhythm) silence(versioned bool) time.Duration {
	gap := min(r.gap*3/2, settleMost)
	if versioned {
		return gap
	}
	return max(settleTime, gap, min(2*r.lag, settleMost))
}

// stir notes that the server is told something that may make it speak. in.mu is held.
func (in *instance) stir() { in.stirred = time.Now() }

// changed notes that the server is told a new text of d. in.mu is held.
func (in *instance) changed(d *document) {
	now := time.Now()
	if d.unanswered == 0 {
		d.waiting = now
	}
	d.apart = d.unanswered == 0 && now.Sub(in.stirred) >= in.silence(false)
	d.unanswered++
	d.push = push{}
	in.stirred = now
}

// credit takes findings as being of the text that the server has of d, at once or after a silence.
// in.mu is held.
func (in *instance) credit(d *document, versioned bool, items []diag) {
	now := time.Now()
	before := d.push
	d.push = push{version: d.version, items: items, when: now, world: in.state(), at: in.world}
	second := before.version == d.version && !slices.Equal(before.items, items) && !in.stirred.After(before.when)
	switch {
	case second:
		d.push.second, in.plain = true, 0
		if gap := now.Sub(before.when); gap <= longestGap && !hasErrors(before.items) && hasErrors(items) {
			in.gap = max(in.gap, gap)
		}
	case d.unanswered == 1:
		in.lag = max(in.lag*3/4, now.Sub(d.waiting))
	case d.unanswered > 1: // it is not known which change this is about: something in between
		in.lag = max(in.lag, (now.Sub(d.waiting)+now.Sub(in.stirred))/2)
	}
	if d.unanswered > 0 {
		d.unanswered--
	}
	if versioned {
		d.unanswered = 0
	}
	switch {
	case before.settled: // of the same text, and newer
		in.settle(d)
	case hasErrors(items) && versioned: // more may come, and is told then
		in.settle(d)
	case versioned && in.gap == 0:
		in.settle(d)
	case !versioned && in.gap == 0 && d.unanswered == 0 && d.apart && in.plain >= plainWords:
		in.settle(d)
	default:
		d.push.silence = in.silence(versioned)
	}
	d.bump()
}

// settle makes the last word on d a verdict. in.mu is held.
func (in *instance) settle(d *document) {
	if !d.push.second {
		in.plain++
	}
	d.push.settled, d.unanswered = true, 0
	if in.overlaid == nil {
		in.keepSet(d.path, d.push.items)
	}
	d.remember(record{text: d.sent, world: d.push.world, at: d.push.at, items: d.push.items})
}
