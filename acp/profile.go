package acp

import "strings"

// profile is what is known of an editor beyond what it advertises. It may change how things are
// shown and which of two right ways is taken, never what is allowed. The zero value is an editor
// that does what the protocol says.
type profile struct {
	name string
	// servesDisk: fs/read_text_file is known to give the file, not the unsaved text that the protocol
	// asks for. Of all others the text that differs from the disk is what the user sees; an edit of the
	// file's own text would wipe it out.
	servesDisk bool
	// firstDiffOnly: only the first diff of a tool call is shown, so each file is asked for by itself.
	firstDiffOnly bool
	// othersBehind: with firstDiffOnly, the diffs of the other files stand behind it all the same.
	othersBehind bool
	// lateContent: an update with content only, while a permission request is open, is shown
	// and does not end the request.
	lateContent bool
	// commandLine: the command of terminal/create goes through a shell as it is, without quoting
	// of arguments, so the whole line must be in it.
	commandLine bool
}

// profiles by the lower-cased start of clientInfo.name, the first that fits wins.
var profiles = []struct {
	prefix string
	profile
}{
	{"acpx", profile{name: "acpx", servesDisk: true, lateContent: true}},
	{"acp-agent", profile{name: "headless", servesDisk: true, lateContent: true}},
	{"zed", profile{name: "zed", commandLine: true}},
	{"vscode-acp", profile{name: "vscode", lateContent: true, commandLine: true}},
	{"jetbrains", profile{name: "jetbrains"}},
	{"codecompanion", profile{name: "codecompanion", servesDisk: true, firstDiffOnly: true}},
	{"agent-shell", profile{name: "agent-shell", firstDiffOnly: true}},
}

// profileOf finds the profile of an editor by the name it gave. Those that give none may be libraries
// for editors of text, which are known to show one diff at a time, or may show all.
func profileOf(name string) profile {
	if name == "" {
		return profile{name: "unnamed", firstDiffOnly: true, othersBehind: true}
	}
	name = strings.ToLower(name)
	for _, p := range profiles {
		if strings.HasPrefix(name, p.prefix) {
			return p.profile
		}
	}
	return profile{}
}
