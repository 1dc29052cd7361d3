package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the release build (-ldflags "-X main.version=1.2.3").
var version = "0.1.0"

// acpVersions are the protocol versions that this build speaks.
var acpVersions = []int{1}

// versionInfo is what `version --json` prints.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	ACP     []int  `json:"acp"`
}

// buildInfo reads the commit that the Go tool stamped, when it did.
func buildInfo() versionInfo {
	v := versionInfo{Version: version, Commit: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, ACP: acpVersions}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go version and ACP versions",
		Example: "  acp-agent version --json",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(buildInfo())
			}
			printVersion(c)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printVersion(c *cobra.Command) {
	v := buildInfo()
	fmt.Fprintf(c.OutOrStdout(), "acp-agent %s\ncommit %s\n%s %s/%s\nACP %s\n", v.Version, v.Commit, v.Go, v.OS, v.Arch, spoken())
}

// spoken lists the protocol versions for people.
func spoken() string {
	words := make([]string, len(acpVersions))
	for i, v := range acpVersions {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, ", ")
}
