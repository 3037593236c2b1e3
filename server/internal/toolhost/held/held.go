// Package held keeps the calls that wait for the approval of a person who is not their caller.
//
// A call that needs an approval and brings none becomes a decision. A person approves or rejects
// the decision, and the call uses the approval: while it waits, or when its caller repeats it. An
// approval is good for one use by the same call, which a Key identifies. It is the person's answer
// to what it saw, so the etag of a decision covers all that is shown, and a verdict repeats it.
//
// The decisions are in memory only. A call that is held was not executed, so a restart loses no
// more than the wait: its caller repeats the call, and a person is asked again.
//
// The package does not decide which calls need an approval, nor who may decide. It writes no log.
package held

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// MaxWait is how long a decision waits unless somebody extends it. It counts as rejected
	// afterwards.
	MaxWait = time.Hour
	// Fresh is how long a verdict counts: an approval for its use, and a rejection for the repeats of
	// the call. Nobody who approves a call expects it much later.
	Fresh = 15 * time.Minute
	// MaxArguments bounds the arguments of one call: a person has to see them, and a message has to
	// hold them.
	MaxArguments = 1 << 20
)

// The bounds of a store. A person does not look through more decisions of one principal, and no
// principal and no tenant can take the room of all others. maxOfPrincipal bounds the calls that
// wait, too: several can wait for one decision.
const (
	maxDecisions         = 1000
	maxBytes             = 64 << 20 // of arguments
	maxOfTenant          = maxDecisions / 2
	maxBytesOfTenant     = maxBytes / 2
	maxOfPrincipal       = 50
	maxBytesOfPrincipal  = 8 << 20
	prefix               = "calls/"
	maxText, maxNameText = 4 << 10, 256 // of a verdict
)

// Key identifies calls that one approval is for: those of the same caller, with the same meaning.
type Key [sha256.Size]byte

// KeyOf returns the key of all that must be the same.
func KeyOf(parts ...string) Key {
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // cannot happen: texts
	}
	return sha256.Sum256(text)
}

// Call is what a person sees of a call.
type Call struct {
	Principal, Session        string
	ID, Agent, Run            string // may be empty
	Tool, DisplayName, Plugin string
	Arguments                 json.RawMessage
	Context                   string // of the caller, as far as the call depends on it: a JSON object; may be empty
	Rule, Reason              string // why an approval is required
	RuleDigest                string // of Rule
	FourEyes                  bool
	ApproverGroups            []string // of which the approver has to be in one; empty: any
	SessionMove               string   `json:",omitempty"` // see tool.Error; Reason says it in words
}

// size is the number of bytes that count toward the bounds.
func (c *Call) size() int { return len(c.Arguments) + len(c.Context) }

// State says what became of a decision.
type State string

// The states of a decision. A decision that nobody made in time is expired.
const (
	Waiting  State = "waiting"
	Approved State = "approved"
	Rejected State = "rejected"
	Expired  State = "expired"
)

// Decision is a call that is held, with the verdict about it.
type Decision struct {
	Name string
	// Etag is the digest of what a person sees: the call and the time of the request. The end may
	// move.
	Etag string
	Call
	Requested, Expires time.Time

	State   State
	Decided time.Time // zero: it waits
	By      string    // the key of the principal that decided; empty: it waits, or has expired
	Groups  []string  // of By
	ByName  string    // the name that the client of By gave
	Text    string    // the reason of By
}

// Because says who decided what, and why.
func (d *Decision) Because() string {
	if d.State == Expired {
		return fmt.Sprintf("nobody decided about it until %s", d.Expires.UTC().Format(time.RFC3339))
	}
	text := fmt.Sprintf("%s by %s at %s", d.State, d.By, d.Decided.UTC().Format(time.RFC3339))
	if d.Text != "" {
		text += ": " + d.Text
	}
	return text
}

func etagOf(d *Decision) string {
	text, err := json.Marshal(struct {
		Call      Call
		Requested time.Time
	}{d.Call, d.Requested})
	if err != nil {
		panic(err) // cannot happen: the arguments are JSON, and the rest are texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Verdict is what a person decides.
type Verdict struct {
	Name, Etag string
	Approve    bool // otherwise the call is rejected
	By, ByName string
	Via        string   // the key of the delegate that passes the verdict of By on; empty: none
	Groups     []string // of By, as they were verified
	Text       string
	RequestID  string // recognizes a repeat; empty: no request is a repeat
}

func (v *Verdict) state() State {
	if v.Approve {
		return Approved
	}
	return Rejected
}

// check returns why a verdict cannot be taken.
func (v *Verdict) check() *tool.Error {
	switch {
	case v.Etag == "":
		return tool.Errorf(tool.KindInvalidArgument, "the verdict has no etag; repeat that of the decision that the person has seen")
	case len(v.Text) > maxText:
		return tool.Errorf(tool.KindInvalidArgument, "the reason has %d bytes; it may have %d", len(v.Text), maxText)
	case len(v.ByName) > maxNameText:
		return tool.Errorf(tool.KindInvalidArgument, "the name of the person has %d bytes; it may have %d", len(v.ByName), maxNameText)
	case v.RequestID != "":
		if err := tool.CheckID(v.RequestID); err != nil {
			return tool.Errorf(tool.KindInvalidArgument, "the request id cannot be used: %w", err)
		}
	}
	return nil
}

// inOrder sorts decisions: that which ends first comes first.
func inOrder(all []Decision) {
	slices.SortFunc(all, func(a, b Decision) int {
		return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.Name, b.Name))
	})
}
