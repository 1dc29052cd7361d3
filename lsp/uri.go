package lsp

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"

	"acp-agent/internal/workspace"
)

// toURI spells a path as a file URI, every byte escaped that a server could read in two ways.
func toURI(p workspace.Path) string { return pathToURI(string(p), runtime.GOOS == "windows") }

// fromURI is the path of a file URI in whatever equivalent spelling (case G-L04), cleaned.
func fromURI(u string) (workspace.Path, error) {
	p, err := uriToPath(u, runtime.GOOS == "windows")
	if err != nil {
		return "", err
	}
	return workspace.ParsePath(p)
}

func pathToURI(p string, windows bool) string {
	if windows {
		p = strings.ReplaceAll(p, `\`, "/")
		if len(p) >= 2 && p[1] == ':' {
			p = "/" + strings.ToLower(p[:1]) + p[1:]
		}
	}
	prefix := "file://"
	if strings.HasPrefix(p, "//") { // \\host\share
		prefix = "file:"
	}
	const plain = "-._~/"
	var b strings.Builder
	b.WriteString(prefix)
	for i := range len(p) {
		c := p[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// uriToPath decodes a file URI. On Windows drive letters become lower case and slashes turn.
func uriToPath(u string, windows bool) (string, error) {
	scheme, rest, ok := strings.Cut(u, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", fmt.Errorf("%q is no file URI", u)
	}
	rest, _, _ = strings.Cut(rest, "#")
	host := ""
	if strings.HasPrefix(rest, "//") {
		rest = rest[2:]
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return "", fmt.Errorf("%q has no path", u)
		}
		host, rest = rest[:i], rest[i:]
	}
	p, err := url.PathUnescape(rest) // "+" is a plus here
	if err != nil {
		p = rest // a stray per cent sign: taken as it stands
	}
	if !windows {
		return p, nil
	}
	p = strings.ReplaceAll(p, "/", `\`)
	if len(p) >= 3 && p[0] == '\\' && p[2] == ':' {
		return strings.ToLower(p[1:2]) + p[2:], nil
	}
	if host != "" && !strings.EqualFold(host, "localhost") {
		return `\\` + host + p, nil
	}
	return p, nil
}

// pathKey is what a document is looked up by: the path, and on Windows its lower-case form.
func pathKey(p workspace.Path) workspace.Path {
	if runtime.GOOS == "windows" {
		return workspace.Path(strings.ToLower(string(p)))
	}
	return p
}
