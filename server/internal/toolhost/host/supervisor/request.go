package supervisor

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Request describes a call that needs an instance.
type Request struct {
	Call  *tool.Call // names the call; not changed
	State CallState
}

// CallState is the supervisor's view of a call that has a lease. The methods must be safe for
// concurrent use, and must not block or use the supervisor.
type CallState interface {
	// Sum returns the digest of the tool and the arguments; zero: not known yet.
	Sum() [sha256.Size]byte
	// Received returns when toolhost received the call; zero: unknown.
	Received() time.Time
	// Executed reports whether the plugin may have begun to execute the call, not only to preview
	// it.
	Executed() bool
	// Succeeded reports whether the call has a result.
	Succeeded() bool
	// Cancel ends the call with a cause.
	Cancel(cause error)
}

// Inquiry is the CallState of a request that holds a lease like a call and executes nothing, such
// as one that describes tools.
type Inquiry struct {
	End context.CancelCauseFunc // ends the request
}

// The methods implement CallState.
func (*Inquiry) Sum() (sum [sha256.Size]byte) { return sum }

func (*Inquiry) Received() time.Time { return time.Time{} }

func (*Inquiry) Executed() bool { return false }

func (*Inquiry) Succeeded() bool { return false }

func (q *Inquiry) Cancel(cause error) { q.End(cause) }
