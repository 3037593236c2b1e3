// Package programs builds what the tests of internal/e2e run. What they run is what ships: compiled and linked with the
// flags of the Makefile, so that nothing is compiled a second time for them.
//
// Each program is linked once, into the ignored folder .build/programs of the checkout, and again only when it has
// changed; every test gets copies of its own, which nobody changes under it. The package runs nothing that it has built.
package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Build puts the programs of some packages, which are named as "./cmd/toolhost", into a folder, each under the last
// element of its package's path. It makes the folder if there is none. It blocks until no other process builds.
func Build(ctx context.Context, dir string, packages ...string) error {
	b, err := prepare(ctx)
	if err != nil {
		return err
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

// BuildOverlaid is Build with the files of an overlay in place of some of the checkout's (`go help build`, -overlay). What
// it builds is for its caller alone, and nothing of it is kept.
func BuildOverlaid(ctx context.Context, overlay, dir string, packages ...string) error {
	b, err := prepare(ctx)
	if err != nil {
		return err
	}
	return b.build(ctx, dir, packages, "-overlay", overlay)
}

// builder knows the checkout that the working directory is in, and how it is compiled.
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
	return builder{root: filepath.Dir(env.GOMOD), flags: env.GOFLAGS}, nil
}

func (b builder) build(ctx context.Context, dir string, packages []string, flags ...string) error {
	args := append([]string{"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+strings.TrimSpace(b.flags+" -trimpath -tags=grpcnotrace"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %v: %w\n%s", packages, err, out)
	}
	return nil
}

// lock blocks until nobody else holds the file's lock; the kernel lets go of it when its holder dies.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { file.Close() }, nil
}

// copyProgram copies instead of linking, because go touches what it finds up to date.
func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}
