package sdkarchive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"strings"
	"time"
)

// File is a file with its content. Name is relative and has slashes.
type File struct {
	Name string
	Data []byte
}

// filesIn returns the files below a folder of sources for which keep returns true, in order. strip
// is a prefix of the folder with a slash at its end. filesIn removes it from the names.
func filesIn(sources fs.FS, folder, strip string, keep func(name string) bool) ([]File, error) {
	var files []File
	err := fs.WalkDir(sources, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !keep(name) {
			return err
		}
		data, err := fs.ReadFile(sources, name)
		files = append(files, File{strings.TrimPrefix(name, strip), data})
		return err
	})
	return files, err
}

// zipEpoch is the earliest time that a zip archive can store.
var zipEpoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// zipped returns a zip archive. All of its files have the same time and mode.
func zipped(files []File) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: zipEpoch}
		header.SetMode(0o644)
		into, err := w.CreateHeader(header)
		if err == nil {
			_, err = into.Write(f.Data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}

// tarEpoch is the time that npm gives to all files of a package.
var tarEpoch = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// tarred returns a compressed tar archive in which all files are below a folder. They have the same
// time and owner. Scripts are executable.
func tarred(folder string, files []File) ([]byte, error) {
	var archive bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&archive, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		mode := int64(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.Name, Size: int64(len(f.Data)), Mode: mode, ModTime: tarEpoch, Format: tar.FormatPAX,
		})
		if err == nil {
			_, err = w.Write(f.Data)
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
