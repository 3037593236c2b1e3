package host_test

import (
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The host passes the same suite as the client over gRPC, which server/internal/toolhost/hostserver
// tests. A store changes nothing that the suite sees: not whether a call is found, not what a
// repeated call gets. TestConformsWithPostgreSQL has the one that several toolhosts share.
func TestConforms(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) callstore.Calls{
		"without a store": func(*testing.T) callstore.Calls { return nil },
		"memory": func(t *testing.T) callstore.Calls {
			calls, err := memory.New(memory.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return calls
		},
		"SQLite": func(t *testing.T) callstore.Calls {
			return openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			conforms(t, open)
		})
	}
}

// conforms runs the suite with a store for each of its hosts.
func conforms(t *testing.T, open func(t *testing.T) callstore.Calls) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host {
		calls := open(t) // it ends after the host
		return newRig(t, hosttest.Tools(), forSuite(t, calls))
	})
}

// forSuite configures a host for the suite: it has artifacts, and its plugin may ask.
func forSuite(t *testing.T, calls callstore.Calls) func(*host.Config) {
	artifacts := withArtifacts(t)
	return func(cfg *host.Config) {
		artifacts(cfg)
		cfg.Asks, cfg.Calls = mayAskAll, calls
	}
}

// mayAskAll permits all questions.
func mayAskAll(string) []tool.QuestionKind {
	return []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
}
