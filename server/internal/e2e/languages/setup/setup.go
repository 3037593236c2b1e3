// Package setup prepares the plugins and the caller of server/internal/e2e/languages in each
// language, with the SDKs of the checkout. Tests of several packages run them.
//
// It does not run the programs, and does not know the calls that they make.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// ErrMissing says that the machine lacks what an SDK requires.
var ErrMissing = errors.New("the machine lacks what the SDK requires")

// Language is the plugins and the caller of one language.
type Language struct {
	Name   string
	Plugin []string // the command line of the plugin, with absolute paths
	Tracer []string // the command line of the plugin whose tools create spans
	Caller []string // the command line of the caller, without its arguments
	Reads  []string // files and folders of the plugins, which their sandboxes must allow
}

// Go builds the programs in Go into the folder bin.
func Go(ctx context.Context, bin string) (Language, error) {
	const dir = "./internal/e2e/languages/go/"
	err := programs.Build(ctx, bin, dir+"plugin", dir+"tracer", dir+"caller")
	return Language{
		Name:   "go",
		Plugin: []string{filepath.Join(bin, "plugin")},
		Tracer: []string{filepath.Join(bin, "tracer")},
		Caller: []string{filepath.Join(bin, "caller")},
		Reads:  []string{bin},
	}, err
}

// Python prepares the programs in Python. root is the checkout. It fails with ErrMissing without
// Python, or if the dependencies of the SDK cannot be installed.
func Python(ctx context.Context, root string) (Language, error) {
	interpreter, err := sdk(ctx, root, "sdk/python/scripts/check.sh")
	if err != nil {
		return Language{}, err
	}
	prefix, err := output(ctx, interpreter, "-c", "import sys; print(sys.base_prefix)")
	dir := filepath.Join(root, "server/internal/e2e/languages/python")
	return Language{
		Name:   "python",
		Plugin: []string{interpreter, "-B", filepath.Join(dir, "plugin.py")},
		Tracer: []string{interpreter, "-B", filepath.Join(dir, "tracer.py")},
		Caller: []string{interpreter, "-B", filepath.Join(dir, "caller.py")},
		Reads:  []string{dir, filepath.Join(root, "sdk/python/src"), filepath.Dir(filepath.Dir(interpreter)), prefix},
	}, err
}

// TypeScript compiles the programs in TypeScript in the folder dir, which looks like an author's
// repository. root is the checkout. It fails with ErrMissing without Node, or if the dependencies
// of the SDK cannot be installed.
func TypeScript(ctx context.Context, root, dir string) (Language, error) {
	built, err := sdk(ctx, root, "sdk/typescript/scripts/check.sh")
	if err != nil {
		return Language{}, err
	}
	modules := filepath.Join(root, "sdk/typescript/node_modules")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "server/internal/e2e/languages/typescript"))); err != nil {
		return Language{}, err
	}
	for _, scope := range []string{"@types", "@toolhost", "@opentelemetry"} {
		if err := os.MkdirAll(filepath.Join(dir, "node_modules", scope), 0o700); err != nil {
			return Language{}, err
		}
	}
	for name, target := range map[string]string{
		"@toolhost/sdk": built, "zod": filepath.Join(modules, "zod"), "@types/node": filepath.Join(modules, "@types/node"),
		"@opentelemetry/api": filepath.Join(modules, "@opentelemetry/api"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, "node_modules", name)); err != nil {
			return Language{}, err
		}
	}
	if _, err := output(ctx, filepath.Join(modules, ".bin/tsc"), "-p", dir); err != nil {
		return Language{}, err
	}
	node, err := exec.LookPath("node")
	return Language{
		Name:   "typescript",
		Plugin: []string{node, filepath.Join(dir, "plugin.js")},
		Tracer: []string{node, filepath.Join(dir, "tracer.js")},
		Caller: []string{node, filepath.Join(dir, "caller.js")},
		Reads:  []string{dir, built, modules, node},
	}, err
}

// sdk runs the setup script of an SDK and returns its output, a path.
func sdk(ctx context.Context, root, script string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(root, script), "setup")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, &stderr)
	}
	path := strings.TrimSpace(string(out))
	if path == "" {
		return "", fmt.Errorf("%w: %s", ErrMissing, strings.TrimSpace(stderr.String()))
	}
	return path, nil
}

// output runs a command and returns its output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
