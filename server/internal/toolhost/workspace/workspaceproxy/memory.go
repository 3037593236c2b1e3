package workspaceproxy

import (
	"context"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// Memory is a backend with one workspace in the memory of this process.
type Memory struct{ files *workspace.Memory }

// NewMemory returns an empty workspace of at most so many bytes.
func NewMemory(bytes int64) *Memory {
	files := workspace.NewMemory(nil)
	files.Limit(bytes)
	return &Memory{files}
}

// Open implements Backend.
func (m *Memory) Open(context.Context, string) (workspace.Workspace, error) { return m.files, nil }

// Close implements Backend.
func (m *Memory) Close() error { return nil }
