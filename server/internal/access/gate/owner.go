package gate

import (
	"context"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

// WarnAboutOwner logs a warning if a policy gives the server's own user no role. An operator who
// writes the first bindings easily forgets that they replace the default, which gives this user all
// rights. The server then refuses the operator's own commands, and only its log and the audit log
// say why.
func WarnAboutOwner(ctx context.Context, callers Authenticator, p *authz.Policy, logger *slog.Logger) {
	owner, err := callers.Authenticate(ctx, authn.Evidence{UID: os.Getuid(), HasUID: true})
	if err != nil {
		return // an RPC of this user gets the error
	}
	// Every role has this right.
	if d := p.Decide(owner.Principal, authz.Request{Right: authz.VersionRead}); !d.Allowed {
		logger.WarnContext(ctx, "the commands of this server's own user are refused; to permit them, add a binding to auth.bindings, "+
			"such as {role: admin, principals: [KEY], tenants: [all]} with the key of the user", "principal", owner.Principal.Key(), "reason", d.Reason)
	}
}
