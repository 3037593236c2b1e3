package workspace_test

import (
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/workspacetest"
)

func TestMemory(t *testing.T) {
	workspacetest.Run(t, func(_ *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
		return workspace.NewMemory(files), workspace.MemoryDir
	})
}
