package host_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The host passes the same suite as the client over gRPC, which server/internal/toolhost/hostserver
// tests.
func TestConforms(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host { return newRig(t, hosttest.Tools(), forSuite(t)) })
}

// forSuite configures a host for the suite: it has artifacts, and its plugin may ask.
func forSuite(t *testing.T) func(*host.Config) {
	artifacts := withArtifacts(t)
	return func(cfg *host.Config) {
		artifacts(cfg)
		cfg.Asks = mayAskAll
	}
}

// mayAskAll permits all questions.
func mayAskAll(string) []tool.QuestionKind {
	return []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
}
