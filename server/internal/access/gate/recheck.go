package gate

import (
	"context"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// admission is how an RPC was admitted whose credential can become invalid.
type admission struct {
	gate    *Gate
	caller  authn.Verified
	method  string
	address string
}

type admissionKey struct{}

// Recheck returns a function that reports whether the credential of a stream is still valid, for a
// stream that takes further calls. It reports the first refusal of the stream: a caller that goes
// on regardless must not fill the audit log. Recheck returns nil for a credential that is always
// valid, such as the user of a unix socket.
func Recheck(ctx context.Context) func(ctx context.Context) bool {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return nil
	}
	var reported atomic.Bool
	return func(ctx context.Context) bool {
		err := a.caller.StillValid(ctx)
		if err != nil && reported.CompareAndSwap(false, true) {
			a.gate.Report(ctx, Refusal{Method: a.method, Principal: a.caller.Principal, Address: a.address, Reason: err.Error()})
		}
		return err == nil
	}
}
