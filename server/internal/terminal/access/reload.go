package access

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/tool"
)

// NoteReload writes to the audit log that a reload changes which callers a server knows, or what
// they may do. It writes nothing if the change has no such setting. After an error, the caller must
// not apply the change. ctx is that of the RPC that reloads; one without a principal means that a
// signal does.
func NoteReload(ctx context.Context, log *audit.Log, change *tool.ConfigurationChange) error {
	var keys []string
	for _, c := range change.Changes {
		if c.Key == "auth" || strings.HasPrefix(c.Key, "auth.") || strings.HasPrefix(c.Key, "auth[") {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	p, ok := identity.FromContext(ctx)
	if !ok { // only the user of the server and root can send it a signal
		p = identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(os.Getuid()), From: "signal"}
	}
	err := log.Note(ctx, audit.Event{
		Kind: audit.OfCredential, Principal: p.Key(), Credential: p.Credential, From: p.From, Act: "reload", Target: strings.Join(keys, ", "),
		Outcome: audit.Allowed, Reason: "the file " + change.File + " changes which callers are known, or what they may do",
	})
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}
