// Package lsp is the language-server layer: it starts servers, keeps them told of the truth, and
// says which errors an edit brought in. Its main types are [Manager], one for the process, and
// [Session], one for each ACP session. A verdict is for this very text or is called "no verdict"
// with the reason; "clean" is never guessed. It must never write a workspace file, and nothing here
// breaks or delays an edit beyond the budget that the caller gives.
//
// The way of a question: plan.go finds the servers of a file, instance.go has one running, lease.go
// keeps proposals and questions apart, documents.go tells the server what the files hold, ask.go gets
// the verdict in the way that the server offers, difference.go and judge.go say what is new in it.
// foresee.go does so for a proposal, check.go for an edit that was applied.
package lsp
