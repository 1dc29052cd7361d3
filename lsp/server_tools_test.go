package lsp

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestT01_FindingsAreCapped(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		b.WriteString([]string{"WARN(warned of something that is rather long to say)\n", "ERROR(an error that is rather long to say, too)\n"}[i%2])
	}
	f := newFaulty(t, nil, map[string]string{"a.fk": "\n"})
	v := f.apply("a.fk", b.String())
	if len(v.Introduced) != 150 {
		t.Fatalf("%d introduced", len(v.Introduced))
	}
	text := v.ForModel("LSP diagnostics introduced by this edit", 4000)
	if n := len([]rune(text)); n > 4000 || !strings.Contains(text, "… 130 more") || strings.Count(text, "ERROR [") != 20 {
		t.Errorf("%d characters:\n%s", n, text)
	}
	items, _, err := f.s.Diagnostics(context.Background(), f.path("a.fk"), b.String())
	if err != nil {
		t.Fatal(err)
	}
	text = FindingsText(items, 4000)
	first, _, _ := strings.Cut(text, "\n")
	if n := len([]rune(text)); n > 4000 || !strings.HasPrefix(first, string(f.path("a.fk"))+":2:1 error an error") || !strings.Contains(text, " more") {
		t.Errorf("%d characters:\n%s", n, text)
	}
}

// toolsText has a name behind characters that every unit counts differently.
const toolsText = "s := \"😀é\" + USES(name)\nUSES(nowhere)\n"

func TestT02_ToolsCountFromOneInCharacters(t *testing.T) {
	for _, encoding := range []string{"", "encoding=utf-8", "encoding=utf-32"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			var modes []string
			if encoding != "" {
				modes = append(modes, encoding)
			}
			f := newFaulty(t, modes, map[string]string{"a.fk": toolsText, "lib.fk": "😀 DEFINES(name)\n"})
			ctx := context.Background()
			a := f.path("a.fk")
			// "name" begins at the 18th character: s := "😀é" + USES(name
			places, notice, err := f.s.Definition(ctx, a, toolsText, 1, 18)
			if err != nil || notice != "" || !slices.Equal(places, []Place{{f.path("lib.fk"), 1, 11}}) {
				t.Errorf("definition: %v %q %v", places, notice, err)
			}
			places, notice, err = f.s.References(ctx, a, toolsText, 1, 19)
			if err != nil || notice != "" || !slices.Equal(places, []Place{{a, 1, 18}, {f.path("lib.fk"), 1, 11}}) {
				t.Errorf("references: %v %q %v", places, notice, err)
			}
			hover, notice, err := f.s.Hover(ctx, a, toolsText, 1, 18)
			if err != nil || notice != "" || hover != "the name **name**" {
				t.Errorf("hover: %q %q %v", hover, notice, err)
			}
			if hover, notice, err := f.s.Hover(ctx, a, toolsText, 1, 11); err != nil || notice != "" || hover != "" {
				t.Errorf("hover on nothing: %q %q %v", hover, notice, err)
			}
			items, notice, err := f.s.Diagnostics(ctx, a, toolsText)
			if err != nil || notice != "" || len(items) != 1 || items[0].Message != "nowhere is not defined" || items[0].Line != 2 {
				t.Errorf("diagnostics: %+v %q %v", items, notice, err)
			}
			if items, notice, err := f.s.Diagnostics(ctx, f.path("lib.fk"), f.read("lib.fk")); err != nil || notice != "" || len(items) != 0 {
				t.Errorf("diagnostics of a clean file: %+v %q %v", items, notice, err)
			}
		})
	}
}

// The text that a tool asks about may be an editor's unsaved one; nobody else is told of it.
func TestT02_UnsavedTextIsAskedAboutAndPutBack(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"slow=50ms"}, map[string]string{"a.fk": given("saved")})
	items, notice, err := f.s.Diagnostics(context.Background(), f.path("a.fk"), given("unsaved"))
	if err != nil || notice != "" {
		t.Fatal(notice, err)
	}
	wantMessages(t, "unsaved", items, "unsaved")
	items, _, err = f.s.Diagnostics(context.Background(), f.path("a.fk"), given("saved"))
	if err != nil {
		t.Fatal(err)
	}
	wantMessages(t, "saved", items, "saved")
}

func TestT03_OneSentenceWhenAFileCannotBeServed(t *testing.T) {
	for name, tc := range map[string]struct {
		modes  []string
		change func(*Settings)
		file   string
		says   []string
	}{
		"not installed": {nil, func(s *Settings) {
			s.Servers = map[string]ServerSettings{"fake": {Command: []string{"no-such-command-anywhere"}, Extensions: []string{".fk"}}}
		}, "a.fk", []string{"no-such-command-anywhere", "lsp.servers.fake.command"}},
		"no server": {nil, nil, "a.unknown", []string{"no language server"}},
		"silent":    {[]string{"silent"}, nil, "a.fk", []string{"fake gave no verdict", "timeout"}},
		"crashing":  {[]string{"crash=1"}, nil, "a.fk", []string{"fake"}},
		"lying":     {[]string{"lies-pull=error"}, nil, "a.fk", []string{"fake"}},
		"dead":      {[]string{"crash-init"}, nil, "a.fk", []string{"giving up"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := tc.change
			if change == nil {
				change = func(*Settings) {}
			}
			f := newFaulty(t, tc.modes, map[string]string{"a.fk": "\n", "a.unknown": "\n"}, change)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			items, notice, err := f.s.Diagnostics(ctx, f.path(tc.file), "\n")
			if err != nil || len(items) != 0 || strings.Contains(notice, "\n") {
				t.Errorf("%+v, %v, %q", items, err, notice)
			}
			for _, part := range tc.says {
				if !strings.Contains(notice, part) {
					t.Errorf("%q does not say %q", notice, part)
				}
			}
		})
	}
}

func TestT04_RequestsEndAfterFiveSecondsAndAreCancelled(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"hang=textDocument/definition", "pull"}, map[string]string{"a.fk": "USES(x)\n"})
	began := time.Now()
	places, notice, err := f.s.Definition(context.Background(), f.path("a.fk"), "USES(x)\n", 1, 6)
	took := time.Since(began)
	if err != nil || len(places) != 0 || !strings.Contains(notice, "5s") {
		t.Errorf("%v, %q, %v", places, notice, err)
	}
	if took < requestTimeout || took > requestTimeout+2*slack {
		t.Errorf("it took %v", took)
	}
	f.server.Until("the cancellation", func() bool { return len(f.server.Received("$/cancelRequest")) > 0 })
	asked, cancelled := f.server.Received("textDocument/definition"), f.server.Received("$/cancelRequest")
	if len(asked) != 1 || len(cancelled) != 1 || cancelled[0].Param("id") != strings.Trim(string(asked[0].ID), `"`) {
		t.Errorf("asked %+v, cancelled %+v", asked, cancelled)
	}
	// The caller's own end is told as well, and the server goes on being of use.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := f.s.Definition(ctx, f.path("a.fk"), "USES(x)\n", 1, 6); err == nil {
		t.Error("a call whose context ended gave no error")
	}
	f.server.Until("the second cancellation", func() bool { return len(f.server.Received("$/cancelRequest")) == 2 })
	items, notice, err := f.s.Diagnostics(context.Background(), f.path("a.fk"), "USES(x)\n")
	if err != nil || notice != "" || len(items) != 1 {
		t.Errorf("%+v, %q, %v", items, notice, err)
	}
}
