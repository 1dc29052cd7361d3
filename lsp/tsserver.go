package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
)

// tsCommand is the way through typescript-language-server to tsserver's own requests.
const tsCommand = "typescript.tsserverRequest"

// tsDiagnostics asks tsserver directly. The publishes of typescript-language-server come 400 ms late,
// carry no version, and do not come at all for a file that was clean and still is.
func (in *instance) tsDiagnostics(ctx context.Context, c *client, d *document) ([]diag, error) {
	kinds := []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"}
	parts := make([][]diag, len(kinds))
	g, ctx := errgroup.WithContext(ctx)
	for i, kind := range kinds {
		g.Go(func() (err error) {
			parts[i], err = in.tsRequest(ctx, c, kind, d)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}

func (in *instance) tsRequest(ctx context.Context, c *client, kind string, d *document) ([]diag, error) {
	params := map[string]any{
		"command":   tsCommand,
		"arguments": []any{kind, map[string]any{"file": string(d.path)}},
	}
	var result json.RawMessage
	if err := c.conn.Call(ctx, "workspace/executeCommand", params, &result); err != nil {
		return nil, err
	}
	var r tsReport
	if len(result) == 0 || string(result) == "null" {
		return nil, errors.New("tsserver gave no answer")
	}
	if err := decode(result, &r); err != nil {
		return nil, err
	}
	if r.Success != nil && !*r.Success {
		return nil, errors.New("tsserver: " + r.Message)
	}
	return r.diags(), nil
}
