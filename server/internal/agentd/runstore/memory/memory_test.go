package memory_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: func(*testing.T) runstore.Store { return memory.New() }})
}
