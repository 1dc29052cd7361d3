package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// verbatim is JSON that is written as it is, valid or not.
type verbatim string

// rawString is a JSON string literal that keeps its bytes, half characters too.
func rawString(s string) verbatim {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return verbatim(b.String())
}

// marshal writes JSON that may hold verbatim parts, which encoding/json would mend. Strings that end
// inside a character keep their bytes as well.
func marshal(v any) []byte {
	var b bytes.Buffer
	write(&b, v)
	return b.Bytes()
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case verbatim:
		b.WriteString(string(v))
	case string:
		b.WriteString(string(rawString(v)))
	case object:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, k)
			b.WriteByte(':')
			write(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, e)
		}
		b.WriteByte(']')
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(raw)
	}
}
