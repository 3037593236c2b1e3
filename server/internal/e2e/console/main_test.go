//go:build more

package console_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	patience = flag.Duration("patience", eventually.Patience, "how long a step in the browser may take")
)

// bin is the folder with toolhost, agentd and plugins. browser is the context of a Chromium that
// runs.
var (
	bin     string
	browser context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if bin, err = os.MkdirTemp("", "toolhost-console-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	ctx := context.Background()
	if err := programs.Build(ctx, bin, "./cmd/toolhost", "./cmd/agentd"); err != nil {
		return 0, err
	}
	if err := programs.Build(ctx, filepath.Join(bin, "plugins"), "./plugins/fetch", "./plugins/fs", "./plugins/shell", "./internal/e2e/testplugins/consoleplugin"); err != nil {
		return 0, err
	}
	home := filepath.Join(bin, "home")
	allocator, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.UserDataDir(filepath.Join(home, "profile")), chromedp.Env("HOME="+home),
		// Root has no sandbox for a browser, and nothing here needs a network or a graphics card.
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))...)
	defer stop()
	chromium, stop := chromedp.NewContext(allocator)
	defer stop()
	if err := chromedp.Do(chromium); err != nil {
		return 0, fmt.Errorf("starting Chromium, which scripts/needs.sh installs: %w", err)
	}
	browser = chromium
	code = m.Run()
	return code, chromedp.Cancel(chromium)
}
