package commands

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/passing"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/telemetry"
)

// openNodes lets an agent follow runs at the other agentds of its database, if these reach each
// other. The caller closes what it returns after the agent.
func (s *setup) openNodes(config *agent.Config, log *slog.Logger) *agentserver.Nodes {
	nodes := agentserver.NewNodes(s.config.Nodes.TLS.Client(), log)
	if s.config.Nodes.On() {
		config.Follow = nodes.Follow
	}
	return nodes
}

// newNodeServer returns the server for other agentds. It offers what they pass on, and passes
// nothing on again. node is the id of this one.
func (s *setup) newNodeServer(a *agent.Agent, node string, access *gate.Access, decisions *audit.Log, exported *telemetry.Telemetry, log *slog.Logger) *agentserver.Server {
	rights := agentserver.PassedRights()
	return agentserver.NewServer(agentserver.Config{
		Agent: agentserver.AtWork(a), Logger: log, Options: exported.ServerOptions(),
		Gate: gate.New(gate.Config{
			Rights: rights, Policy: access.Policy, Audit: decisions, Logger: log,
			Authenticator: &passing.Authenticator{Program: "agentd", Node: node, Rights: rights, Logger: log},
		}),
		Network: append(clientlimit.Options(s.config.Network.Limits(), watchGrace, log), agentserver.NodeOptions()...),
	})
}
