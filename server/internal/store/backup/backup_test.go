package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/store/backup"
)

var made = time.Date(2026, 11, 22, 3, 4, 5, 0, time.UTC)

// archive writes an archive with two files and returns its path and digest.
func archive(t *testing.T) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "b.tar.gz")
	w, err := backup.Create(path, backup.Manifest{Program: "toolhost", ProgramVersion: "1", Time: made})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write(t, w.Scratch(), "the ledger")
	w.AddLedger(backup.Ledger{Path: "calls.db", ID: "abc"})
	if err := w.AddCopy(t.Context(), "calls.db"); err != nil {
		t.Fatal(err)
	}
	if err := w.AddText("artifacts/a", []byte("an artifact")); err != nil {
		t.Fatal(err)
	}
	if _, digest, err = w.Finish(); err != nil {
		t.Fatal(err)
	}
	return path, digest
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// content returns the files below a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var want = map[string]string{"calls.db": "the ledger", filepath.Join("artifacts", "a"): "an artifact"}

func TestExtractReturnsWhatWasWritten(t *testing.T) {
	path, digest := archive(t)
	into := t.TempDir()
	m, got, err := backup.Extract(t.Context(), path, into)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, into)); diff != "" {
		t.Error(diff)
	}
	if got != digest || m.Program != "toolhost" || !m.Time.Equal(made) || m.User != os.Getuid() || m.Ledgers[0].ID != "abc" || !m.Has("artifacts/a") {
		t.Errorf("digest %s, want %s; %+v", got, digest, m)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive has the mode %v, %v", info.Mode(), err)
	}
	if left := content(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("beside the archive are %v", left)
	}
}

// An archive never replaces a file, and another process's incomplete files stay.
func TestCreateRefusesToReplace(t *testing.T) {
	path, _ := archive(t)
	before := content(t, filepath.Dir(path))
	if _, err := backup.Create(path, backup.Manifest{Program: "toolhost", Time: made}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, content(t, filepath.Dir(path))); diff != "" {
		t.Error(diff)
	}
	late := filepath.Join(t.TempDir(), "late.tar.gz")
	w, err := backup.Create(late, backup.Manifest{Program: "toolhost", Time: made})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := backup.Create(late, backup.Manifest{Program: "toolhost", Time: made}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second writer: error %v", err)
	}
	write(t, late, "another file")
	if _, _, err := w.Finish(); err == nil || content(t, filepath.Dir(late))["late.tar.gz"] != "another file" {
		t.Errorf("it replaced a file that appeared meanwhile: %v", err)
	}
}

// A killed writer leaves a folder. The next writer of the same archive removes it.
func TestCreateRemovesWhatAKilledWriterLeft(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "b.tar.gz.partial")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(left, "archive"), "half")
	write(t, filepath.Join(left, "copy"), "half")
	w, err := backup.Create(filepath.Join(dir, "b.tar.gz"), backup.Manifest{Program: "toolhost", Time: made})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if files := content(t, dir); len(files) != 1 {
		t.Errorf("the folder has %d files", len(files))
	}
}

// A folder as the target gives the archive a name with the time.
func TestCreateInAFolder(t *testing.T) {
	dir := t.TempDir()
	w, err := backup.Create(dir, backup.Manifest{Program: "agentd", Time: made})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if want := filepath.Join(dir, "agentd-20261122T030405Z.tar.gz"); w.Path() != want {
		t.Errorf("the archive is %s, want %s", w.Path(), want)
	}
}

// Every truncation is an error, and every changed byte is an error or changes nothing.
func TestDamagedArchives(t *testing.T) {
	path, digest := archive(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	extract := func(data []byte) (map[string]string, string, error) {
		damaged := filepath.Join(t.TempDir(), "damaged")
		write(t, damaged, string(data))
		into := t.TempDir()
		_, got, err := backup.Extract(t.Context(), damaged, into)
		return content(t, into), got, err
	}
	for length := range len(whole) {
		if _, _, err := extract(whole[:length]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", length, len(whole))
		}
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1 << (i % 8)
		files, got, err := extract(damaged)
		if err == nil && (cmp.Diff(want, files) != "" || got == digest) {
			t.Errorf("with another byte %d it has %v, digest %s", i, files, got)
		}
	}
}

// member is one member of a forged archive.
type member struct {
	name, text, link string
	kind             byte
	sparse           int64 // the size of a sparse file without data; 0: an ordinary file
}

// forge writes an archive with the members, and a manifest for the files that it names.
func forge(t *testing.T, files map[string]string, members ...member) string {
	t.Helper()
	var plain, data bytes.Buffer
	w := tar.NewWriter(&plain)
	add := func(m member) {
		if m.kind == 0 {
			m.kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: m.name, Typeflag: m.kind, Linkname: m.link, Size: int64(len(m.text)), Mode: 0o777}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, m.text)
	}
	manifest := backup.Manifest{Format: "toolhost-backup", Version: 1, Program: "toolhost", Time: made}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		manifest.Files = append(manifest.Files, backup.File{Path: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.name == "manifest.json" {
			m.text = string(text)
		}
		if m.sparse > 0 {
			add(member{name: sparseHeader, text: sparseRecords(m.sparse)})
		}
		add(m)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(&data)
	if _, err := zip.Write(markSparse(plain.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forged.tar.gz")
	write(t, path, data.String())
	return path
}

// sparseHeader is the name of a member that markSparse turns into the extended header of the next
// one. tar.Writer writes no sparse files.
const sparseHeader = "sparse header"

// sparseRecords returns the records of an extended header for a file that consists of one hole.
func sparseRecords(size int64) string {
	var text strings.Builder
	for _, record := range []string{"major=0", "minor=1", "numblocks=1", fmt.Sprintf("size=%d", size), fmt.Sprintf("map=%d,0", size)} {
		record = " GNU.sparse." + record + "\n"
		length := len(record) + 2 // of the number, which has two digits
		fmt.Fprintf(&text, "%d%s", length, record)
	}
	return text.String()
}

// markSparse changes the type of the members with the name sparseHeader, and their checksums.
func markSparse(archive []byte) []byte {
	const block, typeOffset, sumOffset, sumSize = 512, 156, 148, 8
	for at := 0; at+block <= len(archive); at += block {
		header := archive[at : at+block]
		if !bytes.HasPrefix(header, []byte(sparseHeader+"\x00")) {
			continue
		}
		header[typeOffset] = tar.TypeXHeader
		copy(header[sumOffset:], "        ")
		sum := 0
		for _, b := range header {
			sum += int(b)
		}
		copy(header[sumOffset:sumOffset+sumSize], fmt.Sprintf("%06o\x00 ", sum))
	}
	return archive
}

// A forged archive creates nothing outside of its folder, and is refused.
func TestForgedArchives(t *testing.T) {
	manifest := member{name: "manifest.json"}
	one := map[string]string{"a": "1"}
	for name, path := range map[string]string{
		"a name above the folder":   forge(t, map[string]string{"../a": "1"}, member{name: "../a", text: "1"}, manifest),
		"a name within and above":   forge(t, map[string]string{"b/../../a": "1"}, member{name: "b/../../a", text: "1"}, manifest),
		"an absolute name":          forge(t, map[string]string{"/tmp/a": "1"}, member{name: "/tmp/a", text: "1"}, manifest),
		"a symbolic link":           forge(t, nil, member{name: "a", kind: tar.TypeSymlink, link: "/etc/passwd"}, manifest),
		"a file behind a link":      forge(t, map[string]string{"a/b": "1"}, member{name: "a", kind: tar.TypeSymlink, link: ".."}, member{name: "a/b", text: "1"}, manifest),
		"a hard link":               forge(t, nil, member{name: "a", kind: tar.TypeLink, link: "/etc/passwd"}, manifest),
		"a pipe":                    forge(t, nil, member{name: "a", kind: tar.TypeFifo}, manifest),
		"two files of one name":     forge(t, one, member{name: "a", text: "1"}, member{name: "a", text: "1"}, manifest),
		"a file too many":           forge(t, one, member{name: "a", text: "1"}, member{name: "b", text: "1"}, manifest),
		"a file too few":            forge(t, map[string]string{"a": "1", "b": "1"}, member{name: "a", text: "1"}, manifest),
		"swapped files":             forge(t, map[string]string{"a": "1", "b": "2"}, member{name: "a", text: "2"}, member{name: "b", text: "1"}, manifest),
		"a file after the manifest": forge(t, one, member{name: "a", text: "1"}, manifest, member{name: "b", text: "1"}),
		"no manifest":               forge(t, one, member{name: "a", text: "1"}),
		"too many folders":          forge(t, map[string]string{"a/b/c/d/e/f/g/h/i": "1"}, member{name: "a/b/c/d/e/f/g/h/i", text: "1"}, manifest),
		"a long tail":               forgeTail(t, forge(t, one, member{name: "a", text: "1"}, manifest)),
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			into := filepath.Join(outer, "into")
			if err := os.Mkdir(into, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, _, err := backup.Extract(t.Context(), path, into); err == nil {
				t.Error("it is accepted")
			}
			for name := range content(t, outer) {
				if !strings.HasPrefix(name, "into") {
					t.Errorf("it created %s", name)
				}
			}
		})
	}
	if _, _, err := backup.Extract(t.Context(), forge(t, one, member{name: "a", text: "1"}, manifest), t.TempDir()); err != nil {
		t.Errorf("a good archive: %v", err)
	}
}

// forgeTail appends zeros to the data of an archive, which gzip makes small, and returns a new
// archive.
func forgeTail(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	whole, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	zip := gzip.NewWriter(&data)
	if _, err := io.Copy(zip, io.MultiReader(whole, bytes.NewReader(make([]byte, 2<<20)))); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "long.tar.gz")
	write(t, long, data.String())
	return long
}

// What the manifest does not declare is never written to the disk, however small the archive is. A
// sparse member, whose zeros are not even in the archive, counts with all of its zeros.
func TestExtractWritesOnlyWhatTheManifestDeclares(t *testing.T) {
	zeros := string(make([]byte, 8<<20))
	one := map[string]string{"a": "1"}
	for name, path := range map[string]string{
		"a member that is larger": forge(t, one, member{name: "a", text: zeros}, member{name: "manifest.json"}),
		"a member too many":       forge(t, one, member{name: "b", text: zeros}, member{name: "a", text: "1"}, member{name: "manifest.json"}),
		"no manifest":             forge(t, one, member{name: "a", text: zeros}),
		"a sparse member":         forge(t, one, member{name: "a", sparse: 8 << 20}, member{name: "manifest.json"}),
		"more than any disk has":  forge(t, one, member{name: "a", sparse: 1 << 62}, member{name: "manifest.json"}),
	} {
		t.Run(name, func(t *testing.T) {
			into := t.TempDir()
			_, _, err := backup.Extract(t.Context(), path, into)
			if err == nil {
				t.Error("it is accepted")
			}
			if files := content(t, into); len(files) != 0 {
				t.Errorf("it wrote %d files", len(files))
			}
		})
	}
}

func TestExtractStopsWithItsContext(t *testing.T) {
	path, _ := archive(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := backup.Extract(ctx, path, t.TempDir()); err == nil {
		t.Error("it did not stop")
	}
}

// The files of a check need the space of a state, so they are where the state is.
func TestCheckFolder(t *testing.T) {
	state, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	for parent, want := range map[string]string{state: state, filepath.Join(state, "none"): temp} {
		made, err := backup.CheckFolder(parent)
		if err != nil || filepath.Dir(made) != want {
			t.Errorf("the folder for a check of %s is %s, %v; want it in %s", parent, made, err, want)
		}
	}
}
