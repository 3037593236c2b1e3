//go:build more

package fleet_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

var (
	least   = flag.Int("fleet.runs", 100, "how many runs there are at least: new ones begin until the last fault is over")
	lasts   = flag.Duration("fleet.for", 0, "how long faults are made; 0: until each was made once")
	seed    = flag.Uint64("fleet.seed", 0, "which faults are made; 0: any, by a seed that is printed")
	waiting = flag.Int("fleet.waiting", 200, "how many runs wait for a person while everything is restarted")
)

// bin is the folder with toolhost, agentd and plugins/payplugin.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if bin, err = os.MkdirTemp("", "toolhost-fleet-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	ctx := context.Background()
	if err := programs.Build(ctx, bin, "./cmd/toolhost", "./cmd/agentd"); err != nil {
		return 0, err
	}
	if err := programs.Build(ctx, filepath.Join(bin, "plugins"), "./internal/e2e/testplugins/payplugin"); err != nil {
		return 0, err
	}
	if err := linkTemporal(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
