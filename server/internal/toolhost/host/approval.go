package host

import (
	"cmp"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// approvalOf returns the approval of a call if it is for exactly these final arguments, and an
// error otherwise. It returns nil and nil if the call has no approval.
func approvalOf(call *tool.Call, s submission, final arguments.Parsed) (*tool.Approval, *tool.Error) {
	if call.Approval == nil {
		return nil, nil
	}
	approved := *call.Approval
	if approved.Time.IsZero() {
		approved.Time = time.Now()
	}
	digest := approved.ArgumentsSHA256
	if len(approved.Arguments) > 0 {
		named, err := arguments.Parse(approved.Arguments)
		if err != nil {
			return nil, tool.Errorf(tool.KindInvalidArgument, "the arguments of the approval: %w", err)
		}
		ofNamed := frozen.Digest(named)
		if digest != "" && digest != ofNamed {
			return nil, tool.Errorf(tool.KindInvalidArgument,
				"the approval names two things: arguments with the digest %s, and the digest %s; set one of them", ofNamed, digest)
		}
		digest = ofNamed
	}
	if digest == "" && !s.whole {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval came before the arguments and does not say which it is for; set its arguments or their digest, or send it with the complete arguments")
	}
	if digest == "" && s.kept {
		digest = frozen.Digest(final)
	}
	if digest == "" {
		digest = frozen.Digest(s.parsed)
	}
	if digest != frozen.Digest(final) {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval by %s is not for the arguments that would be executed; show these to a person and ask again", result.Clip(cmp.Or(approved.Approver, approved.ApprovedBy), 200))
	}
	return &approved, nil
}

// byAnother reports whether a principal other than the one that the call is for approved it. It
// compares keys, which follow from verified credentials: the name that the caller claims, and the
// credential that a principal used, do not matter. Without a key, the approver may be anybody.
func byAnother(call *tool.Call, approved *tool.Approval) bool {
	return approved.Approver != "" && approved.Approver != call.Principal
}
