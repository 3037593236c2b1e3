package openai_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// Refuses gives the reason for each tool that requests omit.
func TestRefusedTools(t *testing.T) {
	m, err := openai.New(openai.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.RefusedTools(t, m)
	other, err := openai.New(openai.Config{Model: "m", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil || m.MaxTools() != 128 || other.MaxTools() != 0 {
		t.Errorf("at most %d tools, others %d, %v", m.MaxTools(), other.MaxTools(), err)
	}
}
