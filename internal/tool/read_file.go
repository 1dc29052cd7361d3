package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// Lines longer than this are cut, with a notice; naming a character gives up to longPiece of one.
const (
	maxLine   = 4000      // characters
	longPiece = 64 * 1024 // bytes
)

func readFile() *builtin {
	return &builtin{name: "read_file", group: groupFS, prepare: prepareRead, params: []param{
		need("path", "string", "File to read: absolute, or relative to the working directory."),
		may("offset", "integer", "First line to read, counted from 1."),
		may("limit", "integer", "How many lines to read."),
		may("character", "integer", "For a line too long to be shown whole: first character of line `offset` to read, counted from 1."),
	}}
}

// reading is one call of read_file.
type reading struct {
	env                      *Env
	path                     workspace.Path
	offset, limit, character int
}

func prepareRead(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("read_file", raw)
	r := &reading{env: env, path: a.path(env, "path"), offset: max(a.number("offset", 1, 0), 1),
		limit: a.number("limit", 0, 0), character: a.number("character", 0, 0)}
	if err := a.problem(); err != nil {
		return nil, err
	}
	limits := env.Limits.withDefaults()
	title := "Read " + shown(env, r.path)
	switch {
	case r.character > 0:
		title += fmt.Sprintf(" (line %d from character %d)", r.offset, r.character)
	case r.limit > 0:
		title += fmt.Sprintf(" (lines %d-%d)", r.offset, r.offset+r.limit-1)
	case r.offset > 1:
		title += fmt.Sprintf(" (from line %d)", r.offset)
	}
	if r.limit == 0 || r.limit > limits.ReadLines {
		r.limit = limits.ReadLines
	}
	return &Action{Title: title, Kind: KindRead, Parallel: true, Reads: []workspace.Path{r.path},
		Locations: []Location{{Path: r.path, Line: r.offset}},
		Run:       func(ctx context.Context, _ Progress) Result { return r.run(ctx) }}, nil
}

func (r *reading) run(ctx context.Context) Result {
	f, err := r.env.Files.Read(ctx, r.path)
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		return r.large()
	case err != nil:
		return r.failed(err)
	case !f.Exists:
		return failure{Error: fmt.Sprintf("%s does not exist.%s", r.path, similar(r.path)), Code: edits.CodeNotFound, Path: r.path.String()}.result()
	}
	notices := formatNotices(f)
	if f.Text == "" {
		return r.result("", append([]string{"The file is empty."}, notices...))
	}
	text := strings.ReplaceAll(f.Text, "\r\n", "\n")
	return r.cut(bufio.NewReader(strings.NewReader(text)), strings.Count(text, "\n")+unended(text), notices)
}

// large reads a part of a file that is too large to be held whole, straight from the disk.
func (r *reading) large() Result {
	f, _, err := workspace.OpenRegular(r.path)
	if err != nil {
		return r.failed(err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64*1024)
	head, _ := in.Peek(8000)
	if strings.ContainsRune(string(head), 0) {
		return r.failed(workspace.ErrBinary)
	}
	return r.cut(in, 0, []string{"The file is large; what is shown is read from the disk."})
}

// cut gives the lines that were asked for within the limits. total is the number of lines, 0 when
// it is not known.
func (r *reading) cut(in *bufio.Reader, total int, notices []string) Result {
	if total > 0 && r.offset > total {
		return failure{Error: fmt.Sprintf("offset %d is past the end: %s has %s.", r.offset, r.path, plural(total, "line", "lines")),
			Code: edits.CodeInvalidArguments, Path: r.path.String()}.result()
	}
	if r.character > 0 {
		return r.piece(in, notices)
	}
	budget := r.env.Limits.withDefaults().ReadBytes
	var b strings.Builder
	var long []string
	n, more := 0, false
	for line := 1; ; line++ {
		if line < r.offset {
			if _, err := skipLine(in); err != nil {
				return failure{Error: fmt.Sprintf("offset %d is past the end: %s has %s.", r.offset, r.path, plural(line-1, "line", "lines")),
					Code: edits.CodeInvalidArguments, Path: r.path.String()}.result()
			}
			continue
		}
		if _, err := in.Peek(1); err != nil {
			break
		}
		if n == r.limit || b.Len() >= budget {
			more = true
			break
		}
		text, length, cutOff := readLine(in, 1, maxLine*utf8.UTFMax)
		if cut := firstRunes(text, maxLine); cutOff || len(cut) < len(text) {
			text = cut + "…\n"
			if len(long) < 5 {
				long = append(long, fmt.Sprintf("Line %d is %d bytes long and was cut after %d characters. Read on with offset %d and character %d.",
					line, length, maxLine, line, maxLine+1))
			}
		}
		if n > 0 && b.Len()+len(text) > budget {
			more = true
			break
		}
		b.WriteString(text)
		n++
	}
	last := r.offset + n - 1
	if more || r.offset > 1 {
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total)
		}
		notice := fmt.Sprintf("Lines %d-%d%s.", r.offset, last, of)
		if more {
			notice += fmt.Sprintf(" There is more: read on with offset %d.", last+1)
		}
		notices = append([]string{notice}, notices...)
	}
	return r.result(b.String(), append(notices, long...))
}

// piece gives a part of one long line.
func (r *reading) piece(in *bufio.Reader, notices []string) Result {
	for line := 1; line < r.offset; line++ {
		if _, err := skipLine(in); err != nil {
			break
		}
	}
	text, length, more := readLine(in, r.character, longPiece)
	if text == "" {
		return failure{Error: fmt.Sprintf("character %d is past the end of line %d of %s.", r.character, r.offset, r.path),
			Code: edits.CodeInvalidArguments, Path: r.path.String()}.result()
	}
	last := r.character + utf8.RuneCountInString(strings.TrimSuffix(text, "\n")) - 1
	notice := fmt.Sprintf("Line %d (%d bytes), characters %d-%d.", r.offset, length, r.character, last)
	if more {
		notice += fmt.Sprintf(" There is more: read on with offset %d and character %d.", r.offset, last+1)
	}
	return r.result(text, append([]string{notice}, notices...))
}

func (r *reading) result(text string, notices []string) Result {
	return Result{Text: withNotices(text, notices...)}
}

// failed says why a file cannot be read, and what to do instead.
func (r *reading) failed(err error) Result {
	f := failure{Code: edits.CodeIO, Path: r.path.String()}
	switch info, statErr := os.Stat(r.path.String()); {
	case statErr == nil && info.IsDir():
		f.Code, f.Error = edits.CodeUnsupportedFile, fmt.Sprintf("%s is a folder. Use list_directory.", r.path)
	case errors.Is(err, workspace.ErrBinary) && statErr == nil:
		f.Code, f.Error = edits.CodeBinary, fmt.Sprintf("%s is a binary file (%d bytes, %s) and cannot be read as text.", r.path, info.Size(), mediaType(r.path))
	case errors.Is(err, workspace.ErrUnsupported):
		f.Code, f.Error = edits.CodeUnsupportedFile, fmt.Sprintf("%s is not a regular file and cannot be read.", r.path)
	case errors.Is(err, fs.ErrPermission):
		f.Error = fmt.Sprintf("%s cannot be read: permission denied by the operating system.", r.path)
	default:
		f.Error = fmt.Sprintf("%s cannot be read: %v.", r.path, err)
	}
	return f.result()
}

func mediaType(p workspace.Path) string {
	f, _, err := workspace.OpenRegular(p)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return http.DetectContentType(head[:n])
}

// formatNotices tell what is odd about a file's text, where an edit should know of it.
func formatNotices(f workspace.File) []string {
	var out []string
	switch f.Format.EOL {
	case workspace.CRLF:
		out = append(out, "The lines end with CRLF; edits keep that.")
	case workspace.CR, workspace.EOLMixed:
		out = append(out, "The line endings are unusual ("+string(f.Format.EOL)+"); edits keep those around them.")
	}
	if f.Format.Encoding != workspace.UTF8 && f.Format.Encoding != workspace.UTF8BOM && f.Format.Encoding != "" {
		out = append(out, "The file's encoding is "+string(f.Format.Encoding)+".")
	}
	if f.Unsaved {
		out = append(out, "This is the editor's text, which is not saved yet and differs from the disk.")
	}
	return out
}

// similar names a file beside p that may be meant.
func similar(p workspace.Path) string {
	entries, err := os.ReadDir(p.Dir().String())
	if err != nil {
		return fmt.Sprintf(" Its folder %s does not exist either.", p.Dir())
	}
	stem := func(s string) string { return strings.ToLower(strings.TrimSuffix(s, filepath.Ext(s))) }
	for _, e := range entries {
		if strings.EqualFold(e.Name(), p.Base()) || stem(e.Name()) == stem(p.Base()) {
			return fmt.Sprintf(" Did you mean %s?", p.Dir().Join(e.Name()))
		}
	}
	return " Use find_files to look for it."
}
