//go:build !windows

package permissions

import (
	"os"
	"testing"
)

// A glob stands for any number of words. What it adds behind a pattern or a script is an operand, and a
// file name that begins with a dash is an option.
func TestGlobsThatBecomeOtherWords(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"opts/-delete", "opts/a.txt", "cmd/--pre=sh", "cmd/a.txt", "fine/a.txt", "fine/b.txt"} {
		full := p.w.Join(name)
		if err := mkdir(full.Dir()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(string(full), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sessions := map[Mode]*Session{}
	for _, m := range modes {
		sessions[m] = p.session(Rules{Mode: m, AllowDontAsk: true})
	}
	for line, want := range map[string][3]string{ // default, dont_ask, plan
		"grep .*":                 {"ask+S", "ask+S", "ask+S"},
		"grep .e*":                {"ask+S", "ask+S", "ask+S"},
		"grep -e .* a.txt":        {"ask+S", "ask+S", "ask+S"},
		"grep -A1 .* a.txt":       {"ask+S", "ask+S", "ask+S"},
		"rg .*":                   {"ask+S", "ask+S", "ask+S"},
		"git log --grep .*":       {"ask+S", "ask+S", "ask+S"},
		"sed -e .* a.txt":         {"ask+S", "ask+S", "deny+S"},
		"grep out* a.txt":         {"ask+O", "ask+O", "ask+O"},
		"cd opts && find *":       {"ask", "ask", "deny"},
		"cd opts && find [^x]*":   {"ask", "ask", "deny"},
		"cd opts && ls *":         {"ask", "ask", "deny"},
		"cd opts && find ./*":     {"allow", "allow", "allow"},
		"cd opts && find ?elete":  {"allow", "allow", "allow"},
		"cd opts && find ?delete": {"ask", "ask", "deny"},
		"cd opts && find a*":      {"allow", "allow", "allow"},
		"cd cmd && rg x *":        {"ask", "ask", "deny"},
		"cd cmd && cat *.txt":     {"allow", "allow", "allow"},
		"cd fine && cat *":        {"allow", "allow", "allow"},
		"cd fine && grep x *":     {"allow", "allow", "allow"},
		"grep -rn func.* src":     {"allow", "allow", "allow"},
		"grep -rn /api/.* src":    {"allow", "allow", "allow"},
		"cd opts && touch *":      {"ask", "ask", "deny"},
		"cd opts && rm -f *.txt":  {"ask", "allow", "deny"},
		"cd fine && touch *":      {"ask", "allow", "deny"},
		"cd opts && echo *":       {"allow", "allow", "allow"},
		"grep x a.t*":             {"allow", "allow", "allow"},
	} {
		for i, m := range []Mode{ModeDefault, ModeDontAsk, ModePlan} {
			d := sessions[m].Command(line, p.w)
			if got := letter(d); got != want[i] {
				t.Errorf("%-9s %q: %s, want %s (%s)", m, line, got, want[i], d.Reason)
			}
		}
	}
}
