package host

import "github.com/toolhost/toolhost/internal/text/arguments"

// submission is the complete arguments of a call, as its caller sent them.
type submission struct {
	text   []byte
	parsed arguments.Parsed
	whole  bool // they arrived with the call, in one piece
	work   int  // how much memory is reserved for the work on them
	// kept says that the final arguments are the submitted ones, and at most the defaults that the
	// tool declares for missing ones.
	kept bool
}
