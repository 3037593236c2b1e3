package hostpb

import (
	"math"
	"strings"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxReason clips the words that go with a cancel: nobody reads more, and they travel beside frames of other calls.
const maxReason = 1 << 10

// FromReason returns why a call is cancelled as it can be sent, with only the beginning of what is too long.
func FromReason(reason string) string {
	if len(reason) > maxReason {
		return strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	return valid(reason)
}

// FromName returns the name of a tool as it can be sent.
func FromName(name string) string { return valid(name) }

// FromCall converts what a caller says of a call besides its tool and arguments. The principal stays behind: a server
// sets it from the connection.
func FromCall(c tool.Call) *toolhostv1.CallOptions {
	parts := &struct { // made at once
		options toolhostv1.CallOptions
		shown   uint64
	}{}
	options := &parts.options
	options.CallId, options.Session, options.Traceparent = valid(c.ID), valid(c.Session), valid(c.Traceparent)
	options.Timeout, options.Context = toolpb.FromDuration(c.Timeout), toolpb.FromValues(c.Context)
	options.OutcomeOnly, options.LedgerId, options.FirstSentTime = c.OutcomeOnly, valid(c.Ledger), toolpb.FromTime(c.FirstSent)
	if c.MaxShown != nil {
		parts.shown = uint64(max(*c.MaxShown, 0))
		options.MaxShownBytes = &parts.shown
	}
	if a := c.Approval; a != nil {
		options.Approval = &toolhostv1.Approval{
			ApprovedBy: valid(a.ApprovedBy), Reason: valid(a.Reason), Time: toolpb.FromTime(a.Time),
			Arguments: a.Arguments, ArgumentsSha256: valid(a.ArgumentsSHA256),
		}
	}
	return options
}

// ToCall converts a call, without its principal. A timeout that is set and not positive is refused: read as none, it
// would give the caller more time than asked for.
func ToCall(name string, arguments []byte, options *toolhostv1.CallOptions) (tool.Call, error) {
	if t := options.GetTimeout(); t != nil && toolpb.ToDuration(t) == 0 {
		return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "the timeout %s is not positive; leave it out for the tool's own", t.AsDuration())
	}
	c := tool.Call{
		ID:          options.GetCallId(),
		Tool:        name,
		Arguments:   arguments,
		Session:     options.GetSession(),
		Timeout:     toolpb.ToDuration(options.GetTimeout()),
		Context:     toolpb.ToValues(options.GetContext()),
		Traceparent: options.GetTraceparent(),
		OutcomeOnly: options.GetOutcomeOnly(),
		Ledger:      options.GetLedgerId(),
		FirstSent:   toolpb.ToTime(options.GetFirstSentTime()),
	}
	if options != nil && options.MaxShownBytes != nil {
		c.MaxShown = new(int(min(options.GetMaxShownBytes(), math.MaxInt32)))
	}
	if a := options.GetApproval(); a != nil {
		c.Approval = &tool.Approval{
			ApprovedBy: a.GetApprovedBy(), Reason: a.GetReason(), Time: toolpb.ToTime(a.GetTime()),
			Arguments: a.GetArguments(), ArgumentsSHA256: a.GetArgumentsSha256(),
		}
	}
	return c, nil
}
