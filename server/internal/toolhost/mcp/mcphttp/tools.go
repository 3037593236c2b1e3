package mcphttp

import (
	"context"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/tool"
)

// Host is the part of a host that MCP clients use. *host.Host implements it.
type Host interface {
	// Revision is that of hostserver.Tools.
	Revision(ctx context.Context, query tool.Query) (string, error)
	ListPage(ctx context.Context, query tool.Query, after string) ([]tool.Info, error)
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error)
	AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error
	mcpserver.Resources
	mcpserver.Prompts
}

// hostTools is a host for one principal. It implements mcpserver.Tools.
//
// The contexts of the methods come from the MCP SDK, which may keep that of the first request of a
// session. So hostTools puts the principal and the policy in force into each context itself.
type hostTools struct {
	host      Host
	gate      *gate.Gate
	principal identity.Principal
	caller    *authz.Caller
	account   *budget.Account
}

// context returns a context that the host can decide with.
func (t *hostTools) context(ctx context.Context) context.Context {
	ctx = authz.NewContext(identity.NewContext(ctx, t.principal), t.caller)
	if t.account != nil {
		ctx = budget.NewContext(ctx, t.account)
	}
	return ctx
}

// ListTools implements mcpserver.Tools.
func (t *hostTools) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	if err := t.require(ctx, authz.ToolsList, "list tools", ""); err != nil {
		return nil, err
	}
	query.Principal, query.Groups = t.principal.Key(), t.principal.Groups
	return t.host.ListPage(t.context(ctx), query, "")
}

// ListChangedTools is that of mcpserver.Config.
func (t *hostTools) ListChangedTools(ctx context.Context, query tool.Query, known string) (infos []tool.Info, revision string, err error) {
	if err := t.require(ctx, authz.ToolsList, "list tools", ""); err != nil {
		return nil, "", err
	}
	query.Principal, query.Groups = t.principal.Key(), t.principal.Groups
	revision, err = t.host.Revision(t.context(ctx), query) // before the list, which may be newer then
	if err != nil || revision != "" && revision == known {
		return nil, revision, err
	}
	infos, err = t.host.ListPage(t.context(ctx), query, "")
	return infos, revision, err
}

// SearchTools implements mcpserver.Tools.
func (t *hostTools) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
	if err := t.require(ctx, authz.ToolsList, "list tools", ""); err != nil {
		return nil, err
	}
	query.Principal, query.Groups = t.principal.Key(), t.principal.Groups
	return t.host.SearchTools(t.context(ctx), words, query)
}

// Open implements mcpserver.Tools. The host decides whether the principal may call the tool.
func (t *hostTools) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	call.Principal, call.Groups = t.principal.Key(), t.principal.Groups
	if call.Approval != nil {
		if err := t.require(ctx, authz.CallsApprove, "approve calls", call.Tool); err != nil {
			return nil, err
		}
		call.Approval.Approver, call.Approval.ApproverGroups = t.principal.Key(), t.principal.Groups
	}
	return t.host.Open(t.context(ctx), call, complete)
}

// ReadArtifact implements mcpserver.Tools.
func (t *hostTools) ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if err := t.require(ctx, authz.CallsOwn, "read results", q.Handle); err != nil {
		return tool.ArtifactPiece{}, err
	}
	q.Principal = t.principal.Key()
	return t.host.ReadArtifact(t.context(ctx), q)
}

// AnswerQuestion implements mcpserver.Tools.
func (t *hostTools) AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error {
	if err := t.require(ctx, authz.CallsOwn, "answer questions", key.ID); err != nil {
		return err
	}
	key.Principal = t.principal.Key()
	return t.host.AnswerQuestion(t.context(ctx), key, question, answer)
}

// require returns an error, and reports the refusal, if the principal does not have a right.
func (t *hostTools) require(ctx context.Context, right authz.Right, what, target string) error {
	decision := t.gate.Policy().Decide(t.principal, authz.Request{Right: right, Tenant: t.principal.Tenant})
	if decision.Allowed {
		return nil
	}
	t.gate.Report(ctx, gate.Refusal{Method: Method, Principal: t.principal, Address: t.principal.From, Target: target, Rights: []authz.Right{right}, Reason: decision.Reason})
	return tool.Errorf(tool.KindDenied, "the caller may not %s", what)
}
