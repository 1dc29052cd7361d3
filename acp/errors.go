package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"acp-agent/internal/model"
	"acp-agent/internal/wire"
)

// Codes that ACP adds to JSON-RPC's. This file is the only place with codes of the wire.
const (
	codeAuthRequired = -32000
	codeNotFound     = -32002
)

func rpcError(code int, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalidParams(format string, args ...any) error {
	return rpcError(wire.CodeInvalidParams, format, args...)
}

func invalidRequest(format string, args ...any) error {
	return rpcError(wire.CodeInvalidRequest, format, args...)
}

func internalError(format string, args ...any) error {
	return rpcError(wire.CodeInternal, format, args...)
}

func methodNotFound(method string) error {
	return rpcError(wire.CodeMethodNotFound, "method %q is not known", method)
}

func notFound(format string, args ...any) error {
	return rpcError(codeNotFound, format, args...)
}

func authRequired(format string, args ...any) error {
	return rpcError(codeAuthRequired, format, args...)
}

// modelError turns what a model or its resolver said into an answer whose message a user can act on.
func modelError(err error) error {
	var we *wire.Error
	if errors.As(err, &we) {
		return we
	}
	var me *model.Error
	if !errors.As(err, &me) {
		return internalError("%v", err)
	}
	return kinded(me)
}

// kinded is a provider's failure with its kind in the data, for clients that decide by it.
func kinded(me *model.Error) error {
	message, code := me.Error(), wire.CodeInternal
	switch me.Kind {
	case model.KindAuth:
		code = codeAuthRequired
	case model.KindInvalid:
		code = wire.CodeInvalidRequest
	case model.KindContext:
		message += " (the conversation no longer fits the model's window: start a new session)"
	case model.KindRateLimit, model.KindOverloaded, model.KindServer, model.KindUnreachable, model.KindIdle:
		message += " (the session is still usable: send the prompt again)"
	}
	e := rpcError(code, "%s", message)
	if data, err := json.Marshal(map[string]string{"kind": string(me.Kind), "details": message}); err == nil {
		e.Data = data
	}
	return e
}

// isCancel says whether err only tells that a context ended.
func isCancel(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
