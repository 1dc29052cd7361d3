//go:build !windows

package permissions

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Case G-A03: "always allow" covers the simple command and nothing that rides along with it.
func TestAlwaysAllowNeverCoversACompound(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Ask: []string{"terminal(git status)"}})
	d := s.Command("git status", p.w)
	if d.Verdict != Ask || d.AlwaysLabel() != "git status" {
		t.Fatalf("%+v", d)
	}
	s.AllowCommand(d.AlwaysPrefix)
	if d := s.Command("git status", p.w); d.Verdict != Allow {
		t.Errorf("the command itself: %+v", d)
	}
	for _, line := range []string{
		"git status && touch X1", "git status; touch X2", "git status | tee X3", "git status $(touch X4)", "git status > X5", "git status\ntouch X6",
		"git status & touch X7", "git status || touch X8", "git status `touch X9`", "git status >> X10", "git status < <(touch X11)",
		"(git status; touch X12)", "X=$(touch X13) git status", "PATH=. git status", "git status &", "sudo git status", "env git status",
		"git status <<< $(touch X14)", "! git status", "time git status", "./git status", "git -c alias.status='!touch X15' status",
	} {
		if d := s.Command(line, p.w); d.Verdict != Ask || d.AlwaysPrefix != nil && line != "./git status" && line != "git -c alias.status='!touch X15' status" {
			t.Errorf("%q: %s, always %q (%s)", line, d.Verdict, d.AlwaysPrefix, d.Reason)
		}
	}
	if d := p.session(Rules{Ask: []string{"terminal(git status)"}}).Command("git status", p.w); d.Verdict != Ask {
		t.Errorf("another session: %+v", d)
	}
}

func TestAlwaysPrefix(t *testing.T) {
	p := newPlace(t)
	for line, want := range map[string][]string{
		"git push":                           {"git", "push"},
		"git push origin main":               {"git", "push"},
		"git commit -m 'a b'":                {"git", "commit"},
		"git -C src push":                    {"git", "-C", "src", "push"},
		"git bisect run ./x":                 {"git", "bisect", "run", "./x"},
		"git fetch --upload-pack=./x origin": {"git", "fetch", "--upload-pack=./x", "origin"},
		"git config user.name x":             {"git", "config", "user.name", "x"},
		"go test ./...":                      {"go", "test"},
		"go test -exec ./x ./...":            {"go", "test", "-exec", "./x", "./..."},
		"go run ./x":                         {"go", "run", "./x"},
		"npm run build -- --watch":           {"npm", "run", "build"},
		"npm install left-pad":               {"npm", "install", "left-pad"},
		"npm test":                           {"npm", "test"},
		"cargo build --release":              {"cargo", "build"},
		"docker run x":                       {"docker", "run", "x"},
		"docker logs x":                      {"docker", "logs"},
		"gh pr view 1":                       {"gh", "pr", "view"},
		"gh pr":                              {"gh", "pr"},
		"make test":                          {"make", "test"},
		"make test SHELL=./x":                {"make", "test", "SHELL=./x"},
		"python3 -c 'print(1)'":              {"python3", "-c", "print(1)"},
		"rm src/*.go":                        {"rm", "src/*.go"},
		"curl https://x":                     {"curl", "https://x"},
		"touch .env":                         nil,
		"touch @O/x":                         nil,
		"make; make":                         nil,
		"make > log":                         nil,
		"make $X":                            nil,
		"FOO=1 make":                         nil,
		"sh -c make":                         nil,
		"nice make":                          nil,
		"make | cat":                         nil,
		"ls":                                 nil, // allowed anyway
		"make 2>&1":                          nil,
		"sudo make":                          nil,
		"source x":                           nil,
		"xargs rm":                           nil,
	} {
		d := p.session(Rules{}).Command(p.fill(line), p.w)
		if diff := cmp.Diff(want, d.AlwaysPrefix); diff != "" {
			t.Errorf("%q (-want +got)\n%s", line, diff)
		}
		if want == nil {
			continue
		}
		s := p.session(Rules{})
		s.AllowCommand(d.AlwaysPrefix)
		if d := s.Command(line, p.w); d.Verdict != Allow || d.By != ByRule {
			t.Errorf("%q still asks once allowed: %+v", line, d)
		}
	}
}

func TestGrantCoversWhatItsLabelSays(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{})
	for _, prefix := range [][]string{{"git", "push"}, {"make", "test"}, {"npm", "run", "build"}} {
		s.AllowCommand(prefix)
	}
	for line, want := range map[string]string{
		"git push --force origin x": "allow", "git pull": "ask", "git": "ask", "git push @O": "ask+O", "git push .git": "ask+S",
		"git push --receive-pack=./x": "ask", "make test": "allow", "make test2": "ask", "make test all": "ask", "make": "ask",
		"npm run build --x": "allow", "npm run": "ask", "npm run deploy": "ask", "/usr/bin/git push": "ask",
	} {
		if d := s.Command(p.fill(line), p.w); letter(d) != want {
			t.Errorf("%q: %s, want %s", line, letter(d), want)
		}
	}
	if err := s.SetMode(ModePlan); err != nil {
		t.Fatal(err)
	}
	if d := s.Command("make test", p.w); d.Verdict != Deny || d.By != ByMode {
		t.Errorf("plan mode: %+v", d)
	}
}

func TestAlwaysLabelQuotes(t *testing.T) {
	d := Decision{AlwaysPrefix: []string{"echo", "a b", "$x", "it's"}}
	if got, want := d.AlwaysLabel(), `echo 'a b' '$x' "it's"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if (Decision{}).AlwaysLabel() != "" {
		t.Error("a label for nothing")
	}
}

func TestTerminalRules(t *testing.T) {
	p := newPlace(t)
	rules := Rules{
		AllowDontAsk: true,
		Allow:        []string{"terminal(go test *)", "terminal(make ?est)", "terminal(echo *)", "terminal(cat *)", "terminal(python3 *)", "terminal(git *)"},
		Ask:          []string{"terminal(git push *)", "terminal(ls *)"},
		Deny:         []string{"terminal(curl *)", "terminal(rm -rf *)", "terminal(git push --force *)", "terminal(sudo *)"},
	}
	s := p.session(rules)
	for line, want := range map[string]string{
		"go test":                    "allow",
		"go test ./... -run X":       "allow",
		"go build":                   "ask",
		"go test ./... && go test .": "allow",
		"go test ./... && go build":  "ask",
		"go test ./... | tee log":    "ask",
		"go test $X":                 "ask",
		"go test $(touch x)":         "ask",
		"go test -o @O/x":            "ask+O",
		"go test > log":              "allow",
		"go test > @O/log":           "ask+O",
		"go test > .env":             "ask+S",
		"FOO=1 go test":              "allow",
		"GOFLAGS=-exec=./x go test":  "ask",
		"./go test":                  "ask",
		"make test":                  "allow",
		"make best":                  "allow",
		"make arrest":                "ask",
		"python3 -c 'x'":             "allow", // the operator's rule says so
		"cat .env":                   "ask+S",
		"cat @O/f":                   "ask+O",
		"git commit -m x":            "allow",
		"git push":                   "ask",
		"git push --force":           "deny",
		"git push --force origin":    "deny",
		"ls":                         "ask",
		"ls | cat":                   "ask",
		"curl":                       "deny",
		"curl x":                     "deny",
		"/usr/bin/curl x":            "deny",
		"echo x && curl x":           "deny",
		"echo $(curl x)":             "deny",
		"echo x | xargs curl":        "deny",
		"sh -c 'curl x'":             "deny",
		"env A=1 timeout 5 curl x":   "deny",
		"find . -exec curl {} \\;":   "deny+S",
		"c''url x":                   "deny",
		"eval curl x":                "deny",
		"sudo ls":                    "deny",
		"f() { curl x; }":            "deny",
		"if true; then curl x; fi":   "deny",
		"cat <<E\n$(curl x)\nE":      "deny",
		"rm -rf src":                 "deny",
		"rm -r -f src":               "ask",
		"xcurl x":                    "ask",
	} {
		if d := s.Command(p.fill(line), p.w); letter(d) != want {
			t.Errorf("%q: %s, want %s (%s)", line, letter(d), want, d.Reason)
		}
	}
}

func TestReadOnlyList(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{ReadOnly: []string{"ls", "git log", "git branch", "go version", "jq", "find"}, Mode: ModePlan})
	for line, want := range map[string]string{
		"ls": "allow", "cat a.txt": "deny", "git log": "allow", "git log --output=x": "deny", "git status": "deny", "git branch": "allow",
		"git branch -v": "allow", "git -c x=y branch": "deny", "go version": "allow", "go": "deny", "go build": "deny", "jq . a.json": "allow",
		"jq . @O/f": "ask+O", "find . -delete": "deny+S", "find src": "allow", "cd src && ls": "allow", "pwd": "deny",
	} {
		if d := s.Command(p.fill(line), p.w); letter(d) != want {
			t.Errorf("%q: %s, want %s (%s)", line, letter(d), want, d.Reason)
		}
	}
	none := p.session(Rules{ReadOnly: []string{}})
	if d := none.Command("ls", p.w); d.Verdict != Ask {
		t.Errorf("an empty list still allows ls: %+v", d)
	}
}

func TestGitRunsWithHooksOff(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{})
	d := s.Command("cd src && git status | head", p.w)
	if d.Verdict != Allow || !slices.Contains(d.Env, "GIT_CONFIG_VALUE_0=false") || !slices.Contains(d.Env, "GIT_OPTIONAL_LOCKS=0") {
		t.Errorf("%+v", d)
	}
	if d := s.Command("ls", p.w); d.Env != nil {
		t.Errorf("ls: %v", d.Env)
	}
}

func TestWorkingDirectory(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{})
	for _, tt := range []struct{ cwd, line, want string }{
		{"src", "cat a.go", "allow"}, {"src", "cat ../a.txt", "allow"}, {"src", "cat ../../O/f", "ask+O"}, {"@O", "ls", "ask+O"},
		{"@O", "pwd", "ask+O"}, {"out", "cat f", "ask+O"}, {".git", "ls", "ask+S"}, {"osub", "cat ../f", "ask+O"}, {"inlink", "cat ../a.txt", "allow"},
	} {
		if d := s.Command(p.fill(tt.line), p.target(tt.cwd).Path); letter(d) != tt.want {
			t.Errorf("%q in %s: %s, want %s", tt.line, tt.cwd, letter(d), tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	p := newPlace(t)
	x := p.session(Rules{Deny: []string{"terminal(curl *)"}}).Explain("ls | tee x.log && env A=1 curl y >z", p.w)
	var got [][]string
	for _, sc := range x.Simple {
		got = append(got, append([]string{string(sc.Verdict), sc.Rule}, append(sc.Argv, sc.Writes...)...))
	}
	want := [][]string{
		{"allow", "read_only: ls", "ls"},
		{"ask", "default", "tee", "x.log"},
		{"ask", "default", "env", "A=1", "z"},
		{"deny", "terminal(curl *)", "curl", "y"},
	}
	if diff := cmp.Diff(want, got); diff != "" || !x.Parsed || x.Decision.Verdict != Deny {
		t.Errorf("%+v\n%s", x.Decision, diff)
	}
	if x := p.session(Rules{}).Explain("ls 'x", p.w); x.Parsed || x.Decision.Rule != "not understood" {
		t.Errorf("%+v", x)
	}
}
