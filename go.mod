module acp-agent

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0 // syntax: a TOML parser
	github.com/aymanbagabas/go-udiff v0.4.2 // edits, provenance: line diffs and unified output
	github.com/bmatcuk/doublestar/v4 v4.10.4 // globs with ** in tools, rules and watchers
	github.com/coder/acp-go-sdk v0.13.5 // acp: the types of the protocol
	github.com/go-json-experiment/json v1.27.2 // wire: one-pass JSON checks; lsp: what go.lsp.dev/protocol decodes with
	github.com/goccy/go-yaml v1.19.2 // config, scripted models: strict YAML with positions
	github.com/gofrs/flock v0.13.2 // file locks between processes on every system
	github.com/google/go-cmp v0.7.0 // tests: readable differences
	github.com/google/uuid v1.6.0 // sortable ids of sessions and proposals
	github.com/gowebpki/jcs v1.0.2 // provenance: canonical JSON (RFC 8785) under the hash chain
	github.com/rogpeppe/go-internal v1.16.0 // tests: txtar archives and testscript
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests: every line that we send against the protocol's schema
	github.com/spf13/cobra v1.10.2 // cmd: commands, flags, help, completion
	github.com/vbauerster/mpb/v8 v8.16.2 // cmd: progress of an installation
	go.lsp.dev/protocol v1.0.1 // lsp: the types of LSP 3.18
	go.lsp.dev/uri v1.0.1 // lsp: the URI type of those types
	go.uber.org/goleak v1.3.0 // tests: no goroutine without an owner
	golang.org/x/sync v0.25.0 // errgroup, singleflight
	golang.org/x/sys v0.50.0 // descriptors, process groups, extended attributes, job objects
	golang.org/x/term v0.48.0 // cmd: is this a terminal
	golang.org/x/text v0.44.0 // workspace: encodings other than UTF-8 and UTF-16
	mvdan.cc/sh/v3 v3.14.1 // permissions, syntax: a shell parser
	pgregory.net/rapid v1.3.0 // tests: properties
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.30 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/vbauerster/cupwriter v0.0.5 // indirect
	go.lsp.dev/jsonrpc2 v1.0.1 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
