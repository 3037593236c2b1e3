package process

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// The host tries a launch again whose process a signal ended, and it knows that from Exit.
func TestASignalDuringTheSandboxIsTheExit(t *testing.T) {
	p := &Process{cfg: Config{Plugin: "p", Instance: "p-1"}, spawned: newFact[spawned]()}
	err := p.explain(fmt.Errorf("starting it: %w", &sandbox.EndedError{Signal: syscall.SIGKILL}))
	failure, ok := errors.AsType[*tool.Error](err)
	if !ok || failure.Kind != tool.KindUnavailable || failure.Exit == nil || failure.Exit.Signal != "SIGKILL" || failure.Exit.Reason != "" {
		t.Errorf("got %+v", failure)
	}
}
