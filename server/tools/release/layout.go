package main

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// images writes both OCI images for all architectures into one archive with an OCI image layout.
// They share most of their content, and podman, skopeo and containerd read such archives.
func (r *release) images(builds []build) (artifact, error) {
	dir := filepath.Join(r.scratch, "oci")
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		return artifact{}, err
	}
	made, err := r.makeImages(builds)
	if err != nil {
		return artifact{}, err
	}
	for _, image := range made {
		if err := p.AppendIndex(image.index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": image.tag})); err != nil {
			return artifact{}, err
		}
	}
	data, err := r.layoutArchive(os.DirFS(dir))
	if err != nil {
		return artifact{}, err
	}
	var programs []archived
	for _, b := range builds {
		programs = append(programs, placed(b.arch, slices.Concat(b.programs, b.plugins))...)
	}
	contents, err := programBill(programs)
	if err != nil {
		return artifact{}, err
	}
	name := "toolhost-" + r.label() + "-oci.tar"
	return artifact{name, contents}, r.write(name, data)
}

// layoutArchive returns a tar archive of an image layout. It is not compressed, because the layers
// are.
func (r *release) layoutArchive(layout fs.FS) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := fs.WalkDir(layout, ".", func(name string, entry fs.DirEntry, err error) error { // in the order of the names
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(layout, name)
		if err != nil {
			return err
		}
		return writeFile(w, archived{name: name, data: data, mode: 0o644}, r.time)
	})
	if err != nil {
		return nil, err
	}
	err = w.Close()
	return archive.Bytes(), err
}
