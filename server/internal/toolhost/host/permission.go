package host

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/tool"
)

// permission decides which tools an RPC may use. The zero value permits all tools.
type permission struct {
	caller    *authz.Caller // nil: code of the program itself, which may use all tools
	right     authz.Right
	principal string // the key of the principal that the RPC is for
	groups    []string
}

// mayCall returns the permission to call tools for the principal of a call.
func mayCall(ctx context.Context, call *tool.Call) permission {
	return permission{authz.FromContext(ctx), authz.ToolsCall, call.Principal, call.Groups}
}

// noteUnknown writes to the audit log that a call names no tool that its caller may use. A tool
// that the caller may not use and a tool that does not exist give the same line after the same
// work: the time of the answer must not tell them apart. A caller that may use all tools has only
// mistyped a name, so its call gives no line.
func (h *Host) noteUnknown(ctx context.Context, call *tool.Call) {
	may := mayCall(ctx, call)
	if h.cfg.Audit == nil || may.caller.MayUseAll(may.right, may.principal, may.groups) {
		return
	}
	err := h.cfg.Audit.Note(context.WithoutCancel(ctx), audit.Event{
		Kind: audit.OfAuthorization, Principal: call.Principal, Via: call.Via, From: call.From, Act: "call", Tool: call.Tool, CallID: call.ID,
		Outcome: audit.Denied, Reason: "no tool of this name exists, or no binding gives it to the caller and to the principal that the call is for",
	})
	if err != nil { // the call is refused anyway
		h.log.policy.ErrorContext(ctx, "a refusal cannot be written to the audit log", "tool", call.Tool, "error", err)
	}
}

// use reports whether the RPC may use an existing tool.
func (p permission) use(name string) bool {
	return p.caller.MayUse(p.right, p.principal, p.groups, name)
}
