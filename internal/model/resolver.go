package model

import "context"

// Resolver finds models by name. Package providers implements it; package acp only asks.
type Resolver interface {
	// Resolve gives the model of a full name, provider/model. cwd is the session's, for models whose
	// name is a file. An unknown provider or missing key is an *[Error] that says what to do.
	Resolve(ctx context.Context, name, cwd string) (Model, error)
	// Default gives the model to use when a session names none: ACP_AGENT_MODEL, config, keys in the
	// environment, a local server. It waits at most 1 s for a running probe. When there is none, the
	// *[Error] of KindAuth names every place that was looked at.
	Default(ctx context.Context, cwd string) (Model, error)
	// List gives the models that can be offered now, without waiting.
	List() []Info
}
