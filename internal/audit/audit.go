// Package audit keeps what was decided about calls: one line of JSON for each decision, in a file that is only appended
// to.
//
// It owns the form of a line, and which decisions are worth one. It does not decide, does not rotate its file (whoever
// does calls Reopen afterwards), and never writes arguments, which may hold secrets: their digest says whether two calls
// were the same.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// Outcome is what was decided.
type Outcome string

// The outcomes.
const (
	Allowed          Outcome = "allowed"           // without a person
	Denied           Outcome = "denied"            // by a rule
	ApprovalRequired Outcome = "approval_required" // and it did not come with the call, or not for this one
	Approved         Outcome = "approved"          // by a person
	RateLimited      Outcome = "rate_limited"      // allowed or approved before, and then not made: it came too soon
)

// maxText bounds each text of a line in bytes: some come from callers.
const maxText = 4096

// Decision is what was decided about one call.
type Decision struct {
	Time      time.Time // zero: now
	Principal string
	Session   string // empty: the principal's default session
	CallID    string
	Tool      string
	Plugin    string
	Outcome   Outcome
	Rule      string // the operator's rule that decided; empty: none did
	Reason    string
	// Arguments are those that the tool gets or would have got, in their canonical form (see internal/arguments). Their
	// digest is written, never they themselves. Empty: {}.
	Arguments json.RawMessage
	Approval  *tool.Approval // of an approved call; its arguments are not written either
}

// line is a Decision as it is written. Names and meanings stay; fields may be added.
type line struct {
	Time            time.Time `json:"time"`
	Principal       string    `json:"principal"`
	Session         string    `json:"session"`
	CallID          string    `json:"call_id"`
	Tool            string    `json:"tool"`
	Plugin          string    `json:"plugin"`
	Decision        Outcome   `json:"decision"`
	Rule            string    `json:"rule,omitempty"`
	Reason          string    `json:"reason,omitempty"`
	ArgumentsSHA256 string    `json:"arguments_sha256"`
	ApprovedBy      string    `json:"approved_by,omitempty"`
	ApprovalReason  string    `json:"approval_reason,omitempty"`
	ApprovalTime    time.Time `json:"approval_time,omitzero"`
}

// Record writes a decision, unless it is not among those that the log keeps. It returns once the operating system has
// the whole line: that outlives toolhost, though not a loss of power. It waits for the lines before it, at most until
// ctx ends. After an error the line is not in the log, or only the beginning of it: what had to be logged must not
// happen. It is safe for concurrent use.
func (l *Log) Record(ctx context.Context, d Decision) error {
	if !l.Keeps(d) {
		return nil
	}
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	out := line{
		Time: d.Time.UTC(), Principal: clip(d.Principal), Session: clip(d.Session), CallID: clip(d.CallID), Tool: clip(d.Tool),
		Plugin: clip(d.Plugin), Decision: d.Outcome, Rule: clip(d.Rule), Reason: clip(d.Reason), ArgumentsSHA256: digest(d.Arguments),
	}
	if d.Approval != nil {
		out.ApprovedBy, out.ApprovalReason, out.ApprovalTime = clip(d.Approval.ApprovedBy), clip(d.Approval.Reason), d.Approval.Time.UTC()
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil { // a time beyond the year 9999
		return l.failed("writing", err)
	}
	return l.write(ctx, text.String())
}

// Keeps reports whether Record writes a line for a decision, and so may have to wait.
func (l *Log) Keeps(d Decision) bool {
	switch d.Outcome {
	case Allowed, RateLimited: // a limit is no decision about the call: it is told where the call was
		return l.all || d.Rule != "" || d.Approval != nil
	}
	return true
}

func digest(arguments json.RawMessage) string {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}

// clip bounds a text, and shows that it did.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
