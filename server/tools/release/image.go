package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user of the programs in the images. Kubernetes can check that it is not root
// only if it is a number.
const imageUser = 65532

// The folders of the images. A container with a read-only root file system needs volumes for those
// that are the user's.
const (
	imagePlugins   = "/usr/lib/toolhost/plugins"
	imageWorkspace = "/workspace"
	imageState     = "/var/lib/toolhost"
	imageNoPlugins = "/plugins" // for those of the operator, in the image without plugins
)

// image is an image for all architectures.
type image struct {
	tag   string
	index v1.ImageIndex
}

// makeImages returns the two images: with the shipped plugins, and without them. The second one is
// for operators who have plugins of their own, and is the first part of the first one.
func (r *release) makeImages(builds []build) ([]image, error) {
	tag := strings.ReplaceAll(r.label(), "+", "-")
	whole, core := image{tag, emptyIndex()}, image{tag + "-core", emptyIndex()}
	for _, b := range builds {
		base, err := r.imageBase(b)
		if err != nil {
			return nil, err
		}
		plugins, err := r.layer(placed("usr/lib/toolhost/plugins", b.plugins))
		if err != nil {
			return nil, err
		}
		for _, of := range []struct {
			image   *image
			plugins string
			layers  []v1.Layer
		}{{&whole, imagePlugins, []v1.Layer{base, plugins}}, {&core, imageNoPlugins, []v1.Layer{base}}} {
			made, err := r.image(b.arch, of.plugins, of.layers)
			if err != nil {
				return nil, err
			}
			of.image.index = mutate.AppendManifests(of.image.index, mutate.IndexAddendum{
				Add: made, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: b.arch}},
			})
		}
	}
	return []image{whole, core}, nil
}

func emptyIndex() v1.ImageIndex { return mutate.IndexMediaType(empty.Index, types.OCIImageIndex) }

// image returns the image of an architecture.
func (r *release) image(arch, plugins string, layers []v1.Layer) (v1.Image, error) {
	made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, layer := range layers {
		var err error
		if made, err = mutate.Append(made, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "make release"}}); err != nil {
			return nil, err
		}
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User:       fmt.Sprintf("%d:%d", imageUser, imageUser),
		Env:        []string{"PATH=/usr/bin", "HOME=" + imageState, "XDG_STATE_HOME=" + path.Dir(imageState), "XDG_CONFIG_HOME=/etc"},
		Entrypoint: []string{"/usr/bin/toolhost"},
		Cmd:        []string{"serve", "--plugins", plugins, "--workspace", imageWorkspace},
		WorkingDir: imageWorkspace,
		Volumes:    map[string]struct{}{imageWorkspace: {}, imageState: {}, "/tmp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "toolhost", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": "https://github.com/toolhost/toolhost", "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(made, config)
}

// imageBase returns the layer with everything but the plugins. The programs are static, so there is
// no distribution below them.
func (r *release) imageBase(b build) (v1.Layer, error) {
	files := placed("usr", b.programs)
	for _, f := range b.texts {
		if strings.HasPrefix(f.name, "share/doc/") {
			files = append(files, placed("usr", []archived{f})...)
		}
	}
	var roots bytes.Buffer
	for c := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate}); err != nil {
			return nil, err
		}
	}
	files = append(files,
		archived{name: "etc/ssl/certs/ca-certificates.crt", data: roots.Bytes(), mode: 0o644},
		archived{name: "etc/passwd", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:0:root:/:/\ntoolhost:x:%d:%d:toolhost:%s:/\n", imageUser, imageUser, imageState)},
		archived{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\ntoolhost:x:%d:\n", imageUser)},
		archived{name: "tmp/", mode: 0o1777},
		archived{name: imageNoPlugins[1:] + "/", mode: 0o755},
		archived{name: imageState[1:] + "/", mode: 0o700, owner: imageUser},
		archived{name: imageWorkspace[1:] + "/", mode: 0o755, owner: imageUser},
	)
	return r.layer(files)
}

// placed returns files below a folder. Those of the plugins' folder lose it.
func placed(folder string, files []archived) []archived {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].name = path.Join(folder, strings.TrimPrefix(moved[i].name, pluginFolder))
	}
	return moved
}

// layer returns a layer of an image. It compresses the files once: the library would do so again
// whenever it needs their digest or their bytes.
func (r *release) layer(files []archived) (v1.Layer, error) {
	slices.SortFunc(files, func(a, b archived) int { return strings.Compare(a.name, b.name) })
	data, err := tarred("", files, r.time)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, tarball.WithMediaType(types.OCILayer))
}
