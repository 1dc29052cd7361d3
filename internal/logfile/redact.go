package logfile

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"
)

// mask stands where a secret stood.
const mask = "[redacted]"

// Redactor takes secrets out of text: values that it was told of, and what looks like a credential.
// Safe for use from several goroutines.
type Redactor struct {
	mu     sync.RWMutex
	values [][]byte // guarded by mu; longest first
}

// NewRedactor knows no values yet.
func NewRedactor() *Redactor { return &Redactor{} }

// minSecret is the shortest value that is taken out by itself: a shorter one would blot out ordinary
// words and is no secret.
const minSecret = 6

// Add makes a value (an API key, a token) unreadable from now on, in its plain form and as quoting
// would write it.
func (r *Redactor) Add(secret string) {
	if len(secret) < minSecret {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range []string{secret, quoteInner(secret), quoteInner(quoteInner(secret))} {
		at := 0
		for at < len(r.values) && len(r.values[at]) >= len(form) {
			if string(r.values[at]) == form {
				at = -1
				break
			}
			at++
		}
		if at >= 0 {
			r.values = append(r.values[:at], append([][]byte{[]byte(form)}, r.values[at:]...)...)
		}
	}
}

func quoteInner(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// credential is a pattern with what is left of a match.
type credential struct {
	re   *regexp.Regexp
	keep string
}

// credentials are compiled with the first record, which may come after the start of the program is over.
var credentials = sync.OnceValue(func() []credential {
	return []credential{
		{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), mask},
		{regexp.MustCompile(`(?i)((?:authorization|proxy-authorization|cookie|set-cookie)\\?["']?\s*[:=]\s*\[?\\?["']?(?:(?:bearer|basic|token)\s+)?)[^\s"'\\\],;]{4,}`), "${1}" + mask},
		{regexp.MustCompile(`(?i)((?:x-api-key|x-goog-api-key|api[-_]?key|apikey|access[-_]?token|refresh[-_]?token|auth[-_]?token|client[-_]?secret|token|secret|password|passwd)\\?["']?\s*[:=]\s*\[?\\?["']?)[^\s"'\\\],;&]{4,}`), "${1}" + mask},
		{regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`), "${1}" + mask},
		{regexp.MustCompile(`(://[^/\s:@"']*:)[^/\s@"']+@`), "${1}" + mask + "@"},
		{regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_)[A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), mask},
	}
})

// Bytes gives the text without its secrets.
func (r *Redactor) Bytes(text []byte) []byte {
	r.mu.RLock()
	for _, v := range r.values {
		text = bytes.ReplaceAll(text, v, []byte(mask))
	}
	r.mu.RUnlock()
	for _, c := range credentials() {
		text = c.re.ReplaceAll(text, []byte(c.keep))
	}
	return text
}

// String is Bytes for a string.
func (r *Redactor) String(text string) string { return string(r.Bytes([]byte(text))) }
