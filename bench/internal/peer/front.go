package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Front is a toolhost with MCP in front, and with the work in a native plugin or in an MCP server
// on standard input and output.
type Front struct {
	field      *Field
	host       *Toolhost
	socket     string // of MCP
	key, title string // of its contenders
}

// Front starts a toolhost. behind says that its plugin is the MCP server; otherwise it is echo.
func (f *Field) Front(ctx context.Context, behind bool) (*Front, error) {
	dir, err := f.Folder("front")
	if err != nil {
		return nil, err
	}
	t := &Front{field: f, socket: filepath.Join(dir, "m"), key: "mcp-native", title: "toolhost, then a plugin"}
	house := House{Settings: fmt.Sprintf("mcp: {listeners: [{address: %q}]}\n", "unix://"+t.socket)}
	if behind {
		t.key, t.title = "mcp-behind", "toolhost, then MCP over stdio"
		house.Plugins = filepath.Join(dir, "plugins")
		if err := f.server(filepath.Join(house.Plugins, "server")); err != nil {
			return nil, err
		}
	}
	if t.host, err = f.Toolhost(ctx, house); err != nil {
		return nil, err
	}
	return t, await(ctx, "unix", t.socket, nil)
}

// server creates a folder with an MCP server as a plugin.
func (f *Field) server(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := f.copyTo(folder, "mcpecho"); err != nil {
		return err
	}
	const manifest = "mcp: {command: [./mcpecho, stdio], annotations: trusted}\n"
	return os.WriteFile(filepath.Join(folder, "plugin.yaml"), []byte(manifest), 0o600)
}

// HTTP calls toolhost over streamable HTTP.
func (t *Front) HTTP(ctx context.Context, version string) (Contender, error) {
	return t.field.mcpAt(ctx, t.socket, t.key, t.title, version, t.host.pids)
}

// Stdio calls toolhost through the command toolhost mcp serve.
func (t *Front) Stdio(ctx context.Context, version string) (Contender, error) {
	return t.field.overStdio(ctx, t.key, t.title, version, t.host.pids, t.field.program("toolhost"), "mcp", "serve", "--addr", t.host.addr)
}
