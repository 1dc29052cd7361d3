package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"acp-agent/internal/model"
)

// Target is where a request goes.
type Target struct {
	Provider string // for messages
	URL      string
	Header   http.Header
	Secret   string // the key: taken out of every message
	Client   *http.Client
	// SignIn says what to do when the provider refuses the key ("set OPENAI_API_KEY").
	SignIn string
}

// Answer is the body of a good answer. One of Events and Whole is set.
type Answer struct {
	Events *Events
	Whole  []byte // a JSON object: the server did not stream, or reports an error with status 200
	body   io.Closer
}

// Close ends the request; the connection is closed when the answer was not read to its end.
func (a *Answer) Close() error { return a.body.Close() }

// maxErrorBody bounds what is read of an error's body.
const maxErrorBody = 64 << 10

// NewClient makes the HTTP client of all providers. It has no overall timeout, since answers stream
// for minutes: callers bound requests by their context. Redirects are errors, because net/http would
// take the API key along to another host.
func NewClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // a compressed stream comes in lumps
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Post sends one JSON request and waits for the beginning of the answer. Failures are [*model.Error],
// or ctx's error when ctx is done.
func Post(ctx context.Context, t Target, body []byte) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("%s: the address %q is not usable: check base_url", t.Provider, t.URL), Err: err}
	}
	for k, v := range t.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "acp-agent")
	resp, err := t.Client.Do(req)
	if err != nil {
		return nil, t.broken(ctx, err)
	}
	a, err := t.begin(ctx, resp)
	if err != nil {
		_ = resp.Body.Close()
	}
	return a, err
}

func (t Target) begin(ctx context.Context, resp *http.Response) (*Answer, error) {
	if resp.StatusCode >= 300 {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, t.refused(resp, body)
	}
	r := bufio.NewReaderSize(resp.Body, 32<<10)
	first, err := firstByte(r)
	switch {
	case err == io.EOF:
		return nil, &model.Error{Kind: model.KindUnreachable, Message: t.Provider + ": the answer was empty"}
	case err != nil:
		return nil, t.broken(ctx, err)
	case first == '<':
		body, _ := io.ReadAll(io.LimitReader(r, maxErrorBody))
		return nil, t.Explain(&model.Error{Kind: model.KindProtocol, Message: fmt.Sprintf("%s: %s answered with a web page (%s), which is not a model's answer: check base_url", t.Provider, t.URL, plainWords(body))})
	case first == '{' || first == '[':
		whole, err := io.ReadAll(io.LimitReader(r, maxEvent))
		if err != nil {
			return nil, t.broken(ctx, err)
		}
		return &Answer{Whole: whole, body: resp.Body}, nil
	}
	return &Answer{Events: NewEvents(r), body: resp.Body}, nil
}

// firstByte gives the first byte that is not white space, without taking it. A byte order mark
// before it is dropped.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return 0, err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			_, _ = r.Discard(1)
		default:
			return b[0], nil
		}
	}
}

func (t Target) refused(resp *http.Response, body []byte) error {
	e := StatusError(resp.StatusCode, resp.Header, body, time.Now())
	switch {
	case resp.StatusCode < 400:
		e.Kind = model.KindInvalid
		e.Message = fmt.Sprintf("%s redirects to %s: put that address into base_url", t.URL, resp.Header.Get("Location"))
	case e.Kind == model.KindAuth && t.SignIn != "":
		e.Message += " (" + t.SignIn + ")"
	case resp.StatusCode == http.StatusNotFound:
		e.Message += fmt.Sprintf(" (asked %s: check the model's name and base_url)", t.URL)
	}
	return t.Explain(e)
}

// Explain puts the provider's name before an error's message and takes the key out of it.
func (t Target) Explain(e *model.Error) *model.Error {
	if !strings.HasPrefix(e.Message, t.Provider+":") {
		e.Message = t.Provider + ": " + e.Message
	}
	if t.Secret != "" {
		e.Message = strings.ReplaceAll(e.Message, t.Secret, "[key]")
	}
	return e
}

// ReadError maps an error of [Events.Next]. At io.EOF the stream ended before the answer did.
func (t Target) ReadError(ctx context.Context, err error) error {
	if errors.Is(err, errEventTooLarge) {
		return t.Explain(&model.Error{Kind: model.KindProtocol, Message: err.Error(), Err: err})
	}
	return t.broken(ctx, err)
}

// Windows has error numbers of its own for these.
const (
	wsaReset   = syscall.Errno(10054)
	wsaRefused = syscall.Errno(10061)
)

// broken maps a failure of the connection.
func (t Target) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	host := t.URL
	if u, e := url.Parse(t.URL); e == nil && u.Host != "" {
		host = u.Host
	}
	var why string
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, wsaRefused):
		why = "nothing listens at " + host + ": start the server or mend base_url"
	case errors.As(err, &dns):
		why = "the host " + dns.Name + " is not known: check the network and base_url"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, wsaReset):
		why = host + " closed the connection before the answer was complete"
	case errors.As(err, &op) && op.Timeout():
		why = host + " did not answer in time"
	default:
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its text repeats method and address
		}
		why = host + " cannot be reached: " + err.Error()
	}
	return t.Explain(&model.Error{Kind: model.KindUnreachable, Message: why, Err: err})
}
