package commands

import (
	"bytes"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// maxSchemaFile is more than agent.CheckResponseSchema accepts, so that it reports the error.
const maxSchemaFile = 1 << 20

// readSchemas reads the files with the response schemas of agents. Models read their texts, so the
// rules of files with instructions apply.
func (t *texts) readSchemas(c *agentconfig.Config) error {
	t.schemas = map[string][]byte{}
	for name, a := range c.Agents {
		path, key := a.ResponseSchemaFile, "agents."+name+".response_schema_file"
		if path == "" {
			continue
		}
		text, err := readUpTo(path, maxSchemaFile)
		if err != nil {
			return cli.Usage("%s: %w", key, err)
		}
		if err := t.checkSteering(key, trust.File{Path: path, Data: text, Named: true}); err != nil {
			return err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			return cli.Usage("%s: %s is empty; it has to hold a JSON Schema", key, path)
		}
		if _, err := agent.CheckResponseSchema(text); err != nil {
			return cli.Usage("%s: %s: %s", key, path, tool.AsError(err).Message)
		}
		t.schemas[name] = text
	}
	return nil
}

// changedSchemas returns the files with response schemas whose content differs although their path
// does not.
func changedSchemas(before, now *setup) (changes []tool.SettingChange) {
	for _, name := range slices.Sorted(maps.Keys(now.texts.schemas)) {
		old, known := before.texts.schemas[name]
		path := now.config.Agents[name].ResponseSchemaFile
		if known && !bytes.Equal(old, now.texts.schemas[name]) && before.config.Agents[name].ResponseSchemaFile == path {
			changes = append(changes, tool.SettingChange{
				Key: "agents." + name + ".response_schema_file", Old: contentOf(path, string(old)), New: contentOf(path, string(now.texts.schemas[name])),
			})
		}
	}
	return changes
}
