package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Extract reads a whole archive, creates its files in an empty folder (mode 0600, folders 0700),
// and compares them with the manifest. It returns the manifest and the digest of the archive
// (sha256:HEX). If it returns an error, the folder may have some of the files, and the caller must
// use none of them.
//
// Extract creates files below the folder only, whatever the names of the members are, and follows
// no links. It accepts regular files only.
//
// A small archive can decompress to any size. So Extract reads the archive twice. The first time it
// only looks for the manifest, and writes nothing. The second time it creates the files that the
// manifest declares, each with the declared size at most. It refuses an archive that declares more
// bytes than the file system has free, so a restore does not fill the disk of a running program.
func Extract(ctx context.Context, archive, into string) (*Manifest, string, error) {
	m, digest, err := extract(ctx, archive, into)
	if err != nil {
		return nil, "", fmt.Errorf("the backup %s cannot be used: %w", archive, err)
	}
	return m, digest, nil
}

// CheckFolder makes an empty folder of mode 0700 for an archive that is only checked. It is in the
// folder state, where a restore would need the same space. The folder for temporary files is often
// in memory and smaller than a backup, so CheckFolder uses it only if state does not exist or the
// user cannot write it. The caller removes the folder.
func CheckFolder(state string) (string, error) {
	made, err := os.MkdirTemp(state, ".restore-check-")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return os.MkdirTemp("", "restore-check-")
	}
	return made, err
}

func extract(ctx context.Context, archive, into string) (*Manifest, string, error) {
	file, err := os.OpenFile(archive, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, "", errors.Join(errors.New("it is not a regular file"), err)
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	manifest, digest, err := readArchive(ctx, file, survey{free: freeBytes(into)}.members)
	if err != nil {
		return nil, "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, "", err
	}
	_, again, err := readArchive(ctx, file, creation{root, manifest}.members)
	if err == nil && again != digest {
		err = errors.New("it changed while it was read")
	}
	return manifest, digest, err
}

// readArchive decompresses an archive, calls members with its content, and returns the manifest
// that members returns and the digest of the archive.
func readArchive(ctx context.Context, file io.Reader, members func(*tar.Reader) (*Manifest, error)) (*Manifest, string, error) {
	sum := sha256.New()
	source := io.TeeReader(&contextReader{ctx, file}, sum)
	zip, err := gzip.NewReader(source)
	if err != nil {
		return nil, "", fmt.Errorf("it is not a backup: %w", err)
	}
	zip.Multistream(false)
	m, err := members(tar.NewReader(zip))
	if err != nil {
		return nil, "", err
	}
	// gzip compares its checksum at the end of the data only.
	if tail, err := io.Copy(io.Discard, io.LimitReader(zip, maxTail+1)); err != nil {
		return nil, "", fmt.Errorf("it is damaged: %w", err)
	} else if tail > maxTail {
		return nil, "", errors.New("something follows the manifest")
	}
	if _, err := io.Copy(io.Discard, source); err != nil {
		return nil, "", err
	}
	return m, "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// nextMember returns the header of the next member, which is a regular file with an allowed name.
func nextMember(archive *tar.Reader) (*tar.Header, error) {
	header, err := archive.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is incomplete: it has no manifest")
	case err != nil:
		return nil, fmt.Errorf("it is damaged or incomplete: %w", err)
	}
	if err := checkName(header.Name); err != nil {
		return nil, err
	}
	if header.Typeflag != tar.TypeReg {
		return nil, fmt.Errorf("its member %s is not a regular file", header.Name)
	}
	return header, nil
}

// readManifest reads the last member.
func readManifest(archive *tar.Reader) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(archive, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("it is damaged or incomplete: %w", err)
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("its manifest has more than %d bytes", maxManifest)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("something follows the manifest"), err)
	}
	return m, nil
}

// survey finds the manifest of an archive, and compares it with the names and sizes of the members.
type survey struct {
	free uint64 // bytes of the file system for the files
}

func (s survey) members(archive *tar.Reader) (*Manifest, error) {
	sizes := map[string]int64{}
	var total uint64
	for {
		header, err := nextMember(archive)
		if err != nil {
			return nil, err
		}
		if header.Name == manifestName {
			break
		}
		if _, twice := sizes[header.Name]; twice {
			return nil, fmt.Errorf("it has the member %s twice", header.Name)
		}
		// Before the content is read: to decompress a member that is refused later takes time only.
		sizes[header.Name] = header.Size
		if uint64(header.Size) > s.free-total {
			return nil, fmt.Errorf("its files take more than the %d bytes that are free for them", s.free)
		}
		total += uint64(header.Size)
		if len(sizes) > maxMembers {
			return nil, fmt.Errorf("it has more than %d files", maxMembers)
		}
	}
	m, err := readManifest(archive)
	if err != nil {
		return nil, err
	}
	if len(m.Files) != len(sizes) {
		return nil, fmt.Errorf("it has %d files, and its manifest names %d", len(sizes), len(m.Files))
	}
	for i := range m.Files {
		want := &m.Files[i]
		switch size, ok := sizes[want.Path]; {
		case !ok:
			return nil, fmt.Errorf("it lacks the file %s", want.Path)
		case size != want.Size:
			return nil, fmt.Errorf("its file %s has %d bytes, and the manifest says %d", want.Path, size, want.Size)
		}
		delete(sizes, want.Path) // the manifest must not name it twice
	}
	return m, nil
}

// creation creates the files that a manifest declares.
type creation struct {
	root     *os.Root
	manifest *Manifest
}

func (c creation) members(archive *tar.Reader) (*Manifest, error) {
	declared := map[string]*File{}
	for i := range c.manifest.Files {
		declared[c.manifest.Files[i].Path] = &c.manifest.Files[i]
	}
	for {
		header, err := nextMember(archive)
		if err != nil {
			return nil, err
		}
		if header.Name == manifestName {
			break
		}
		want := declared[header.Name]
		if want == nil || want.Size != header.Size {
			return nil, errors.New("it changed while it was read")
		}
		delete(declared, header.Name)
		if err := create(c.root, want, archive); err != nil {
			return nil, fmt.Errorf("its member %s: %w", header.Name, err)
		}
	}
	return readManifest(archive)
}

// create creates one file with the declared content. The file is on the disk then.
func create(root *os.Root, want *File, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(want.Path), 0o700); err != nil {
		return err
	}
	file, err := root.OpenFile(want.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(file, sum), content, want.Size)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return fmt.Errorf("it has the digest %.12s…, and the manifest says %.12s…", got, want.SHA256)
	}
	return nil
}

// freeBytes returns how much a user may write to the file system of a folder. If that is unknown,
// it returns the largest number.
func freeBytes(dir string) uint64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Blocks == 0 {
		return math.MaxUint64
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize)
}
