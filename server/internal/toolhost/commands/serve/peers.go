package serve

import (
	"context"
	"log/slog"
	"path"
	"strings"

	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/passing"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver/peers"
)

// artifactPlace returns what names this toolhost in the handles of artifacts, so that others find
// them; empty: nothing does. It is 40 bits of the id of the state folder.
func artifactPlace(o *Options) (string, error) {
	if o.nodes == "" {
		return "", nil
	}
	return folderPlace(o)
}

// folderPlace returns what names this toolhost among those of a ledger.
func folderPlace(o *Options) (string, error) {
	id, err := nodeID(o.State)
	return strings.ToLower(id[:min(len(id), artifact.PlaceLength)]), err
}

// holderOf returns what names the toolhost at which a held call waits, by the name of the decision;
// nil: there is no other toolhost.
func holderOf(calls ledgerOfCalls) func(ctx context.Context, decision string) (label string, gone bool) {
	shared, ok := calls.(*postgres.Store)
	if !ok {
		return nil
	}
	return func(ctx context.Context, decision string) (label string, gone bool) {
		place := artifact.PlaceIn(decision)
		if place == "" {
			return "", false
		}
		if peer, found, err := shared.PeerOfFolder(ctx, place); err == nil && found {
			return peer.Label(), peer.Gone
		}
		return "", false
	}
}

// openPeers returns what passes requests on to other toolhosts; nil: nothing does. The caller calls
// stop when the servers have ended.
func openPeers(o *Options, calls ledgerOfCalls, host *host.Host, exported exports, logger *slog.Logger) (_ hostserver.Peers, stop func()) {
	shared, ok := calls.(*postgres.Store)
	if !ok || !o.Nodes.On() {
		return nil, func() {}
	}
	for method := range hostserver.PassedRights() {
		exported.observer.ExpectPassed(path.Base(method))
	}
	all := peers.New(peers.Config{
		Ledger: shared, Has: host.Has, TLS: o.Nodes.TLS.Client(), Passed: exported.observer.RequestPassed, Logger: logger,
	})
	return all, all.Close
}

// believing returns what identifies the principals for which other toolhosts pass requests on.
func believing(calls ledgerOfCalls, logger *slog.Logger) *passing.Authenticator {
	a := &passing.Authenticator{Program: "toolhost", Rights: hostserver.PassedRights(), Logger: logger}
	if shared, ok := calls.(*postgres.Store); ok {
		a.Node = shared.NodeID()
	}
	return a
}

// newNodes returns the server for other toolhosts. It has no Peers: a request is passed on once.
func newNodes(o *Options, host hostserver.Host, s servedHost, admission *gate.Gate) *hostserver.Server {
	network := clientlimit.Options(o.Network.Limits(), o.Calls.MaxTimeout+replyGrace, s.logger)
	return hostserver.NewServer(hostserver.Config{
		Host: host, Logger: s.logger, Budget: s.memory, Options: s.exported.ServerOptions(), Gate: admission,
		Network: append(network, peers.Options()...),
	})
}
