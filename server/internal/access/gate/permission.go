package gate

import (
	"slices"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/audit"
)

// administrative reports whether an RPC changes the server, or decides for a person. Its permission
// must be in the audit log before it is carried out.
func administrative(rights []authz.Right) bool {
	return slices.ContainsFunc(rights, func(r authz.Right) bool {
		switch r {
		case authz.PluginsOperate, authz.PluginsChange, authz.ConfigReload, authz.RunsApprove, authz.RunsDelete, authz.AuditRead, authz.LoginsOwn:
			return true
		}
		return false
	})
}

// eventOf returns the event of an administrative RPC that is permitted.
func eventOf(p identity.Principal, method string, request any, d authz.Decision) audit.Event {
	e := audit.Event{
		Kind: audit.OfAdministration, Principal: p.Key(), Credential: p.Credential, From: p.From, Act: method, Outcome: audit.Allowed, Reason: d.Reason,
	}
	switch r := request.(type) {
	case interface{ GetPlugin() string }:
		e.Target = r.GetPlugin()
		if r, ok := r.(interface{ GetReason() string }); ok {
			e.Given = r.GetReason()
		}
	case interface{ GetRunId() string }:
		e.Target = r.GetRunId()
	}
	return e
}
