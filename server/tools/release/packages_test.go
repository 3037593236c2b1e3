package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/klauspost/compress/zstd"
)

// sampled returns a release and the files that it packs, without compiling them.
func sampled(t *testing.T) (*release, build) {
	t.Helper()
	r := &release{
		source: source{root: "../../..", version: "0.2.0-rc.1", commit: "c0ffee", time: time.Date(2001, time.February, 3, 0, 0, 0, 0, time.UTC)},
		dir:    t.TempDir(), scratch: t.TempDir(),
	}
	return r, build{
		arch:     "amd64",
		programs: []archived{{name: "bin/agentd", data: []byte("a"), mode: 0o755}, {name: "bin/toolhost", data: []byte("t"), mode: 0o755}},
		plugins:  []archived{{name: pluginFolder + "/fs", data: []byte("f"), mode: 0o755}},
		texts: []archived{
			{name: "LICENSE", data: []byte("Apache"), mode: 0o644}, {name: "README.md", mode: 0o644}, {name: "CHANGELOG.md", mode: 0o644},
			{name: "share/man/man1/toolhost.1", mode: 0o644}, {name: "share/zsh/site-functions/_toolhost", mode: 0o644},
			{name: "share/bash-completion/completions/agentd", mode: 0o644}, {name: "share/doc/toolhost/licenses/m/LICENSE", mode: 0o644},
		},
	}
}

// contents returns the files of a tar archive by their absolute paths.
func contents(t *testing.T, archive io.Reader) map[string]*tar.Header {
	t.Helper()
	found := map[string]*tar.Header{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found["/"+strings.Trim(strings.TrimPrefix(h.Name, "."), "/")] = h
	}
}

// unpackedDeb returns the files of a Debian package, and those that dpkg uses itself.
func unpackedDeb(t *testing.T, pkg []byte) (data, control map[string]*tar.Header) {
	t.Helper()
	for r := ar.NewReader(bytes.NewReader(pkg)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return data, control
		}
		if err != nil {
			t.Fatal(err)
		}
		switch strings.TrimRight(h.Name, "/ ") {
		case "control.tar.gz":
			z, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			control = contents(t, z)
		case "data.tar.zst":
			z, err := zstd.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			data = contents(t, z)
			z.Close()
		}
	}
}

// The package has the files of an archive where Debian expects them, belongs to root, and has the
// times of the commit. Two packages are equal.
func TestDebianPackage(t *testing.T) {
	r, b := sampled(t)
	made, err := r.deb(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := "toolhost_0.2.0~rc.1_amd64.deb"; made.name != want {
		t.Errorf("the package is %s, want %s", made.name, want)
	}
	pkg, err := os.ReadFile(filepath.Join(r.dir, made.name))
	if err != nil {
		t.Fatal(err)
	}
	data, control := unpackedDeb(t, pkg)
	for place, mode := range map[string]fs.FileMode{
		"/usr/bin/toolhost": 0o755, "/usr/bin/agentd": 0o755, "/usr/lib/toolhost/plugins/fs": 0o755,
		"/usr/share/doc/toolhost/copyright": 0o644, "/usr/share/man/man1/toolhost.1.gz": 0o644,
		"/usr/share/zsh/vendor-completions/_toolhost": 0o644, "/usr/share/bash-completion/completions/agentd": 0o644,
		"/usr/lib/systemd/system/toolhost.service": 0o644, "/usr/lib/sysusers.d/toolhost.conf": 0o644,
		"/etc/toolhost/toolhost.yaml": 0o644, "/etc/toolhost/agentd.env": 0o600,
	} {
		if h := data[place]; h == nil || h.FileInfo().Mode().Perm() != mode || h.Uid != 0 || !h.ModTime.Equal(r.time) {
			t.Errorf("%s is %+v, want mode %v, root, and the time of the commit; there are %q", place, h, mode, slices.Sorted(maps.Keys(data)))
		}
	}
	for _, name := range []string{"/control", "/conffiles", "/postinst", "/prerm", "/postrm"} {
		if control[name] == nil {
			t.Errorf("the package has no %s", name)
		}
	}
	again, b := sampled(t)
	if _, err := again.deb(b); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(filepath.Join(again.dir, made.name)); err != nil || !bytes.Equal(pkg, second) {
		t.Errorf("a second package differs, or %v", err)
	}
}

// The images have the programs, no root user, and folders for the volumes that belong to that user.
// Two archives are equal.
func TestImages(t *testing.T) {
	r, b := sampled(t)
	made, err := r.makeImages([]build{b})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ tag, command, plugin string }{
		{"0.2.0-rc.1", "/usr/lib/toolhost/plugins", "/usr/lib/toolhost/plugins/fs"}, {"0.2.0-rc.1-core", "/plugins", ""},
	} {
		if made[i].tag != want.tag {
			t.Errorf("image %d has the tag %s, want %s", i, made[i].tag, want.tag)
		}
		config, files := readImage(t, made[i].index)
		if config.Config.User != "65532:65532" || !slices.Contains(config.Config.Cmd, want.command) || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/toolhost"}) {
			t.Errorf("the image is configured with %+v", config.Config)
		}
		if files["/usr/bin/toolhost"] == nil || files["/usr/bin/agentd"] == nil || files["/etc/ssl/certs/ca-certificates.crt"] == nil || (files["/usr/lib/toolhost/plugins/fs"] != nil) != (want.plugin != "") {
			t.Errorf("the image %s has the files %q", want.tag, slices.Sorted(maps.Keys(files)))
		}
		for volume := range config.Config.Volumes {
			if h := files[volume]; h == nil || h.Typeflag != tar.TypeDir || h.Uid != imageUser && h.Mode != 0o1777 {
				t.Errorf("the volume %s is %+v, which the user cannot write", volume, h)
			}
		}
	}
}

// readImage returns the configuration and the files of the only image of an index.
func readImage(t *testing.T, index v1.ImageIndex) (*v1.ConfigFile, map[string]*tar.Header) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the index is %+v, %v", manifest, err)
	}
	made, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := made.Layers()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*tar.Header{}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(files, contents(t, content))
		_ = content.Close()
	}
	return config, files
}

// The archive of the images is an image layout that readers understand, and two archives are equal.
func TestImageLayout(t *testing.T) {
	var archives [2][]byte
	for i := range archives {
		r, b := sampled(t)
		b.programs, b.plugins = nil, nil // the bill needs real programs
		made, err := r.images([]build{b})
		if err != nil {
			t.Fatal(err)
		}
		if archives[i], err = os.ReadFile(filepath.Join(r.dir, made.name)); err != nil {
			t.Fatal(err)
		}
		index, err := layout.ImageIndexFromPath(filepath.Join(r.scratch, "oci"))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil || len(manifest.Manifests) != 2 || manifest.Manifests[1].Annotations["org.opencontainers.image.ref.name"] != "0.2.0-rc.1-core" {
			t.Errorf("the layout has the images %+v, %v", manifest, err)
		}
	}
	if files := contents(t, bytes.NewReader(archives[0])); files["/oci-layout"] == nil || files["/index.json"] == nil {
		t.Errorf("the archive has the files %q", slices.Sorted(maps.Keys(files)))
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("a second archive differs")
	}
}
