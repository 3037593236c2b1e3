// Package access has the commands of toolhost and agentd about the access to the server: `token`
// and `auth`.
//
// The commands read the configuration and the state folder as the server does, and need no server.
// So the permissions of these files decide who can create tokens: the server's user and root.
package access

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// Server is what the commands need of a server.
type Server struct {
	// Program is toolhost or agentd.
	Program string
	// AddFlags adds the flags that select the configuration and the state folder.
	AddFlags func(flags *pflag.FlagSet)
	// Settings reads the configuration as `serve` does.
	Settings func() (Settings, error)
	// Rights returns the rights of the RPCs.
	Rights func() rpcright.Table
}

// Settings are the settings of a server that the commands use.
type Settings struct {
	State  string // the state folder
	Audit  string // the file of the audit log
	Auth   authconfig.Auth
	Admits string // the role of the callers of plain TCP ports; empty: there are none
	// Shared opens the database that several servers have their tokens in. The caller calls close.
	// nil: the tokens are in the state folder.
	Shared func(context.Context) (shared tokenstore.Shared, close func() error, err error)
}

// takesEffect says when servers follow a change of the tokens; empty: at once.
func (s *Settings) takesEffect() string {
	if s.Shared == nil {
		return ""
	}
	return " at all toolhosts within 10 seconds"
}

// policy returns the policy that the server has with the settings.
func (s *Settings) policy() *authz.Policy { return gate.PolicyFor(s.Auth.Grants(), s.Admits) }
