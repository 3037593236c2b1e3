package hostpb

import (
	"encoding/json"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromAuditQuery converts a query.
func FromAuditQuery(q tool.AuditQuery) *toolhostv1.ReadAuditRequest {
	return &toolhostv1.ReadAuditRequest{
		Principal: valid(q.Principal), Approver: valid(q.Approver), CallId: valid(q.CallID), Tool: valid(q.Tool), Kind: valid(q.Kind), Decision: valid(q.Decision),
		SinceTime: toolpb.FromTime(q.Since), UntilTime: toolpb.FromTime(q.Until), Last: uint32(min(max(q.Last, 0), 1<<31)), Follow: q.Follow, Tenants: q.Tenants,
	}
}

// ToAuditQuery converts a query.
func ToAuditQuery(m *toolhostv1.ReadAuditRequest) tool.AuditQuery {
	return tool.AuditQuery{
		Principal: m.GetPrincipal(), Approver: m.GetApprover(), CallID: m.GetCallId(), Tool: m.GetTool(), Kind: m.GetKind(), Decision: m.GetDecision(),
		Since: toolpb.ToTime(m.GetSinceTime()), Until: toolpb.ToTime(m.GetUntilTime()), Last: int(m.GetLast()), Follow: m.GetFollow(), Tenants: m.GetTenants(),
	}
}

// FromAuditLine converts a line.
func FromAuditLine(l tool.AuditLine) *toolhostv1.ReadAuditResponse {
	return &toolhostv1.ReadAuditResponse{Seq: l.Seq, Line: valid(string(l.Line))}
}

// ToAuditLine converts a line.
func ToAuditLine(m *toolhostv1.ReadAuditResponse) tool.AuditLine {
	return tool.AuditLine{Seq: m.GetSeq(), Line: json.RawMessage(m.GetLine())}
}
