// Package programs builds the programs that the tests of server/internal/e2e run, and starts
// servers among them. It compiles and links them with the flags of the Makefile. The tests
// therefore run the shipped programs, and Go's build cache serves both.
//
// Build links each program into the ignored folder .build/programs of the checkout, and again only
// after a change. Every test receives its own copies.
package programs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// Flags are the compiler flags of the Makefile, as words of GOFLAGS.
const Flags = "-trimpath -tags=grpcnotrace -gcflags=all=-dwarf=false"

// Build builds main packages, each named like "./cmd/toolhost" or "./plugins/fs", and copies the
// programs into dir. The last element of the package path is the name of the program. Build creates
// dir if it does not exist. It blocks while another process builds.
func Build(ctx context.Context, dir string, packages ...string) error {
	b, err := prepare(ctx)
	if err != nil {
		return err
	}
	if err := b.readSources(); err != nil {
		return fmt.Errorf("reading the folders of the sources: %w", err)
	}
	store := filepath.Join(b.root, ".build", "programs")
	if err := os.MkdirAll(store, 0o755); err != nil {
		return fmt.Errorf("making the folder of built programs: %w", err)
	}
	unlock, err := lock(store + ".lock")
	if err != nil {
		return fmt.Errorf("waiting for other builds: %w", err)
	}
	defer unlock()
	if err := b.build(ctx, store, packages); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for programs: %w", err)
	}
	for _, name := range packages {
		name = path.Base(name)
		if err := copyProgram(filepath.Join(store, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("copying the program %s: %w", name, err)
		}
	}
	return nil
}

// BuildOverlaid builds like Build, but replaces source files according to the build overlay in the
// file overlay (`go help build`, -overlay). It links directly into dir and keeps no copy.
func BuildOverlaid(ctx context.Context, overlay, dir string, packages ...string) error {
	b, err := prepare(ctx)
	if err != nil {
		return err
	}
	return b.build(ctx, dir, packages, "-overlay", overlay)
}

// builder contains the path of the checkout that contains the working directory, and its build
// flags.
type builder struct {
	root  string
	flags string
}

func prepare(ctx context.Context) (builder, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOMOD", "GOFLAGS").Output()
	var env struct{ GOMOD, GOFLAGS string }
	if err == nil {
		err = json.Unmarshal(out, &env)
	}
	if err != nil {
		return builder{}, fmt.Errorf("asking go for its environment: %w", err)
	}
	return builder{root: filepath.Dir(filepath.Dir(env.GOMOD)), flags: env.GOFLAGS}, nil
}

// readSources reads the folders of the sources. go test does not run a test again while the files
// and folders that it opened are as they were, and it does not know what the programs are made of.
func (b builder) readSources() error {
	for _, folder := range []string{"client", "gen", "internal", "plugins", "sdk", "server/cmd", "server/internal", "tool"} {
		if err := filepath.WalkDir(filepath.Join(b.root, folder), func(path string, entry fs.DirEntry, err error) error {
			if name := entry.Name(); err == nil && (name == "node_modules" || name == "__pycache__") {
				return fs.SkipDir
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// build builds packages of the two modules with programs: those of the shipped plugins are in a
// module of their own.
func (b builder) build(ctx context.Context, dir string, packages []string, flags ...string) error {
	var ours, plugins []string
	for _, name := range packages {
		if plugin, ok := strings.CutPrefix(name, "./plugins/"); ok {
			plugins = append(plugins, "./"+plugin)
		} else {
			ours = append(ours, name)
		}
	}
	return errors.Join(b.buildModule(ctx, "server", dir, ours, flags), b.buildModule(ctx, "plugins", dir, plugins, flags))
}

// buildModule builds packages of the module in a folder of the checkout.
func (b builder) buildModule(ctx context.Context, module, dir string, packages, flags []string) error {
	if len(packages) == 0 {
		return nil
	}
	args := append([]string{"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = filepath.Join(b.root, module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+strings.TrimSpace(b.flags+" "+Flags))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %v: %w\n%s", packages, err, out)
	}
	return nil
}

// lock blocks until it holds an exclusive lock of the file. The kernel releases the lock when its
// holder dies.
func lock(path string) (unlock func(), err error) {
	file, err := filelock.Create(path)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { file.Close() }, nil
}

// copyProgram copies a program. A hard link would not be enough, because go updates the
// modification time of a program that is up to date.
func copyProgram(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrExist)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return Write(to, data, 0o755)
}

// Write is os.WriteFile for a program that the test executes. While the file is open for writing,
// it lets no other goroutine start a process: a child holds the file open until it executes its own
// program, and the kernel does not execute a file that a process has open for writing.
func Write(path string, data []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, mode)
}
