package agentconfig_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc/yamldoctest"
)

// Parse does not panic on any text. It refuses a text with one line for each error. A Config that
// it accepts has a YAML form that parses to the same Config, and configures an agent.
func FuzzParse(f *testing.F) {
	yamldoctest.AddSeeds(f)
	c := agentconfig.Default()
	f.Add(string(c.YAML()))
	f.Add(everyKey)
	f.Add("system_tools: []\nmodels: {\"a\\x85\": {provider: scripted, model: 'b''c'}}\nagents: {null: {tools: {tags: [~]}}, \"\": {}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, accepted := yamldoctest.CheckParse(t, text, agentconfig.Parse, (*agentconfig.Config).YAML)
		if !accepted {
			return
		}
		if _, err := c.Choose(""); err != nil {
			t.Fatalf("the model that is accepted cannot be chosen: %v", err)
		}
		for name, a := range c.Agents {
			if _, err := a.Named(""); err != nil {
				t.Fatalf("the agent %q that is accepted cannot be used: %v", name, err)
			}
		}
	})
}
