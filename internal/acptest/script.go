package acptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/acptest/lspserver"
)

// Setup is what a scenario gives the agent that it starts.
type Setup struct {
	Home     string // our home; its parent exists
	UserHome string
	Config   string // content of config.yaml, "" for none
	Model    string // name of the model, scripted unless the scenario says otherwise
	Environ  []string
}

// NewAgent makes an agent in this process from a setup; the recorder sees what its models are told.
type NewAgent func(t testing.TB, s Setup) (Serve, *Recorder)

// RunScripts plays each scenario of a folder: a txtar file whose first part is a testscript with
// the commands below besides testscript's own (cmp, cp, exists, mkdir, rm, chmod, symlink, exec…).
// The files become the session's cwd, but for these two:
//
//	-- model --    the scripted model, YAML
//	-- config --   config.yaml
//
// $OUT is a folder outside every root, $WORK the folder of the files, $HOME_DIR the agent's home;
// in the two files above $OUT and $WORK are replaced as well, and in config.yaml $PARTS, the folder of
// the test parts. Text in single quotes may hold Go's
// escapes (\n, \r, \xNN) where a command says "text".
//
//	editor open [PROFILE]            start the agent, initialize, open a session in the current folder
//	editor close | editor hold METHOD | editor resume METHOD | editor fail METHOD
//	session NAME                     open one more session here, or go back to it; the first is "main"
//	mode ID | option ID VALUE        session/set_mode, session/set_config_option
//	prompt 'text'                    send a prompt and go on
//	cancel                           session/cancel, without answering what is asked
//	auto ANSWER | auto off           answer all later permission requests
//	await permission                 a question that is not answered yet
//	await REASON                     the oldest open prompt ends with this stop reason
//	await error CODE                 … with this error
//	await text 'text'                the agent has said this
//	await call N REGEXP              the tool call shows this text
//	answer OPTION                    an option's id, or cancelled, bogus, error, null, never
//	permission title REGEXP | options ID… | diffs N | diff PATH OLD|null NEW | changed PATH N | text REGEXP
//	permissions N                    so many questions so far
//	call N STATUS | N title REGEXP | N kind KIND | N at PATH | N text REGEXP
//	calls N                          so many tool calls in this session
//	result [N] ok | error | code CODE | contains 'text' | matches REGEXP | below BYTES
//	lines below BYTES                every line of the agent is shorter
//	requests N                       the model was asked so many times
//	history                          every request's history is one that providers take
//	said 'text'                      what the agent said in this session, whole
//	updates                          the session's updates on stdout, for cmp
//	provenance none | provenance N   applied records in the agent's home
//	put PATH 'text' | holds PATH 'text' | buffer PATH 'text' | perm PATH MODE | readlink PATH TARGET
//
//	told 'text'                      the model was told this, by a tool result or as a message such as late diagnostics
//	clock start | clock below MS     since the start so many milliseconds at most have gone by
//
// With a language server that misbehaves (see package lspserver for its modes and its rules):
//
//	lspserver MODE…                  its command line takes the place of $LSPSERVER in config.yaml
//	lsplog received METHOD N | contains METHOD 'text' | order 'METHOD text' 'METHOD text'
//	lsplog answers METHOD 'json'     its requests of this method were all answered so ('error CODE' too)
//	lsplog holds PATH 'text'         the last text that it had of a file
//	lsplog starts N | gone SECONDS   processes so far; all of them end within the time
//
// With the built program instead of an agent in the test's process (results cannot be looked at then):
//
//	program open [PROFILE] | close | signal TERM|KILL | exits SECONDS
//
// Only "! holds", "! told", "! result … contains" and "! lsplog contains" may be negated.
func RunScripts(t *testing.T, dir string, agent NewAgent, update bool) {
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: update,
		Setup:         func(env *testscript.Env) error { return setUpScript(t, env, agent) },
		Cmds:          scriptCommands(),
	})
}

type worldKey struct{}

// world is one running scenario.
type world struct {
	*scriptTB
	agent    NewAgent
	setup    Setup
	recorder *Recorder
	editor   *Editor
	sessions map[string]string // name -> id
	current  string            // name
	open     map[string][]*Call
	last     *Permission // the question that permission and answer are about
	server   *lspserver.Server
	program  *Process  // nil for an agent in this process
	clock    time.Time // when clock start was said
}

// scriptTB lets an editor's complaints fail the scenario it belongs to, at the command that runs.
type scriptTB struct {
	testing.TB
	env      *testscript.Env
	ts       *testscript.TestScript
	problems lockedBuffer
}

// Errorf keeps a complaint for the end of the running command.
func (s *scriptTB) Errorf(format string, args ...any) {
	s.problems.printf(format+"\n", args...)
}

// Fatalf ends the scenario.
func (s *scriptTB) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

// Fatal ends the scenario.
func (s *scriptTB) Fatal(args ...any) { s.ts.Fatalf("%v", args) }

// Logf logs to the scenario's own test.
func (s *scriptTB) Logf(format string, args ...any) { s.env.T().Log(fmt.Sprintf(format, args...)) }

// Helper does nothing: the script's lines are what a reader wants to see.
func (s *scriptTB) Helper() {}

// Cleanup runs f at the end of the scenario.
func (s *scriptTB) Cleanup(f func()) { s.env.Defer(f) }

// Failed is always true, so that the conversation is logged; go test shows it on failure only.
func (s *scriptTB) Failed() bool { return true }

// setUpScript prepares a scenario: model and config leave the workspace for the agent's home.
func setUpScript(t *testing.T, env *testscript.Env, agent NewAgent) error {
	side, err := os.MkdirTemp("", "acp-agent-script-")
	if err != nil {
		return err
	}
	if side, err = filepath.EvalSymlinks(side); err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(side) })
	w := &world{scriptTB: &scriptTB{TB: t, env: env}, agent: agent, sessions: map[string]string{}, open: map[string][]*Call{}}
	outside, user := filepath.Join(side, "outside"), filepath.Join(side, "user")
	for _, dir := range []string{outside, user} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
	}
	expand := strings.NewReplacer("$OUT", outside, "$WORK", env.WorkDir)
	model, err := takeMember(env.WorkDir, "model", expand)
	if err != nil {
		return err
	}
	if model == "" {
		model = "turns: []\n"
	}
	modelFile := filepath.Join(side, "model.yaml")
	if err := os.WriteFile(modelFile, []byte(model), 0o666); err != nil {
		return err
	}
	config, err := takeMember(env.WorkDir, "config", expand)
	if err != nil {
		return err
	}
	parts := ""
	if strings.Contains(config, "$PARTS") {
		parts = Parts(t)
		config = strings.ReplaceAll(config, "$PARTS", parts)
	}
	w.setup = Setup{
		Home: filepath.Join(side, "home"), UserHome: user, Config: config, Model: "scripted/" + modelFile,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + user, "TERM=dumb", "LANG=C.UTF-8"},
	}
	env.Setenv("OUT", outside)
	env.Setenv("PARTS", parts)
	env.Setenv("HOME_DIR", w.setup.Home)
	env.Values[worldKey{}] = w
	env.Defer(func() {
		if text := w.problems.String(); text != "" {
			env.T().Fatal(text)
		}
	})
	return nil
}

// takeMember reads a file of the archive and removes it from the workspace.
func takeMember(dir, name string, expand *strings.Replacer) (string, error) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return expand.Replace(string(data)), os.Remove(path)
}

type command func(w *world, neg bool, args []string)

// scriptCommands are the commands of RunScripts; each fails the scenario with what the editor has
// complained of meanwhile.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	negatable := map[string]bool{"holds": true, "result": true, "lsplog": true, "told": true}
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range map[string]command{
		"editor": editorCmd, "session": sessionCmd, "mode": modeCmd, "prompt": promptCmd, "cancel": cancelCmd, "auto": autoCmd,
		"await": awaitCmd, "answer": answerCmd, "permission": permissionCmd, "permissions": permissionsCmd,
		"call": callCmd, "calls": callsCmd, "result": resultCmd, "requests": requestsCmd, "history": historyCmd,
		"said": saidCmd, "lines": linesCmd, "updates": updatesCmd, "provenance": provenanceCmd,
		"lspserver": lspserverCmd, "lsplog": lsplogCmd, "told": toldCmd, "clock": clockCmd, "option": optionCmd, "program": programCmd,
		"put": putCmd, "holds": holdsCmd, "buffer": bufferCmd, "perm": permCmd, "readlink": readlinkCmd,
	} {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			w := ts.Value(worldKey{}).(*world)
			w.ts = ts
			if neg && !negatable[name] {
				ts.Fatalf("%s cannot be negated", name)
			}
			run(w, neg, args)
			if text := w.problems.take(); text != "" {
				ts.Fatalf("%s", text)
			}
		}
	}
	return cmds
}
