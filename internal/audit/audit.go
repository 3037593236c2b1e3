// Package audit writes the decisions about calls to a log: one line of JSON for each decision, in a
// file that it only appends to.
//
// The package owns the form of a line, and which decisions are written. It does not decide. It does
// not rotate the file: a program that does calls Reopen afterwards. It never writes arguments,
// which may contain secrets. Their digest shows whether two calls were the same.
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

// Outcome is the result of a decision.
type Outcome string

// The outcomes.
const (
	Allowed          Outcome = "allowed"           // without an approval
	Denied           Outcome = "denied"            // by a rule
	ApprovalRequired Outcome = "approval_required" // and no valid approval came with the call
	Approved         Outcome = "approved"          // by a person
	// allowed or approved, and then refused by the rate limit
	RateLimited Outcome = "rate_limited"
)

// maxText bounds each text of a line in bytes, because callers choose some of them.
const maxText = 4096

// Decision is a decision about one call.
type Decision struct {
	Time      time.Time // zero: now
	Principal string
	Session   string // empty: the principal's default session
	CallID    string
	Tool      string
	Plugin    string
	Outcome   Outcome
	Rule      string // the operator's rule that decided; empty: no rule
	Reason    string
	// Arguments are the arguments that the tool gets or would have got, in their canonical form
	// (see internal/arguments). The log gets only their digest. Empty means {}.
	Arguments json.RawMessage
	Approval  *tool.Approval // the approval of the call; its arguments are not written
}

// line is the written form of a Decision. Names and meanings do not change; fields may be added.
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

// Record writes a decision if the log keeps it. It returns when the operating system has the whole
// line, so that the line survives the end of toolhost, though not a loss of power. Record waits for
// earlier lines, but returns when ctx ends. After an error, the log has no part of the line or only
// its beginning, and the caller must not do what had to be recorded. Record is safe for concurrent
// use.
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
	if err := enc.Encode(out); err != nil { // such as a time after the year 9999
		return l.failed("writing", err)
	}
	return l.write(ctx, text.String())
}

// Keeps reports whether Record writes a line for a decision, and so may block.
func (l *Log) Keeps(d Decision) bool {
	switch d.Outcome {
	case Allowed, RateLimited: // a rate limit is logged where the permission of the call was logged
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

// clip bounds a text, and marks a text that it cuts.
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
