// Package audit writes to a log what was decided about calls and callers: one line of JSON for each
// decision, in a file that it only appends to.
//
// The lines form a chain. Each has a number, and the SHA-256 of the line before it. So a line that
// was changed, removed or inserted later does not fit to its neighbors, and Verify finds it.
// Removing the newest lines is not visible in the file itself: compare with a head that was noted
// before (see Report.Head). The chain continues when the log goes on in a new file.
//
// The package owns the form of a line, selects the decisions to write, and rotates the file. It
// does not make decisions. It never writes arguments, because they may contain secrets. Their
// digest shows whether two calls had the same arguments.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/identity"
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

// Kind says what a line is about.
type Kind string

// The kinds of lines.
const (
	OfCall           Kind = "call"           // a decision about a call
	OfAuthentication Kind = "authentication" // a caller that was not identified
	OfAuthorization  Kind = "authorization"  // an RPC that its caller may not use
	OfAdministration Kind = "administration" // an RPC that changes the server, or a decision about a run
	OfCredential     Kind = "credential"     // a token that was created or revoked
	OfApproval       Kind = "approval"       // a standing approval that was created, or that ended; a verdict about a held call
	OfSettlement     Kind = "settlement"     // what a tool said about a call with an unknown outcome
	OfRotation       Kind = "rotation"       // the log goes on in a new file
)

// maxText bounds each text of a line in bytes, because callers choose some of them.
const maxText = 4096

// Decision is a decision about one call.
type Decision struct {
	Time      time.Time // zero: now
	Principal string    // the key of the principal that the call is for
	Via       string    // the key of the delegate that made the call; empty: the principal itself
	From      string    // where the caller is: an IP address, or unix
	Session   string    // empty: the principal's default session
	CallID    string
	Tool      string
	Plugin    string
	Outcome   Outcome
	Rule      string // the operator's rule that decided; empty: no rule
	Reason    string
	// Arguments are the arguments that the tool gets or would have got, in their canonical form
	// (see internal/text/arguments). The log gets only their digest. Empty means {}.
	Arguments json.RawMessage
	Approval  *tool.Approval // the approval of the call; its arguments are not written
	Standing  string         // the id of the standing approval that approved the call; empty: none
}

// line is the written form of a Decision. Names and meanings do not change; fields may be added.
type line struct {
	link
	Time            time.Time `json:"time"`
	Kind            Kind      `json:"kind"`
	Tenant          string    `json:"tenant"`
	Principal       string    `json:"principal"`
	Via             string    `json:"via,omitempty"`
	From            string    `json:"from,omitempty"`
	Session         string    `json:"session"`
	CallID          string    `json:"call_id"`
	Tool            string    `json:"tool"`
	Plugin          string    `json:"plugin"`
	Decision        Outcome   `json:"decision"`
	Rule            string    `json:"rule,omitempty"`
	Reason          string    `json:"reason,omitempty"`
	ArgumentsSHA256 string    `json:"arguments_sha256"`
	Approver        string    `json:"approver,omitempty"`
	ApprovedBy      string    `json:"approved_by,omitempty"`
	ApprovalReason  string    `json:"approval_reason,omitempty"`
	ApprovalTime    time.Time `json:"approval_time,omitzero"`
	Standing        string    `json:"standing_approval,omitempty"`
}

// Record writes a decision if the log keeps it. It returns when the operating system has the whole
// line. So the line survives the end of toolhost, but not always a power failure. Record waits for
// earlier lines, but returns when ctx ends. After an error, the log has no part of the line or only
// its beginning. The caller must then not carry out the decision. Record is safe for concurrent
// use.
func (l *Log) Record(ctx context.Context, d Decision) error {
	if !l.keeps(d) {
		return nil
	}
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	out := line{
		Time: d.Time.UTC(), Kind: OfCall, Tenant: identity.TenantOf(d.Principal), Principal: clip(d.Principal), Via: clip(d.Via), From: clip(d.From),
		Session: clip(d.Session), CallID: clip(d.CallID), Tool: clip(d.Tool),
		Plugin: clip(d.Plugin), Decision: d.Outcome, Rule: clip(d.Rule), Reason: clip(d.Reason), ArgumentsSHA256: digest(d.Arguments),
	}
	out.Standing = clip(d.Standing)
	if d.Approval != nil {
		out.Approver = clip(d.Approval.Approver)
		out.ApprovedBy, out.ApprovalReason, out.ApprovalTime = clip(d.Approval.ApprovedBy), clip(d.Approval.Reason), d.Approval.Time.UTC()
	}
	return l.append(ctx, &out.link, &out)
}

// keeps reports whether Record writes a line for a decision.
func (l *Log) keeps(d Decision) bool {
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
