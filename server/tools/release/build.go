package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// release is a release that is being built.
type release struct {
	source
	published bool   // the public registries will have the SDKs
	dir       string // the files of the release
	scratch   string // for everything else, removed at the end
}

// artifact is one file of the release that users fetch, with the list of its parts for the SBOM.
type artifact struct {
	name string // relative to the folder of the release, with slashes
	bill bill
}

// build writes all files into the release's folder, and prints them with their sizes. A note
// follows if another version of Go builds releases.
func (r *release) build(ctx context.Context, arches []string, stdout io.Writer) error {
	note, err := otherToolchain(runtime.Version(), r.read)
	if err != nil {
		return err
	}
	artifacts, err := r.packages()
	if err != nil {
		return err
	}
	module, err := r.goModule()
	if err != nil {
		return fmt.Errorf("making the Go module: %w", err)
	}
	artifacts = append(artifacts, module)
	var builds []build
	for _, arch := range arches {
		b, err := r.programs(ctx, arch)
		if err != nil {
			return fmt.Errorf("building the programs for linux/%s: %w", arch, err)
		}
		builds = append(builds, b)
	}
	programs, err := r.installable(builds)
	if err != nil {
		return err
	}
	artifacts = append(artifacts, programs...)
	for _, a := range artifacts {
		if err := r.writeBill(a); err != nil {
			return fmt.Errorf("writing the SBOM of %s: %w", a.name, err)
		}
	}
	if err := r.sum(stdout); err != nil || note == "" {
		return err
	}
	_, err = fmt.Fprintln(stdout, note)
	return err
}

// installable writes the files that install programs.
func (r *release) installable(builds []build) ([]artifact, error) {
	var artifacts []artifact
	for _, b := range builds {
		archive, err := r.archive(b)
		if err != nil {
			return nil, fmt.Errorf("making the archive for linux/%s: %w", b.arch, err)
		}
		deb, err := r.deb(b)
		if err != nil {
			return nil, fmt.Errorf("making the Debian package for %s: %w", b.arch, err)
		}
		artifacts = append(artifacts, archive, deb)
	}
	if len(builds) == 0 {
		return nil, nil
	}
	images, err := r.images(builds)
	if err != nil {
		return nil, fmt.Errorf("making the OCI images: %w", err)
	}
	return append(artifacts, images), nil
}

// packages writes the packages for Python and npm. The wheel and the tarball have the bytes that
// `toolhost new` writes.
func (r *release) packages() ([]artifact, error) {
	wheel, err := sdkarchive.Wheel(toolhost.Sources())
	if err != nil {
		return nil, fmt.Errorf("making the wheel: %w", err)
	}
	sdist, err := sdkarchive.Sdist(toolhost.Sources(), r.read, r.files)
	if err != nil {
		return nil, fmt.Errorf("making the source distribution: %w", err)
	}
	npm, err := sdkarchive.NPM(toolhost.Sources())
	if err != nil {
		return nil, fmt.Errorf("making the npm tarball: %w", err)
	}
	python, err := pythonBill(toolhost.Sources())
	if err != nil {
		return nil, err
	}
	node, err := r.npmBill()
	if err != nil {
		return nil, err
	}
	for _, f := range []sdkarchive.File{wheel, sdist, npm} {
		if err := r.write(f.Name, f.Data); err != nil {
			return nil, err
		}
	}
	return []artifact{{wheel.Name, python}, {sdist.Name, python}, {npm.Name, node}}, nil
}

// read returns the content of a file of the checkout.
func (r *release) read(name string) ([]byte, error) {
	return os.ReadFile(r.path(name))
}

// path returns the path of a file of the checkout.
func (r *release) path(name string) string { return filepath.Join(r.root, filepath.FromSlash(name)) }

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	into := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil {
		return err
	}
	return os.WriteFile(into, data, 0o644)
}

// sum writes the checksums of all files in the form that sha256sum checks.
func (r *release) sum(stdout io.Writer) error {
	var lines []string
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		digest, size, err := digestOf(filepath.Join(r.dir, filepath.FromSlash(name)))
		lines = append(lines, digest+"  "+name+"\n")
		fmt.Fprintf(stdout, "%11d  %s\n", size, name)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return r.write(checksums, []byte(strings.Join(lines, "")))
}

// digestOf returns the SHA-256 digest of a file, in hexadecimal, and its size in bytes.
func digestOf(path string) (digest string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	h := sha256.New()
	size, err = io.Copy(h, file)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
