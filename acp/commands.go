package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/permissions"
)

// slash is one slash command. run gives the text for the user; a rest that is not empty goes on as
// the prompt in the command's place.
type slash struct {
	name, description, hint string
	run                     func(t *turn, ctx context.Context, args string) (say, rest string, err error)
}

// slashes are the commands that exist; a prompt with any other /word goes to the model as it is. It
// is a function since /help lists it.
func slashes() []slash {
	return []slash{
		{"help", "List the commands of this agent", "", (*turn).slashHelp},
		{"plan", "Switch to plan mode: read and propose, change nothing", "what to plan", (*turn).slashPlan},
		{"mode", "Show or set the mode", "mode", (*turn).slashMode},
		{"model", "Show or set the model", "provider/model", (*turn).slashModel},
		{"diagnostics", "Show a file's diagnostics", "path", (*turn).slashDiagnostics},
		{"lsp", "Show the language servers", "", (*turn).slashLSP},
	}
}

// slashLine is the first line of a prompt that begins like a slash command. Only prompts of text are
// looked at: a path or a longer text that happens to begin with a slash is no command by its name.
func slashLine(blocks []block) (string, bool) {
	if blocks[0].kind != "text" || !strings.HasPrefix(blocks[0].text, "/") {
		return "", false
	}
	return strings.TrimSpace(blocks[0].text[1:]), true
}

// command runs a slash command. handled is false when the prompt goes on to the model as rest.
func (t *turn) command(ctx context.Context, line string) (rest string, handled bool, err error) {
	name, args, _ := strings.Cut(line, " ")
	if i := strings.IndexByte(name, '\n'); i >= 0 {
		name, args = name[:i], line[i+1:]
	}
	list := slashes()
	i := slices.IndexFunc(list, func(c slash) bool { return c.name == name })
	if i < 0 {
		return "/" + line, false, nil
	}
	say, rest, err := list[i].run(t, ctx, strings.TrimSpace(args))
	if err != nil {
		return "", true, err
	}
	if say != "" {
		t.Begin()
		t.Say(say)
		t.Begin()
	}
	return rest, rest == "", nil
}

// tellCommands sends the list of commands.
func (o *session) tellCommands(context.Context) {
	list := []sdk.AvailableCommand{}
	for _, c := range slashes() {
		command := sdk.AvailableCommand{Name: c.name, Description: c.description}
		if c.hint != "" {
			command.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.hint}}
		}
		list = append(list, command)
	}
	o.notify(commandsUpdate{Kind: "available_commands_update", Commands: list})
}

func (t *turn) slashHelp(context.Context, string) (string, string, error) {
	var b strings.Builder
	for _, c := range slashes() {
		hint := ""
		if c.hint != "" {
			hint = " [" + c.hint + "]"
		}
		fmt.Fprintf(&b, "- `/%s%s` %s\n", c.name, hint, c.description)
	}
	return b.String(), "", nil
}

func (t *turn) slashPlan(ctx context.Context, args string) (string, string, error) {
	if err := t.policy.SetMode(permissions.ModePlan); err != nil {
		return "", "", invalidParams("%v", err)
	}
	t.tellMode(ctx)
	if args != "" {
		return "", args, nil
	}
	return "Plan mode: nothing is changed until you choose another mode.\n", "", nil
}

func (t *turn) slashMode(ctx context.Context, args string) (string, string, error) {
	if args != "" {
		if err := t.policy.SetMode(permissions.Mode(args)); err != nil {
			return fmt.Sprintf("%v\n", err), "", nil
		}
		t.tellMode(ctx)
	}
	var b strings.Builder
	now := t.policy.Mode()
	for _, v := range t.modeValues() {
		mark := " "
		if v.Value == string(now) {
			mark = "*"
		}
		fmt.Fprintf(&b, "- `%s`%s %s\n", v.Value, mark, v.Description)
	}
	return b.String(), "", nil
}

func (t *turn) slashModel(ctx context.Context, args string) (string, string, error) {
	if args != "" {
		if err := t.choose(ctx, optionModel, args); err != nil {
			return fmt.Sprintf("%v\n", err), "", nil
		}
		t.tellOptions(ctx)
	}
	m, err := t.findModel(ctx)
	if err != nil {
		return fmt.Sprintf("%v\n", err), "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Model: `%s`\n", m.Info().ID)
	for _, info := range t.srv.o.Models.List(ctx) {
		fmt.Fprintf(&b, "- `%s`\n", info.ID)
	}
	return b.String(), "", nil
}

func (t *turn) slashDiagnostics(ctx context.Context, args string) (string, string, error) {
	if t.lang == nil {
		return "The language-server layer is switched off.\n", "", nil
	}
	if args == "" {
		return "Name a file: `/diagnostics path`\n", "", nil
	}
	p, err := t.roots.Resolve(args)
	if err != nil {
		return fmt.Sprintf("%v\n", err), "", nil
	}
	if !t.mayRead(ctx, p) {
		return "Reading that file was not allowed.\n", "", nil
	}
	out, err := t.env.Language.Diagnostics(ctx, p)
	if err != nil {
		return fmt.Sprintf("%v\n", err), "", nil
	}
	return out + "\n", "", nil
}

func (t *turn) slashLSP(context.Context, string) (string, string, error) {
	if t.lang == nil {
		return "The language-server layer is switched off.\n", "", nil
	}
	return serverTable(t.srv.o.Language.Status(), t.roots.Cwd()), "", nil
}

// serverTable is the status of the servers that run or were tried, as a list.
func serverTable(list []lsp.ServerStatus, cwd workspace.Path) string {
	var b strings.Builder
	for _, s := range list {
		if s.Root == "" {
			continue
		}
		fmt.Fprintf(&b, "- `%s` %s in %s", s.ID, s.State, s.Root.Rel(cwd))
		if s.Reason != "" {
			fmt.Fprintf(&b, ": %s", s.Reason)
		}
		if s.Verdicts > 0 {
			fmt.Fprintf(&b, " (%d verdicts, median %.0f ms)", s.Verdicts, s.P50)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "No language server runs yet; they start with the first edit of a file that they serve.\n"
	}
	return b.String()
}
