package acp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/model"
	"acp-agent/internal/workspace"
)

// lineRange is the #L10-20 (or #L10:20, #L10) of a link; zero when there is none.
type lineRange struct{ from, to int }

var rangePattern = regexp.MustCompile(`^L?(\d+)(?:[-:]L?(\d+))?$`)

// parseRange reads the fragment of a URI. What is no line range is none.
func parseRange(fragment string) lineRange {
	m := rangePattern.FindStringSubmatch(fragment)
	if m == nil {
		return lineRange{}
	}
	r := lineRange{}
	r.from, _ = strconv.Atoi(m[1])
	r.to = r.from
	if m[2] != "" {
		r.to, _ = strconv.Atoi(m[2])
	}
	if r.from < 1 || r.to < r.from {
		return lineRange{}
	}
	return r
}

// cut gives the lines of the range, and the whole text for the zero range.
func (r lineRange) cut(s string) string {
	if r.from == 0 {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	if r.from > len(lines) {
		return ""
	}
	return strings.Join(lines[r.from-1:min(r.to, len(lines))], "")
}

func (r lineRange) String() string {
	if r.from == 0 {
		return ""
	}
	return fmt.Sprintf(" (lines %d to %d)", r.from, r.to)
}

// attached is a text part with a file's content. The frame says what it is, so that the model takes
// it as data.
func attached(label, uri, note, body string) model.Part {
	return model.Part{Text: fmt.Sprintf("<attached name=%q uri=%q%s>\n%s\n</attached>", label, uri, note, inFrame("attached", body))}
}

// inFrame keeps a text from ending the frame that it stands in, and going on as somebody else's words.
func inFrame(tag, body string) string { return strings.ReplaceAll(body, "</"+tag, "<\\/"+tag) }

// onlyLink tells the model of something that it was not given, and why.
func onlyLink(label, uri, why string) model.Part {
	return model.Part{Text: fmt.Sprintf("<link name=%q uri=%q>%s</link>", label, uri, why)}
}

// linkParts reads a linked file, the editor's unsaved text first, up to the limit. Every way in which
// it cannot be read is told to the model; none is an error of the prompt.
func (t *turn) linkParts(ctx context.Context, l *sdk.ContentBlockResourceLink, info model.Info) []model.Part {
	label := l.Name
	if l.Title != nil && *l.Title != "" {
		label = *l.Title
	}
	p, lines, ok := t.linkPath(l.Uri)
	if !ok {
		return []model.Part{onlyLink(label, l.Uri, "not a file of this machine; only the link is known")}
	}
	if label == "" {
		label = p.Base()
	}
	if !t.mayRead(ctx, p) {
		return []model.Part{onlyLink(label, l.Uri, "the user did not allow reading it")}
	}
	limit := t.srv.o.Config.Limits.ResourceBytes
	f, err := t.files.Read(ctx, p)
	switch {
	case err == nil && !f.Exists:
		return []model.Part{onlyLink(label, l.Uri, "the file does not exist")}
	case err == nil:
		t.seen.add(p)
		body, cutNote := capText(lines.cut(f.Text), limit)
		return []model.Part{attached(label, l.Uri, lines.String()+cutNote, body)}
	case errors.Is(err, workspace.ErrTooLarge), errors.Is(err, workspace.ErrBinary):
		return []model.Part{rawFile(p, label, l.Uri, limit, info)}
	}
	return []model.Part{onlyLink(label, l.Uri, err.Error())}
}

// linkPath is the file that a link names: an absolute path or a file URI of this machine.
func (t *turn) linkPath(uri string) (workspace.Path, lineRange, bool) {
	if p, err := workspace.ParsePath(uri); err == nil {
		return p, lineRange{}, true
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return "", lineRange{}, false
	}
	lines := parseRange(u.Fragment)
	u.Fragment, u.RawFragment = "", ""
	p, err := t.roots.Resolve(u.String())
	return p, lines, err == nil
}

// rawFile takes what the text reader refuses: an image, or the beginning of a large text.
func rawFile(p workspace.Path, label, uri string, limit int, info model.Info) model.Part {
	f, st, err := workspace.OpenRegular(p)
	if err != nil {
		return onlyLink(label, uri, err.Error())
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil {
		return onlyLink(label, uri, err.Error())
	}
	whole := st.Size() <= int64(limit)
	mime := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(mime, "image/") && whole && info.Images:
		return model.Part{Image: &model.Media{MIME: mime, Data: data}}
	case strings.HasPrefix(mime, "image/"):
		return onlyLink(label, uri, fmt.Sprintf("an image of %d bytes that cannot be shown to this model", st.Size()))
	case !utf8.Valid(trimRune(data)) || strings.ContainsRune(string(data), 0):
		return onlyLink(label, uri, fmt.Sprintf("binary, %s, %d bytes", mime, st.Size()))
	}
	return attached(label, uri, fmt.Sprintf(" (the first %d of %d bytes)", len(data), st.Size()), string(trimRune(data)))
}

// resourceParts takes an embedded resource, whose text may be the editor's unsaved one.
func (t *turn) resourceParts(r *sdk.EmbeddedResourceResource, info model.Info) []model.Part {
	limit := t.srv.o.Config.Limits.ResourceBytes
	if r.TextResourceContents != nil {
		uri := r.TextResourceContents.Uri
		body, note := capText(r.TextResourceContents.Text, limit)
		return []model.Part{attached(uriName(uri), uri, note, body)}
	}
	uri := r.BlobResourceContents.Uri
	data, err := base64.StdEncoding.DecodeString(r.BlobResourceContents.Blob)
	if err != nil {
		return []model.Part{onlyLink(uriName(uri), uri, "its content is not valid base64")}
	}
	if len(data) > limit {
		return []model.Part{onlyLink(uriName(uri), uri, fmt.Sprintf("%d bytes, more than the limit of %d", len(data), limit))}
	}
	mime := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(mime, "image/") && info.Images:
		return []model.Part{{Image: &model.Media{MIME: mime, Data: data}}}
	case utf8.Valid(data) && !strings.ContainsRune(string(data), 0):
		return []model.Part{attached(uriName(uri), uri, "", string(data))}
	}
	return []model.Part{onlyLink(uriName(uri), uri, fmt.Sprintf("binary, %s, %d bytes", mime, len(data)))}
}

// uriName is the last element of a URI's path, for display.
func uriName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Path == "" {
		return uri
	}
	return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
}

// capText cuts s to limit bytes at a character and says so in a note.
func capText(s string, limit int) (body, note string) {
	if limit <= 0 || len(s) <= limit {
		return s, ""
	}
	body = string(trimRune([]byte(s[:limit])))
	return body, fmt.Sprintf(" (the first %d of %d bytes)", len(body), len(s))
}

// trimRune drops an incomplete character at the end of data that was cut.
func trimRune(data []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(data); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
