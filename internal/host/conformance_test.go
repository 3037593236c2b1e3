package host_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/host/hosttest"
)

// TestConforms runs the suite that the client over gRPC passes too.
func TestConforms(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host { return newRig(t, hosttest.Tools(), withArtifacts(t)) })
}
