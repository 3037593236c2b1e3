package commands

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/memoryfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// readMemory reads the operator's memory files. Their text steers a model with all its tools, so a
// plugin must not have written them: the rules of the configuration file apply.
func (t *texts) readMemory(c *agentconfig.Config) error {
	t.memory = map[string]string{}
	common, err := t.readMemoryOf(c, "memory", c.Memory)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		key := "agents." + name + ".memory"
		own, err := t.readMemoryOf(c, key, c.Agents[name].Memory)
		if err != nil {
			return err
		}
		if common+own > memoryfile.MaxTotal {
			return cli.Usage("%s: the memory files of the agent and of the whole file have %d bytes; a run may have %d", key, common+own, memoryfile.MaxTotal)
		}
	}
	if common > memoryfile.MaxTotal {
		return cli.Usage("memory: the files have %d bytes; a run may have %d", common, memoryfile.MaxTotal)
	}
	return nil
}

// readMemoryOf reads the files of one list, and returns their size.
func (t *texts) readMemoryOf(c *agentconfig.Config, key string, files []string) (size int, err error) {
	for _, path := range files {
		if _, inWorkspace := agentconfig.WorkspaceFile(path); inWorkspace {
			continue
		}
		text, read := t.memory[path]
		if !read {
			data, err := memoryfile.ReadOperator(path, int64(c.MemoryMaxBytes))
			if err != nil {
				return 0, cli.Usage("%s: %w", key, err)
			}
			if err := t.checkSteering(key, trust.File{Path: path, Data: data, Named: true}); err != nil {
				return 0, fmt.Errorf("%w; or write workspace:PATH, which gives the model the file as data", err)
			}
			text = string(data)
			t.memory[path] = text
		}
		size += len(text)
	}
	return size, nil
}

// checkSteering refuses a file with a text for the model that a plugin could have written. It keeps
// the file, so that it is checked again with the folders of a toolhost that was running before.
func (t *texts) checkSteering(key string, file trust.File) error {
	t.files = append(t.files, file)
	if err := configfile.CheckTrust(t.getenv, file, t.writable); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// memoryFiles returns a list of memory files in the form of the agent. Only the name of an
// operator's file is told, not its folder.
func (t *texts) memoryFiles(files []string) []agent.MemoryFile {
	var told []agent.MemoryFile
	for _, path := range files {
		if name, inWorkspace := agentconfig.WorkspaceFile(path); inWorkspace {
			told = append(told, agent.MemoryFile{Name: filepath.Clean(name), Workspace: true})
		} else {
			told = append(told, agent.MemoryFile{Name: filepath.Base(path), Text: t.memory[path]})
		}
	}
	return told
}

// workspace returns the folder with the workspace of the runs' tools, if agentd can read it.
func (t *toolhost) workspace() (string, error) {
	if t.private != nil {
		return os.Getwd() // the private toolhost works here
	}
	folder := t.Client.Folders().Workspace
	switch {
	case !t.local:
		return "", errors.New("the toolhost may be on another machine")
	case folder == "":
		return "", errors.New("the toolhost has no workspace that all its callers share")
	}
	return folder, nil
}
