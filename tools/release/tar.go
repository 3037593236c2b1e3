package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"time"
)

// archived is a file of an archive.
type archived struct {
	name  string // with slashes, relative to the archive's folder
	data  []byte
	mode  int64
	build *buildinfo.BuildInfo // nil unless the file is a program
}

// tarred returns a compressed tar archive with one folder that contains the files. It depends on its
// arguments alone: the files belong to root, and gzip's header has neither a time nor a name.
func tarred(folder string, files []archived, modified time.Time) ([]byte, error) {
	var archive bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&archive, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: modified,
			Uname: "root", Gname: "root", Format: tar.FormatPAX,
		})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return archive.Bytes(), err
}
