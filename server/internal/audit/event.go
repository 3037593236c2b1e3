package audit

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
)

// Event is something else than a decision about a call.
type Event struct {
	Time       time.Time // zero: now
	Kind       Kind
	Principal  string // the key of the principal; empty: it is not known
	Via        string // the key of the delegate that acted for the principal; empty: none
	Credential string // how the principal was identified, such as token
	From       string // where the caller is: an IP address, or unix
	CallID     string // of the call that was refused; empty: the event is about something else
	Tool       string // the tool of that call
	Act        string // what the caller wanted, such as the name of an RPC
	Target     string // what the act concerns, such as a plugin or a run; empty: nothing in particular
	Outcome    Outcome
	Approver   string // the key of the principal that approved; empty: none did
	Reason     string // why it was refused, or which binding permitted it
	Given      string // the reason that the caller gave for the act; empty: none
}

// eventLine is the written form of an Event. Names and meanings do not change; fields may be added.
type eventLine struct {
	link
	Time       time.Time `json:"time"`
	Kind       Kind      `json:"kind"`
	Tenant     string    `json:"tenant,omitempty"`
	Principal  string    `json:"principal,omitempty"`
	Via        string    `json:"via,omitempty"`
	Credential string    `json:"credential,omitempty"`
	From       string    `json:"from,omitempty"`
	CallID     string    `json:"call_id,omitempty"`
	Tool       string    `json:"tool,omitempty"`
	Act        string    `json:"act"`
	Target     string    `json:"target,omitempty"`
	Outcome    Outcome   `json:"decision"`
	Approver   string    `json:"approver,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Given      string    `json:"given_reason,omitempty"`
}

// Note writes an event. It returns when the operating system has the whole line, as Record does.
// After an error, the caller must not carry out the act. Note is safe for concurrent use.
func (l *Log) Note(ctx context.Context, e Event) error {
	out := l.lineOf(e)
	return l.append(ctx, &out.link, out)
}

func (l *Log) lineOf(e Event) *eventLine {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	out := &eventLine{
		Time: e.Time.UTC(), Kind: e.Kind, Principal: clip(e.Principal), Via: clip(e.Via), Credential: clip(e.Credential), From: clip(e.From),
		CallID: clip(e.CallID), Tool: clip(e.Tool), Act: clip(e.Act), Target: clip(e.Target), Outcome: e.Outcome, Approver: clip(e.Approver), Reason: clip(e.Reason), Given: clip(e.Given),
	}
	if e.Principal != "" {
		out.Tenant = identity.TenantOf(e.Principal)
	}
	return out
}
