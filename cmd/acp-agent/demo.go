package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/acp/headless"
	"acp-agent/internal/config"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/provenance"
)

// The demo's project and what its scripted model says.
var (
	//go:embed demo/greet.go.txt
	demoSource []byte
	//go:embed demo/model.yaml
	demoModel []byte
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show one edit end to end, with nothing configured",
		Long: `demo makes a small Go project in a temporary folder and plays one turn through a real ACP session with
a real language server: proposal, foreseen errors, approval, applied file, fresh diagnostics, provenance.
The model is scripted: its answers are written down, nothing is sent anywhere. gopls is fetched into
<home>/lsp/bin when it is not there and Go and a network are.`,
		Example: "  acp-agent demo --keep",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c, keep) },
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the project and its records")
	return c
}

// demo plays the whole journey and prints each step.
func (a *app) demo(c *cobra.Command, keep bool) error {
	if err := a.load(); err != nil {
		return err
	}
	defer a.closeLog()
	ctx, out := c.Context(), c.OutOrStdout()
	dir, err := os.MkdirTemp("", "acp-agent-demo-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintf(out, "The project and its records stay in %s\n\n", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	fmt.Fprintln(out, "The model of this demo is scripted: its answers are written down beforehand. All else is real.")
	step(out, 1, "A small Go project, a git repository, in a temporary folder")
	project, err := demoProject(dir)
	if err != nil {
		return err
	}
	step(out, 2, "A language server")
	withServer := a.demoServer(ctx, out)

	// The language servers are the user's; settings, records and the log stay with the project.
	servers := a.config.LSP
	servers.Enabled = withServer
	servers.ForeseeBudgetMS = 30_000 // a cold server is worth waiting for, here
	language := a.languageFor(servers)
	a.config = config.Default()
	a.config.LSP.Enabled, a.config.LSP.ForeseeBudgetMS = servers.Enabled, servers.ForeseeBudgetMS
	a.config.Model = "scripted/" + filepath.Join(dir, "model.yaml")
	if a.home.Dir, err = workspace.ParsePath(filepath.Join(dir, "home")); err != nil {
		return err
	}
	if err := a.openLogFile(); err != nil {
		return err
	}
	step(out, 3, "A prompt, and what the model wants to change")
	if err := a.demoTurn(ctx, c, language, project); err != nil {
		return err
	}
	return a.demoRecords(out, project)
}

// demoTurn plays the turn; every question is shown, and answered with "allow once".
func (a *app) demoTurn(ctx context.Context, c *cobra.Command, language *lsp.Manager, project workspace.Path) error {
	const prompt = "Greet people by their name."
	out := c.OutOrStdout()
	s := screen(c, string(project))
	s.Side = out
	answer := func(_ context.Context, q headless.Question) headless.Answer {
		s.Proposal(q)
		fmt.Fprintln(out, "Allow? The demo answers for you: allow once")
		return headless.Answer{Option: headless.AllowOnce}
	}
	client, err := headless.Start(ctx, a.server(language, nil).Serve, headless.Options{
		Version: version, Logger: a.logger, Update: s.Update, Permission: answer,
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "> "+prompt)
	stop := ""
	session, err := client.NewSession(ctx, string(project))
	if err == nil {
		stop, err = client.Prompt(ctx, session.ID, prompt)
	}
	s.EndTurn()
	err = errors.Join(err, client.Close())
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer done()
	language.Close(closing)
	if err == nil && stop != "end_turn" {
		err = fmt.Errorf("the demo's turn ended with %s", stop)
	}
	return err
}

func step(out io.Writer, n int, text string) { fmt.Fprintf(out, "\n%d. %s\n", n, text) }

// demoProject writes the project and makes it a repository where git is there; without git the
// language-server layer would stay asleep, so a bare .git folder stands in for one.
func demoProject(dir string) (workspace.Path, error) {
	project, err := workspace.ParsePath(filepath.Join(dir, "greeter"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(string(project), 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(string(project.Join(".git")), 0o755); err != nil {
		return "", err
	}
	if git, err := exec.LookPath("git"); err == nil {
		cmd := exec.Command(git, "init", "-q", string(project))
		if msg, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git init: %w: %s", err, msg)
		}
	}
	files := map[workspace.Path][]byte{
		project.Join("go.mod"):                           []byte("module greeter\n\ngo 1.22\n"),
		project.Join("greet.go"):                         demoSource,
		workspace.Path(filepath.Join(dir, "model.yaml")): demoModel,
	}
	for p, data := range files {
		if err := os.WriteFile(string(p), data, 0o644); err != nil {
			return "", err
		}
	}
	return project, nil
}

// demoServer says which gopls is used, fetching it where it is absent and can be had.
func (a *app) demoServer(ctx context.Context, out io.Writer) bool {
	for _, s := range a.statusOf("gopls") {
		if len(s.Command) > 0 {
			fmt.Fprintf(out, "   gopls: %s\n", strings.Join(s.Command, " "))
			return true
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		fmt.Fprintln(out, "   no gopls and no Go to build it: the syntax check alone is shown")
		return false
	}
	fmt.Fprintf(out, "   gopls is not installed: fetching it into %s (once)\n", a.home.Dir.Join("lsp", "bin"))
	exe, err := a.install(ctx, "gopls")
	if err != nil {
		fmt.Fprintf(out, "   %v\n   the syntax check alone is shown\n", err)
		return false
	}
	fmt.Fprintf(out, "   gopls: %s\n", exe)
	return true
}

// demoRecords shows the file as it is now, and its records.
func (a *app) demoRecords(out io.Writer, project workspace.Path) error {
	step(out, 4, "The file on disk")
	text, err := os.ReadFile(string(project.Join("greet.go")))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "   "+strings.ReplaceAll(strings.TrimRight(string(text), "\n"), "\n", "\n   "))
	step(out, 5, "The provenance record")
	log, err := provenance.Open(string(a.home.Dir.Join("provenance")), project)
	if err != nil {
		return err
	}
	records, err := log.Records()
	if err != nil {
		return err
	}
	applied := 0
	for _, r := range records {
		by := ""
		if r.Decision != nil {
			by = fmt.Sprintf("allowed by %s (%s)", r.Decision.By, r.Decision.Option)
		}
		if r.Diagnostics != nil {
			by += fmt.Sprintf(", errors %d → %d", r.Diagnostics.Before, r.Diagnostics.After)
		}
		for _, f := range r.Files {
			fmt.Fprintf(out, "   %d %-8s %s %s  %.8s → %.8s  %s\n", r.Seq, r.Kind, f.Op, f.Path.Rel(project), f.Before, f.After, by)
		}
		if r.Kind == provenance.Applied {
			applied++
		}
	}
	logs, err := provenance.Logs(string(a.home.Dir.Join("provenance")))
	if err != nil {
		return err
	}
	for _, path := range logs {
		report, err := provenance.Verify(path)
		if err != nil {
			return err
		}
		if report.Problem != "" {
			return fmt.Errorf("the chain is broken at %d: %s", report.BadSeq, report.Problem)
		}
		fmt.Fprintf(out, "   %d records, chain intact\n", report.Records)
	}
	if applied == 0 {
		return errors.New("the demo applied no edit")
	}
	fmt.Fprintln(out, "\nThat was it. Point your editor at this program (run `acp-agent` on a terminal for how).")
	return nil
}

// statusOf gives the rows of one server as it would be used in the present folder.
func (a *app) statusOf(id string) []lsp.ServerStatus {
	m := a.language()
	var rows []lsp.ServerStatus
	for _, s := range m.Status() {
		if s.ID == id {
			rows = append(rows, s)
		}
	}
	return rows
}
