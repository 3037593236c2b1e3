package config_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc/yamldoctest"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// Parse does not panic on any text. It refuses a text with one line for each error. A Config that
// it accepts has a YAML form that parses to the same Config.
func FuzzParse(f *testing.F) {
	yamldoctest.AddSeeds(f)
	c := config.Default()
	f.Add(string(c.YAML()))
	f.Add(everyKey)
	f.Add("plugins: [\"a\\x85\\u2028\\U0001F600\", 'b''c', |\n d]\nplugin: {null: {env: {\"~\": \"\\t\"}}}")
	f.Fuzz(func(t *testing.T, text string) {
		yamldoctest.CheckParse(t, text, config.Parse, (*config.Config).YAML)
	})
}
