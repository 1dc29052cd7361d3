//go:build unix

package edits

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func BenchmarkPropose(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		old, _ := scattered(n, 0)
		w := newWorld(b, tree{"f": old})
		lines := rawLines(old)
		at := n / 2
		unique := "// the middle of the file\n"
		text := strings.Join(lines[:at], "") + unique + strings.Join(lines[at:], "")
		w.put("f", text)
		for name, call := range map[string]call{
			"replace":  rp("f", unique, unique+"more\n"),
			"tolerant": rp("f", strings.TrimSpace(unique)+"  \n"+strings.TrimSuffix(lines[at], "\n"), "x"),
			"patch":    ap("*** Update File: f", "@@", "-"+strings.TrimSpace(unique), "+x"),
			"write":    wf("f", strings.Replace(text, unique, "x\n", 1)),
			"no match": rp("f", "// the middle of the filx\nand more\n", "x"),
		} {
			b.Run(fmt.Sprintf("lines=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					p, err := call(b.Context(), w)
					if err != nil {
						if name == "no match" {
							continue
						}
						b.Fatal(err)
					}
					// What the title, the location and the diff of the question need.
					p.Counts()
					p.Changes[0].FirstChangedLine()
					p.Changes[0].Hunks(3)
				}
			})
		}
	}
}

func BenchmarkApply(b *testing.B) {
	text, _ := scattered(1000, 0)
	w := newWorld(b, tree{"f": text})
	for n := 0; b.Loop(); n++ {
		p, err := wf("f", fmt.Sprintf("%d\n%s", n, text))(b.Context(), w)
		if err != nil {
			b.Fatal(err)
		}
		p.State = Approved
		if _, err := p.Apply(b.Context(), w.files, &journal{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTwoSyncs is what a disk takes for the two flushes that an edit cannot do without.
func BenchmarkTwoSyncs(b *testing.B) {
	w := newWorld(b, nil)
	dir, err := os.Open(string(w.dir))
	w.try(err)
	defer dir.Close()
	for n := 0; b.Loop(); n++ {
		f, err := os.Create(string(w.path("f.tmp")))
		w.try(err)
		_, err = fmt.Fprintf(f, "%d\n", n)
		w.try(err)
		w.try(f.Sync())
		w.try(f.Close())
		w.try(os.Rename(string(w.path("f.tmp")), string(w.path("f"))))
		w.try(dir.Sync())
	}
}

// BenchmarkEqualLines is a file of equal lines, where everything fits everywhere.
func BenchmarkEqualLines(b *testing.B) {
	w := newWorld(b, tree{"f": strings.Repeat("eeee eeee\n", 400_000)})
	for name, call := range map[string]call{
		"replace":     rp("f", "e", "x"),
		"replace all": rpAll("f", "e", "xx"),
		"patch":       ap("*** Update File: f", "-eeee eeee", "+x"),
		"anchors":     ap("*** Update File: f", "@@ eeee", "@@ eeee", "-eeee eeee", "+x"),
		"no match":    rp("f", "zzz\nyyyy eee", "q"),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := call(b.Context(), w); (err == nil) != (name == "replace all") {
					b.Fatal(err)
				}
			}
		})
	}
}
