package permissions

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: the start of the program
// must not pay a third of a millisecond for what most sessions never match.
type pattern struct{ compiled func() *regexp.Regexp }

func lazily(expr string) *pattern {
	return &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString says whether the pattern occurs in s.
func (p *pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }
