package lspserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the ways in which the server behaves. The zero value is a good server: it publishes
// findings with versions at once, for open documents, again when another file changes them.
type options struct {
	// publishing
	silent, silentClean, silentIdentical bool
	unversioned, stale, coalesce, serial bool
	dependents                           bool
	slow, slowOpen, double, late         time.Duration
	// pulling
	pull            string // "", static, dynamic
	lies            string // error, missing, never: static pull is announced and not served
	identifiers     bool
	kind            *string
	contentModified int
	serverCancelled int
	refreshes       int
	// talking
	asksFirst, oddURI, oddItems, incremental bool
	encoding                                 string
	hang, refuse                             map[string]bool
	warming                                  time.Duration
	warmingTitle                             string
	// framing and process
	stray, split, multibyte, stubborn, grandchild bool
	garbage, deaf                                 bool
	hangup                                        int
	stderr                                        int
	crashInit, crash, lives                       int
}

// modes is the table of what a test may ask for, as "name" or "name=value".
var modes = map[string]func(o *options, value string) error{
	// Says nothing about any text, and answers no pull.
	"silent": flag(func(o *options) { o.silent = true }),
	// Says nothing when a clean text stays clean (typescript-language-server).
	"silent-clean": flag(func(o *options) { o.silentClean = true }),
	// Says nothing about a change that changes nothing (clangd, dockerfile).
	"silent-identical": flag(func(o *options) { o.silentIdentical = true }),
	// Speaks of changes after so long, of every one.
	"slow": duration(func(o *options) *time.Duration { return &o.slow }),
	// Speaks of an opened document after so long.
	"slow-open": duration(func(o *options) *time.Duration { return &o.slowOpen }),
	// Says at every change once more what held before it, with the version of then.
	"stale": flag(func(o *options) { o.stale = true }),
	// Publishes without versions.
	"unversioned": flag(func(o *options) { o.unversioned = true }),
	// Of several changes only the newest is spoken of.
	"coalesce": flag(func(o *options) { o.coalesce = true }),
	// One look at a time, which ends with its words on the text that it began with.
	"serial": flag(func(o *options) { o.serial = true }),
	// Publishes nothing first, and what it found after so long.
	"double": duration(func(o *options) *time.Duration { return &o.double }),
	// Knows LATE(…) only in a second publish, after so long (gopls' analyzers).
	"late-second": duration(func(o *options) *time.Duration { return &o.late }),
	// Publishes for files that are not open as well (gopls).
	"dependents": flag(func(o *options) { o.dependents = true }),

	// Answers document pulls, announced in the capabilities or registered afterwards.
	"pull":         flag(func(o *options) { o.pull = "static" }),
	"pull-dynamic": flag(func(o *options) { o.pull = "dynamic" }),
	// Registers two identifiers, each with a share of the findings.
	"identifiers": flag(func(o *options) { o.pull, o.identifiers = "dynamic", true }),
	// Announces pull and answers it with error or missing (-32601, and publishes), or never.
	"lies-pull": word(func(o *options, v string) { o.pull, o.lies = "static", v }, "error", "missing", "never"),
	// What stands for "full" in a report: "" or unchanged.
	"kind": word(func(o *options, v string) { o.kind = &v }, "", "unchanged"),
	// Answers so many pulls with ContentModified or ServerCancelled first.
	"content-modified": number(func(o *options) *int { return &o.contentModified }),
	"server-cancelled": number(func(o *options) *int { return &o.serverCancelled }),
	// Asks so many times at every change to be asked again.
	"refresh-storm": number(func(o *options) *int { return &o.refreshes }),

	// Asks four things before it answers initialize, and waits for three of them (case G-L06).
	"asks-first": flag(func(o *options) { o.asksFirst = true }),
	// Spells URIs in another, equivalent way (case G-L04).
	"odd-uri": flag(func(o *options) { o.oddURI = true }),
	// Sends findings that no client can read among the good ones.
	"odd-items": flag(func(o *options) { o.oddItems = true }),
	// Takes changes by range.
	"incremental": flag(func(o *options) { o.incremental = true }),
	// Announces a position encoding: utf-8, utf-16, utf-32. Without it columns are UTF-16.
	"encoding": word(func(o *options, v string) { o.encoding = v }, "utf-8", "utf-16", "utf-32"),
	// Never answers a method, or refuses it with an error.
	"hang":   each(func(o *options) *map[string]bool { return &o.hang }),
	"refuse": each(func(o *options) *map[string]bool { return &o.refuse }),
	// Reports work under a title for so long after the start and finds nothing until it ends: TITLE:2s.
	"warming": warming,

	// Prints text between its messages on the standard output.
	"stray": flag(func(o *options) { o.stray = true }),
	// Writes a few bytes at a time, with odd headers.
	"split": flag(func(o *options) { o.split = true }),
	// Speaks in characters of several bytes.
	"multibyte": flag(func(o *options) { o.multibyte = true }),
	// Sends what is no message among its messages: broken JSON, lists, answers that nobody asked for.
	"garbage": flag(func(o *options) { o.garbage = true }),
	// Reads nothing any more once it is initialized.
	"deaf": flag(func(o *options) { o.deaf = true }),
	// Closes its output at the n-th text that it is told of, and runs on.
	"hangup": number(func(o *options) *int { return &o.hangup }),
	// Writes so many bytes to the standard error when it starts.
	"stderr": number(func(o *options) *int { return &o.stderr }),
	// Ignores SIGTERM, shutdown, exit and the end of its input.
	"stubborn": flag(func(o *options) { o.stubborn = true }),
	// Starts a process of its own, which ignores SIGTERM too.
	"grandchild": flag(func(o *options) { o.grandchild = true }),
	// Ends in the middle of initialize, or at the n-th text that it is told of.
	"crash-init": flag(func(o *options) { o.crashInit = 1 }),
	"crash":      number(func(o *options) *int { return &o.crash }),
	// The first so many processes crash; without it all of them.
	"lives": number(func(o *options) *int { return &o.lives }),
}

func parseModes(list []string) (options, error) {
	var o options
	for _, m := range list {
		name, value, _ := strings.Cut(m, "=")
		set := modes[name]
		if set == nil {
			return o, fmt.Errorf("no mode %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(modes)), ", "))
		}
		if err := set(&o, value); err != nil {
			return o, fmt.Errorf("mode %s: %w", m, err)
		}
	}
	return o, nil
}

func flag(set func(*options)) func(*options, string) error {
	return func(o *options, value string) error {
		if value != "" {
			return fmt.Errorf("takes no value")
		}
		set(o)
		return nil
	}
}

func duration(field func(*options) *time.Duration) func(*options, string) error {
	return func(o *options, value string) (err error) {
		*field(o), err = time.ParseDuration(value)
		return err
	}
}

func number(field func(*options) *int) func(*options, string) error {
	return func(o *options, value string) (err error) {
		*field(o), err = strconv.Atoi(value)
		return err
	}
}

func word(set func(*options, string), words ...string) func(*options, string) error {
	return func(o *options, value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("wants one of %q", words)
		}
		set(o, value)
		return nil
	}
}

func each(field func(*options) *map[string]bool) func(*options, string) error {
	return func(o *options, value string) error {
		m := field(o)
		if *m == nil {
			*m = map[string]bool{}
		}
		(*m)[value] = true
		return nil
	}
}

func warming(o *options, value string) (err error) {
	title, length, ok := strings.Cut(value, ":")
	if !ok {
		return fmt.Errorf("wants TITLE:DURATION")
	}
	o.warmingTitle = title
	o.warming, err = time.ParseDuration(length)
	return err
}

// crashes says whether this life is one that crashes.
func (o *options) crashes(life int) bool { return o.lives == 0 || life < o.lives }

// pushes says whether findings are published: a server that can be asked waits for that, unless it
// does not know its own announcement.
func (o *options) pushes() bool { return o.pull == "" || o.lies == "missing" }
