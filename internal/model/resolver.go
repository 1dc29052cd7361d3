package model

import "context"

// Resolver finds models by name. It is made by cmd/acp-agent from the configuration and the
// environment, and handed to package acp, which knows no provider.
type Resolver interface {
	// Resolve gives the model of a name of the form provider/model. cwd is the session's cwd. A
	// name that nobody knows is an [*Error] of kind KindInvalid that lists what there is; a
	// provider without its key is one of kind KindAuth that names the variable to set. Resolve
	// contacts nobody, so it is quick.
	Resolve(ctx context.Context, name, cwd string) (Model, error)
	// Default gives the model that is used when nobody chose one: ACP_AGENT_MODEL, then the
	// configuration, then the first provider whose key is in the environment, then a local server
	// that answers. It waits at most one second for a running probe of local servers. When there is
	// none, the error is an [*Error] of kind KindAuth that names every place that was looked at.
	Default(ctx context.Context) (Model, error)
	// List gives the models that can be chosen now, the default one first. It never waits: it may
	// start a probe of local servers beside it, and what that finds is in a later list.
	List(ctx context.Context) []Info
}
