package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoLanguage means that this machine does not have the programs of a language.
var ErrNoLanguage = errors.New("this machine lacks it")

// Python starts a toolhost with a tool in Python. root is the checkout.
func (f *Field) Python(ctx context.Context, root string) (*Toolhost, error) {
	interpreter, err := setUp(ctx, filepath.Join(root, "sdk/python/scripts/check.sh"))
	if err != nil {
		return nil, err
	}
	base, err := exec.CommandContext(ctx, interpreter, "-c", "import sys; print(sys.base_prefix)").Output()
	if err != nil {
		return nil, fmt.Errorf("asking Python where it is: %w", err)
	}
	source := filepath.Join(root, "bench/plugins")
	return f.interpreted(ctx, []string{interpreter, "-B", filepath.Join(source, "echo.py")},
		source, filepath.Join(root, "sdk/python/src"), filepath.Dir(filepath.Dir(interpreter)), strings.TrimSpace(string(base)))
}

// Node starts a toolhost with a tool in JavaScript. root is the checkout.
func (f *Field) Node(ctx context.Context, root string) (*Toolhost, error) {
	sdk, err := setUp(ctx, filepath.Join(root, "sdk/typescript/scripts/check.sh"))
	if err != nil {
		return nil, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("finding Node: %w", err)
	}
	dir, err := f.Folder("node")
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(root, "sdk/typescript/node_modules")
	text, err := os.ReadFile(filepath.Join(root, "bench/plugins/echo.mjs"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "echo.mjs"), text, 0o600), os.MkdirAll(filepath.Join(dir, "node_modules", "@toolhost"), 0o700),
			os.Symlink(sdk, filepath.Join(dir, "node_modules", "@toolhost", "sdk")),
			os.Symlink(filepath.Join(modules, "zod"), filepath.Join(dir, "node_modules", "zod")))
	}
	if err != nil {
		return nil, fmt.Errorf("setting the plugin up: %w", err)
	}
	return f.interpreted(ctx, []string{node, filepath.Join(dir, "echo.mjs")}, dir, sdk, modules, node)
}

// setUp runs the setup script of an SDK and returns its output.
func setUp(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, script, "setup")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("setting up by %s: %w", script, err)
	}
	if printed := strings.TrimSpace(string(out)); printed != "" {
		return printed, nil
	}
	return "", ErrNoLanguage
}

// interpreted starts a toolhost with one plugin that is a command line. The plugin may read the
// files that it consists of.
func (f *Field) interpreted(ctx context.Context, command []string, reads ...string) (*Toolhost, error) {
	plugins, err := f.Folder("plugins")
	if err != nil {
		return nil, err
	}
	script := "#!/bin/sh\nexec '" + strings.Join(command, "' '") + "'\n"
	if err := os.WriteFile(filepath.Join(plugins, "echo"), []byte(script), 0o700); err != nil {
		return nil, err
	}
	granted, err := json.Marshal(reads)
	if err != nil {
		return nil, err
	}
	return f.Toolhost(ctx, House{Plugins: plugins, Settings: fmt.Sprintf("defaults: {sandbox: {read: %s}}\n", granted)})
}
