package commands

import (
	"io"
	"os"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// maxInstructionsFile is more than agent.ParseInstructions accepts, so that it reports the error.
const maxInstructionsFile = 1 << 20

// texts are the files of an operator that steer a model: instructions, response schemas and memory
// files. A plugin must not have written any of them.
type texts struct{ setup *setup }

// readInstructions reads the files with the instructions of agents. Instructions steer a model with
// all its tools, so a plugin must not have written them: the rules of the configuration file apply.
func (t texts) readInstructions(writable []string) error {
	t.setup.instructions = map[string]string{}
	for name, a := range t.setup.config.Agents {
		if a.InstructionsFile == "" {
			continue
		}
		text, err := readUpTo(a.InstructionsFile, maxInstructionsFile)
		if err != nil {
			return cli.Usage("agents.%s.instructions_file: %w", name, err)
		}
		file := trust.File{Path: a.InstructionsFile, Data: text, Named: true}
		if err := t.checkSteering("agents."+name+".instructions_file", file, writable); err != nil {
			return err
		}
		if _, err := a.Named(string(text)); err != nil {
			return cli.Usage("agents.%s.instructions_file: %s: %w", name, a.InstructionsFile, err)
		}
		t.setup.instructions[name] = string(text)
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
func (t texts) namedAgents() (map[string]agent.NamedAgent, error) {
	agents := make(map[string]agent.NamedAgent, len(t.setup.config.Agents))
	for name, a := range t.setup.config.Agents {
		var err error
		if agents[name], err = a.Named(t.setup.instructions[name]); err != nil {
			return nil, cli.Usage("agents.%s: %w", name, err)
		}
		named := agents[name]
		named.Memory, named.ResponseSchema = t.memoryFiles(a.Memory), t.setup.schemas[name]
		agents[name] = named
	}
	return agents, nil
}
