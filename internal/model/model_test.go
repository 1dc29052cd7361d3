package model_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"acp-agent/internal/model"
)

func TestRetryable(t *testing.T) {
	for kind, want := range map[model.Kind]bool{
		model.KindAuth: false, model.KindInvalid: false, model.KindContext: false, model.KindProtocol: false,
		model.KindRateLimit: true, model.KindOverloaded: true, model.KindServer: true, model.KindUnreachable: true, model.KindIdle: true,
	} {
		if got := (&model.Error{Kind: kind}).Retryable(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestErrorWords(t *testing.T) {
	e := &model.Error{Status: 429, Message: "slow down", Err: io.EOF}
	if !strings.Contains(e.Error(), "429") || !strings.Contains(e.Error(), "slow down") || !errors.Is(e, io.EOF) {
		t.Errorf("%v", e)
	}
	if got := (&model.Error{Message: "nobody listens"}).Error(); got != "nobody listens" {
		t.Errorf("%q", got)
	}
}

func TestMessageText(t *testing.T) {
	m := model.Message{Parts: []model.Part{{Text: "a"}, {Image: &model.Media{}}, {Text: "b"}}}
	if m.Text() != "ab" || model.TextMessage(model.User, "x").Text() != "x" {
		t.Errorf("%q", m.Text())
	}
}
