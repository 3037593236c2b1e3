// Command release builds the files of a release into a folder: the programs as an archive and a
// Debian package for each architecture and as OCI images, the SDKs as packages of their ecosystems,
// a bill of materials (SBOM) for each artifact, and checksums. `make release` runs it.
//
// It runs in the checkout that it was compiled from. The same commit and the same version of Go
// result in the same bytes, in every folder and at any time. For that, the times in the archives
// are the commit's, no file names a folder of the machine, and archives have a fixed order, owner
// and mode.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	out, version string
	arches       []string
	dirty        bool
	published    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.out, "out", "dist", "the folder `DIR` for the files; an earlier release in it is replaced")
	flag.StringVar(&o.version, "version", "", "the `VERSION`, such as 0.1.0; it must be the one that the sources have")
	flag.BoolVar(&o.dirty, "dirty", false, "also release a checkout with uncommitted changes, or with promises that are not recorded; with changes, the files of the programs get the suffix +dirty")
	flag.BoolVar(&o.published, "published", false, "let `toolhost new` refer to the SDKs in the public registries, which have them by then")
	arches := flag.String("arch", "amd64,arm64", "the architectures, separated by commas; without one, the release has no programs")
	flag.Parse()
	o.arches = strings.FieldsFunc(*arches, func(r rune) bool { return r == ',' })
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run builds the release in a folder beside o.out, and moves it to o.out after the last step. So
// o.out never holds a part of a release.
func run(ctx context.Context, o options, stdout io.Writer) error {
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	if err := checkReplaceable(out); err != nil {
		return err
	}
	s, err := readSource(ctx, o.version, o.dirty)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &release{source: s, published: o.published, dir: filepath.Join(work, "dist"), scratch: filepath.Join(work, "scratch")}
	for _, dir := range []string{r.dir, r.scratch} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := r.build(ctx, o.arches, stdout); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(r.dir, out)
}

// checksums is the file with the digests of all other files. It is the mark of a complete release.
const checksums = "SHA256SUMS"

// checkReplaceable returns an error if the folder holds something else than a release.
func checkReplaceable(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("looking at the folder for the release: %w", err)
	}
	if _, err := os.Stat(filepath.Join(out, checksums)); err != nil {
		return fmt.Errorf("%s holds files and no %s, so it is not an earlier release; name another folder", out, checksums)
	}
	return nil
}
