package providers

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Local is a program that serves models on this machine.
type Local struct {
	Provider string // first half of its models' names
	Title    string // for people
	Address  string // host:port where it listens by itself
	HostEnv  string // variable that changes the address
	Ollama   bool   // has Ollama's own lists beside /v1/models
}

// LocalServers are those that are looked for, the preferred one first.
var LocalServers = []Local{
	{Provider: "ollama", Title: "Ollama", Address: "127.0.0.1:11434", HostEnv: "OLLAMA_HOST", Ollama: true},
	{Provider: "lmstudio", Title: "LM Studio", Address: "127.0.0.1:1234"},
	{Provider: "llamacpp", Title: "llama.cpp", Address: "127.0.0.1:8080"},
	{Provider: "vllm", Title: "vLLM", Address: "127.0.0.1:8000"},
}

// localBase is the address of a local server's OpenAI-compatible API.
func (r *Resolver) localBase(l Local) string {
	host := ""
	if l.HostEnv != "" {
		host = r.cfg.Getenv(l.HostEnv)
	}
	return localURL(host, l.Address) + "/v1"
}

// localURL reads what Ollama takes as OLLAMA_HOST: a host, a port, both, or a URL. An address that a
// server listens on everywhere with (0.0.0.0) is this machine for a client. address is the default.
func localURL(value, address string) string {
	defaultHost, defaultPort, _ := net.SplitHostPort(address)
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	if value == "" {
		return "http://" + address
	}
	scheme, rest, ok := strings.Cut(value, "://")
	switch {
	case !ok:
		scheme, rest = "http", value
	case scheme == "https":
		defaultPort = "443"
	default:
		defaultPort = "80"
	}
	rest, path, _ := strings.Cut(rest, "/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), defaultPort
	}
	if port == "" {
		port = defaultPort
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = defaultHost
	}
	out := scheme + "://" + net.JoinHostPort(host, port)
	if path = strings.Trim(path, "/"); path != "" {
		out += "/" + path
	}
	return out
}

// loopback says that an address is on this machine, so that probing it tells nobody anything.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}
