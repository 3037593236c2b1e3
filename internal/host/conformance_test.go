package host_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/host/hosttest"
)

// The host passes the same suite as the client over gRPC.
func TestConforms(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host { return newRig(t, hosttest.Tools(), withArtifacts(t)) })
}
