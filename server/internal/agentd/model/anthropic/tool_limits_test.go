package anthropic_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// Refuses gives the reason for each tool that requests omit.
func TestRefusedTools(t *testing.T) {
	m, err := anthropic.New(anthropic.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.RefusedTools(t, m)
	if m.MaxTools() != 0 {
		t.Errorf("at most %d tools", m.MaxTools())
	}
}
