package agent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/memoryfile"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// memory returns the memory files of a task's run. A file that the workspace does not have is left
// out. A sub-run without an agent of its own has the texts of its parent.
func (config *configured) memory(task *loop.Task, p *profile) ([]loop.Memory, error) {
	if task.Like != nil {
		return task.Like.Memory, nil
	}
	var files []loop.Memory
	left := int64(memoryfile.MaxTotal)
	for _, f := range slices.Concat(config.Memory, p.Memory) {
		m := loop.Memory{Name: f.Name, Workspace: f.Workspace, Text: f.Text}
		if f.Workspace {
			found, err := config.readWorkspace(&m, left)
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
		}
		left -= int64(len(m.Text))
		files = append(files, m)
	}
	return files, nil
}

// readWorkspace reads a memory file of the workspace. What is wrong with the file is its Problem: a
// tool that writes such a file must not stop all runs. found is false if there is no such file.
func (config *configured) readWorkspace(m *loop.Memory, left int64) (found bool, err error) {
	if config.Workspace == nil {
		return false, noWorkspace(m.Name, errors.New("this agentd knows no workspace"))
	}
	folder, err := config.Workspace()
	if err != nil {
		return false, noWorkspace(m.Name, err)
	}
	m.Text, err = memoryfile.ReadWorkspace(folder, m.Name, config.MaxMemory)
	switch {
	case errors.Is(err, memoryfile.ErrMissing):
		return false, nil
	case err == nil && int64(len(m.Text)) > max(left, 0):
		err = fmt.Errorf("does not fit into the %d bytes of all memory files", int64(memoryfile.MaxTotal))
	}
	if err != nil {
		m.Text, m.Problem = "", err.Error()
		config.Log.With(loglevel.Key, loglevel.Runs).Warn("a memory file of the workspace is not used", "file", m.Name, "error", err)
	}
	return true, nil
}

func noWorkspace(name string, err error) error {
	return tool.Errorf(tool.KindUnavailable, "the memory file workspace:%s cannot be read: %w; remove it from memory in agentd.yaml, or name a file of the operator", name, err)
}
