package config

import (
	"strings"
	"testing"
)

// Input on which the YAML library is known to panic is a fault of the file, not the end of the program.
func TestBrokenYAMLIsToldNotFatal(t *testing.T) {
	for _, text := range []string{"lsp:\n !0 #0", "model:\n !0 #0", "permissions: !0 #\n", "a: &a [*a"} {
		if _, err := Parse("config.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%q: error %v, want one that names the file", text, err)
		}
	}
}
