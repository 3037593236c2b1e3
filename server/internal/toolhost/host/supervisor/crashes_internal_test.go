package supervisor

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// fakeCall is the state of a call whose tool and arguments are named by a text.
type fakeCall struct {
	same      string
	succeeded bool
	cancelled error
	received  time.Time
}

func (c *fakeCall) Sum() [sha256.Size]byte { return sha256.Sum256([]byte(c.same)) }
func (c *fakeCall) Received() time.Time    { return c.received }
func (c *fakeCall) Executed() bool         { return true }
func (c *fakeCall) Succeeded() bool        { return c.succeeded }
func (c *fakeCall) Cancel(cause error)     { c.cancelled = cause }

func requestOf(same string) *Request {
	return &Request{Call: &tool.Call{ID: "c-" + same, Tool: "t"}, State: &fakeCall{same: same}}
}

// leasesOf returns the leases of calls that were executed together.
func leasesOf(calls string) (leases []*Lease) {
	for same := range strings.FieldsSeq(calls) {
		leases = append(leases, &Lease{request: *requestOf(same)})
	}
	return leases
}

// A call that was executed during several crashes is refused. Calls that were executed together
// share a crash.
func TestRefusalAfterCrashes(t *testing.T) {
	for name, test := range map[string]struct {
		crashes []string      // the calls that were executed during each crash
		pause   time.Duration // before each crash
		after   time.Duration // from the last crash to the question
		again   string        // for each crash, y: one of its calls was executed during an earlier one
		refused string        // the calls that are refused
	}{
		"no crash":                     {},
		"too few":                      {crashes: []string{"a", "a"}, again: "ny"},
		"one call alone":               {crashes: []string{"a", "a", "a"}, again: "nyy", refused: "a"},
		"different calls":              {crashes: []string{"a", "b", "c"}, again: "nnn"},
		"together, too few":            {crashes: []string{"a b", "a b", "a b", "a b", "a b"}, again: "nyyyy"},
		"together":                     {crashes: []string{"a b", "a b", "a b", "a b", "a b", "a b"}, again: "nyyyyy", refused: "a b"},
		"three thirds each":            {crashes: []string{"a b c", "a b c", "a b c", "a b c", "a b c", "a b c", "a b c", "a b c", "a b c"}, again: "nyyyyyyyy", refused: "a b c"},
		"one with different others":    {crashes: []string{"a b", "a c", "a d", "a e", "a f", "a g"}, again: "nyyyyy", refused: "a"},
		"no call":                      {crashes: []string{"", "", ""}, again: "nnn"},
		"forgotten after the window":   {crashes: []string{"a", "a", "a"}, again: "nyy", after: crashWindow},
		"not forgotten before":         {crashes: []string{"a", "a", "a"}, again: "nyy", after: crashWindow - 1, refused: "a"},
		"crashes that are far between": {crashes: []string{"a", "a", "a"}, again: "nnn", pause: crashWindow},
	} {
		t.Run(name, func(t *testing.T) {
			var c crashCounts
			now, again := time.Unix(1e9, 0), ""
			for _, calls := range test.crashes {
				now = now.Add(test.pause)
				if c.add(leasesOf(calls), now) {
					again += "y"
				} else {
					again += "n"
				}
			}
			if again != test.again {
				t.Errorf("counted already: %q, want %q", again, test.again)
			}
			now = now.Add(test.after)
			var refused []string
			for same := range strings.FieldsSeq("a b c d e f g") {
				e := c.refusal(requestOf(same), "p", now)
				if e == nil {
					continue
				}
				refused = append(refused, same)
				if e.Kind != tool.KindUnavailable || e.RetryAfter != crashWindow-test.after {
					t.Errorf("the call %s is refused with %v, to be retried after %v", same, e, e.RetryAfter)
				}
			}
			if got := strings.Join(refused, " "); got != test.refused {
				t.Errorf("refused: %q, want %q", got, test.refused)
			}
		})
	}
}

// Only a success clears a call, and it clears no other.
func TestASuccessClearsACall(t *testing.T) {
	var c crashCounts
	now := time.Unix(1e9, 0)
	for range maxCrashes {
		c.add(leasesOf("a"), now)
		c.add(leasesOf("b"), now)
	}
	c.clear(requestOf("a"))
	if c.refusal(requestOf("a"), "p", now) == nil {
		t.Error("a failed call was cleared")
	}
	c.clear(&Request{Call: &tool.Call{}, State: &fakeCall{same: "a", succeeded: true}})
	if e := c.refusal(requestOf("a"), "p", now); e != nil {
		t.Errorf("a call that succeeded is refused: %v", e)
	}
	if c.refusal(requestOf("b"), "p", now) == nil {
		t.Error("the success of one call cleared another")
	}
}

// The number of calls that are remembered is bounded, and the earlier ones stay.
func TestCountedCallsAreBounded(t *testing.T) {
	var c crashCounts
	now := time.Unix(1e9, 0)
	for i := range 2 * maxCounted {
		for range maxCrashes {
			c.add(leasesOf(fmt.Sprint(i)), now)
		}
	}
	if len(c) != maxCounted || c.refusal(requestOf("0"), "p", now) == nil || c.refusal(requestOf(fmt.Sprint(maxCounted)), "p", now) != nil {
		t.Errorf("%d calls are remembered", len(c))
	}
}

func TestExitCalls(t *testing.T) {
	for executed, want := range map[string]string{
		"":                    "",
		"a":                   "; it was executing t (call c-a)",
		"a b":                 "; it was executing t (call c-a), t (call c-b)",
		"a b c d e f g h i j": "; it was executing t (call c-a), t (call c-b), t (call c-c), t (call c-d), t (call c-e), t (call c-f), t (call c-g), t (call c-h)",
	} {
		if got := whileExecuting(exitCalls(leasesOf(executed))); got != want {
			t.Errorf("%q: %q, want %q", executed, got, want)
		}
	}
}
