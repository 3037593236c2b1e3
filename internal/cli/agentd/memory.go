package agentd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/agent/memoryfile"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/cli/configfile"
	"github.com/toolhost/toolhost/internal/trust"
)

// readMemory reads the operator's memory files. Their text steers a model with all its tools, so a
// plugin must not have written them: the rules of the configuration file apply.
func (s *setup) readMemory(writable []string) error {
	s.memory = map[string]string{}
	common, err := s.readMemoryOf("memory", s.config.Memory, writable)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Agents)) {
		key := "agents." + name + ".memory"
		own, err := s.readMemoryOf(key, s.config.Agents[name].Memory, writable)
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
func (s *setup) readMemoryOf(key string, files []string, writable []string) (size int, err error) {
	for _, path := range files {
		if _, inWorkspace := agentconfig.WorkspaceFile(path); inWorkspace {
			continue
		}
		text, read := s.memory[path]
		if !read {
			data, err := memoryfile.ReadOperator(path, int64(s.config.MemoryMaxBytes))
			if err != nil {
				return 0, cli.Usage("%s: %w", key, err)
			}
			if err := s.checkSteering(key, trust.File{Path: path, Data: data, Named: true}, writable); err != nil {
				return 0, fmt.Errorf("%w; or write workspace:PATH, which gives the model the file as data", err)
			}
			text = string(data)
			s.memory[path] = text
		}
		size += len(text)
	}
	return size, nil
}

// checkSteering refuses a file with a text for the model that a plugin could have written. It keeps
// the file, so that it is checked again with the folders of a toolhost that was running before.
func (s *setup) checkSteering(key string, file trust.File, writable []string) error {
	s.steering = append(s.steering, file)
	if err := configfile.CheckTrust(s.process.Getenv, file, writable); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// memoryFiles returns a list of memory files in the form of the agent. Only the name of an operator's
// file is told, not its folder.
func (s *setup) memoryFiles(files []string) []agent.MemoryFile {
	var told []agent.MemoryFile
	for _, path := range files {
		if name, inWorkspace := agentconfig.WorkspaceFile(path); inWorkspace {
			told = append(told, agent.MemoryFile{Name: filepath.Clean(name), Workspace: true})
		} else {
			told = append(told, agent.MemoryFile{Name: filepath.Base(path), Text: s.memory[path]})
		}
	}
	return told
}

// workspace returns the folder with the workspace of the runs' tools, if agentd can read it.
func (t *toolhost) workspace() (string, error) {
	if t.private != nil {
		return os.Getwd() // the private toolhost works here
	}
	folder := t.Folders().Workspace
	switch {
	case !t.local:
		return "", errors.New("the toolhost may be on another machine")
	case folder == "":
		return "", errors.New("the toolhost has no workspace that all its callers share")
	}
	return folder, nil
}
