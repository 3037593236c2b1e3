package boundary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

var (
	all     = flag.Bool("boundary.all", false, "kill at every boundary, not at some")
	seed    = flag.Uint64("boundary.seed", 0, "which boundaries are chosen; 0: any, by a seed that is printed")
	workers = flag.Int("boundary.workers", 6, "how many runs go on at the same time: most of their time they wait")
)

// given is whether a flag requests that the test kills at every boundary.
var given bool

// bin is the folder with toolhost, agentd, plugins/counterplugin, askplugin and halting/agentd. The
// last one is agentd with a journal that can halt at an append.
var bin string

// patience bounds every wait, so that a hang fails a test instead of blocking it.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	given = *all
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	if agentChanged() {
		*all = true
	}
	fmt.Printf("boundary: -boundary.seed=%d -boundary.all=%v\n", *seed, *all)
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// agentPackages are the packages that decide what a run does at a boundary.
var agentPackages = []string{"server/internal/agentd/agent", "server/internal/agentd/loop", "server/internal/agentd/runstore", "server/internal/agentd/snapshot", "server/internal/toolhost/callstore", "server/internal/toolhost/host", "client", "server/internal/agentd/commands"}

// agentChanged reports whether the test must kill at all boundaries although no flag requests it.
// This is so in CI (CI=true) if agentPackages differ from the commit in BOUNDARY_BASE. Without that
// commit, or without git, agentChanged returns false.
func agentChanged() bool {
	base := os.Getenv("BOUNDARY_BASE")
	if os.Getenv("CI") != "true" || base == "" {
		return false
	}
	args := append([]string{"-C", "../../../..", "diff", "--quiet", base, "--"}, agentPackages...)
	exit, ok := errors.AsType[*exec.ExitError](exec.Command("git", args...).Run())
	return ok && exit.ExitCode() == 1
}

func buildAndRun(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "toolhost-boundary-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin = dir
	overlay, err := writeOverlay(dir)
	if err != nil {
		return 0, fmt.Errorf("preparing the agentd that halts: %w", err)
	}
	ctx := context.Background()
	for _, build := range []func() error{
		func() error {
			return programs.Build(ctx, dir, "./cmd/toolhost", "./cmd/agentd", "./internal/e2e/testplugins/askplugin")
		},
		func() error {
			return programs.Build(ctx, filepath.Join(dir, "plugins"), "./internal/e2e/testplugins/counterplugin")
		},
		func() error {
			return programs.BuildOverlaid(ctx, overlay, filepath.Join(dir, "halting"), "./cmd/agentd")
		},
	} {
		if err := build(); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// writeOverlay writes a build overlay that replaces one method of each store of journals, so that
// agentd can halt at an append. All other code is the shipped code.
func writeOverlay(dir string) (path string, err error) {
	replace := map[string]string{}
	for store, file := range map[string]string{"sqlite": "write.go", "postgres": "append.go"} {
		if err := halting(dir, store, file, replace); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}

// halting adds the files that make a store halt to those that replace others. file has its method.
func halting(dir, store, file string, replace map[string]string) error {
	folder, err := filepath.Abs("../../agentd/runstore/" + store)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return err
	}
	method := []byte("func (s *Store) Append(")
	if bytes.Count(own, method) != 1 {
		return fmt.Errorf("there is no %q in %s any more; say where it is", method, file)
	}
	added, err := os.ReadFile("testdata/halt.go.txt")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		file:      bytes.Replace(own, method, []byte("func (s *Store) appendAtOnce("), 1),
		"halt.go": bytes.Replace(added, []byte("package sqlite"), []byte("package "+store), 1),
	} {
		path := filepath.Join(dir, store+"-"+name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		replace[filepath.Join(folder, name)] = path
	}
	return nil
}
