package commands

import (
	"io"
	"os"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// maxInstructionsFile is more than agent.ParseInstructions accepts, so that it reports the error.
const maxInstructionsFile = 1 << 20

// texts are the files of an operator that steer a model: instructions, response schemas and memory
// files. A plugin must not have written any of them.
type texts struct {
	getenv   func(string) string
	writable []string // the folders that plugins may write

	instructions map[string]string // the contents of the files, by agent
	schemas      map[string][]byte // the contents of the files, by agent
	memory       map[string]string // the texts of the operator's files, by path
	files        []trust.File      // all of them
}

// read reads all files that a configuration names, up to the first error.
func (t *texts) read(c *agentconfig.Config) error {
	for _, read := range t.readers() {
		if err := read(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *texts) readers() []func(*agentconfig.Config) error {
	return []func(*agentconfig.Config) error{t.readInstructions, t.readSchemas, t.readMemory}
}

// readInstructions reads the files with the instructions of agents. Instructions steer a model with
// all its tools, so a plugin must not have written them: the rules of the configuration file apply.
func (t *texts) readInstructions(c *agentconfig.Config) error {
	t.instructions = map[string]string{}
	for name, a := range c.Agents {
		if a.InstructionsFile == "" {
			continue
		}
		text, err := readUpTo(a.InstructionsFile, maxInstructionsFile)
		if err != nil {
			return cli.Usage("agents.%s.instructions_file: %w", name, err)
		}
		file := trust.File{Path: a.InstructionsFile, Data: text, Named: true}
		if err := t.checkSteering("agents."+name+".instructions_file", file); err != nil {
			return err
		}
		if _, err := a.Named(string(text)); err != nil {
			return cli.Usage("agents.%s.instructions_file: %s: %w", name, a.InstructionsFile, err)
		}
		t.instructions[name] = string(text)
	}
	return nil
}

func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// namedAgents returns the named agents of the configuration.
func (t *texts) namedAgents(c *agentconfig.Config) (map[string]agent.NamedAgent, error) {
	agents := make(map[string]agent.NamedAgent, len(c.Agents))
	for name, a := range c.Agents {
		var err error
		if agents[name], err = a.Named(t.instructions[name]); err != nil {
			return nil, cli.Usage("agents.%s: %w", name, err)
		}
		named := agents[name]
		named.Memory, named.ResponseSchema = t.memoryFiles(a.Memory), t.schemas[name]
		agents[name] = named
	}
	return agents, nil
}
