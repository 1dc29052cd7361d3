// Package stream is what all providers share: one HTTP request, its server-sent events, and the
// mending of what servers do differently. [Post] asks, [Events] reads, [Runes], [Think] and [Calls]
// put the pieces of text, reasoning and tool calls together, and every failure becomes a
// [model.Error]. It knows no provider's format and never asks twice: retrying is the caller's trade.
//
// The wire formats are written by hand over net/http. The official Go clients (openai-go v3.99,
// anthropic-sdk-go v1.84) were measured first, on an idle two-core machine, stripped, without cgo,
// start to exit, best of 40 (median):
//
//	empty program (slog, json)               0.9 ms (1.2)    2.6 MB RSS    2.1 MB
//	net/http                                 1.1 ms (1.5)    5.0 MB        6.0 MB
//	both clients alone                       2.6 ms (3.1)   14.6 MB       32.0 MB
//	our other modules with net/http          1.6 ms (2.1)    5.9 MB        6.8 MB
//	the same and both clients                2.6-3.2 (4.7)  14.2 MB       28.4 MB
//
// The line is three times an empty program from start to the answer of initialize, so 2.7 ms here:
// the clients alone use it up before any work is done (their init builds reflection tables, 1.1 ms in
// 2,100 allocations), and add 21.6 MB of binary and 8 MB of memory. Their typed decoders also hide
// what these packages have to see: arguments that are objects, a missing index, bytes that are half
// a rune, an error inside an answer of status 200.
package stream
