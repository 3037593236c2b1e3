package host_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A caller that takes a new session for each call is limited too, and takes nothing from another
// caller.
func TestSessionsDoNotEvadeTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := hosttest.Tools()
		for i := range tools {
			if tools[i].Spec.Name == "echo" {
				tools[i].Spec.RateLimitPerMinute = 3
			}
		}
		r := newRig(t, tools, nil)
		made := func(principal string) (n int, refused *tool.Error) {
			for ; n < 100; n++ {
				c := call("echo", `{"text":"x"}`)
				c.Principal, c.Session = principal, fmt.Sprintf("s-%d", n)
				if got := outcome(t, r, c); got.Err != nil {
					return n, got.Err
				}
			}
			return n, nil
		}
		n, refused := made("uid:1")
		if n != 30 || refused == nil || refused.Kind != tool.KindRateLimited || refused.RetryAfter == 0 || !strings.Contains(refused.Message, "in all of its sessions") {
			t.Errorf("%d calls were made, then %v", n, refused)
		}
		if n, _ := made("uid:2"); n != 30 {
			t.Errorf("another caller made %d calls", n)
		}
		time.Sleep(time.Minute) // virtual
		if n, _ := made("uid:1"); n != 30 {
			t.Errorf("a minute later %d calls were made", n)
		}
	})
}
