package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip" // takes half the time of the standard library
)

// archived is a file of an archive.
type archived struct {
	name  string // with slashes, relative to the archive's folder; a folder ends with a slash
	data  []byte
	mode  int64
	owner int                  // the ids of the user and the group; 0 is root
	build *buildinfo.BuildInfo // nil unless the file is a program
}

// tarred returns a compressed tar archive with one folder that contains the files, or without a
// folder if it is empty. It depends on its arguments alone: gzip's header has neither a time nor a
// name.
func tarred(folder string, files []archived, modified time.Time) ([]byte, error) {
	var archive bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&archive, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		f.name = path.Join(folder, f.name) + f.name[len(strings.TrimRight(f.name, "/")):]
		if err := writeFile(w, f, modified); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return archive.Bytes(), err
}

// writeFile appends a file or a folder to a tar archive.
func writeFile(w *tar.Writer, f archived, modified time.Time) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: modified,
		Uid: f.owner, Gid: f.owner, Format: tar.FormatPAX,
	}
	if strings.HasSuffix(f.name, "/") {
		h.Typeflag = tar.TypeDir
	}
	if f.owner == 0 {
		h.Uname, h.Gname = "root", "root"
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(f.data)
	return err
}
