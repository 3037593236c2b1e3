package pluginwire

import (
	"errors"
	"io"
	"testing"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
)

// When Await reports the end, Next returns it without blocking.
func TestAwaitIgnoresALateEnd(t *testing.T) {
	end := &pluginv1.ConnectResponse{Call: 1, Frame: &pluginv1.ConnectResponse_End{End: &pluginv1.CallEnd{}}}
	for name, tc := range map[string]struct {
		first func(*Call)
		says  func(int) bool
	}{
		"an end":                            {func(c *Call) { c.ended(end) }, func(n int) bool { return n > 0 }},
		"a loss, while the end is taken":    {func(c *Call) { c.last = end; c.inbox.Finish(lost(io.EOF)) }, func(n int) bool { return n == -1 }},
		"a failure, while the end is taken": {func(c *Call) { c.last = end; c.inbox.Abort(errors.New("broken")) }, func(n int) bool { return n == -1 }},
	} {
		call := &Call{inbox: flow.NewInbox[*pluginv1.ConnectResponse](1, func(int) {})}
		var told []int
		if !call.Await(func(n int) { told = append(told, n) }) {
			t.Fatalf("%s: there is nothing, and nothing is awaited", name)
		}
		tc.first(call)
		call.ended(end)
		if len(told) != 1 || !tc.says(told[0]) {
			t.Errorf("%s: it was told %v", name, told)
		}
	}
}
