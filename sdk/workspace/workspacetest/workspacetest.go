// Package workspacetest is a test suite for implementations of workspace.Workspace.
//
// It tests the promises of the interface. It does not test further promises of an implementation,
// such as what survives a crash.
package workspacetest

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// New returns a workspace with files, whose names and descriptions are those of
// workspace.NewMemory, and the absolute path of the workspace. New closes the workspace at the end
// of the test.
type New func(t *testing.T, files map[string]workspace.MemoryFile) (w workspace.Workspace, dir string)

// Run runs the suite.
func Run(t *testing.T, open New) {
	s := suite{open: open}
	for name, test := range map[string]func(*testing.T){
		"Rel":             s.testRel,
		"Read":            s.testRead,
		"Refuse":          s.testRefuse,
		"Stay":            s.testStay,
		"Links":           s.testLinks,
		"ReadDir":         s.testReadDir,
		"Sub":             s.testSub,
		"Write":           s.testWrite,
		"WriteRefuses":    s.testWriteRefuses,
		"WriteKeeps":      s.testWriteKeeps,
		"Versions":        s.testVersions,
		"VersionsCompete": s.testVersionsCompete,
		"Cancelled":       s.testCancelled,
		"OpenFilesStay":   s.testOpenFilesStay,
	} {
		t.Run(name, test)
	}
}

type suite struct{ open New }

// files are the files of most tests.
func files() map[string]workspace.MemoryFile {
	return map[string]workspace.MemoryFile{
		"hello.txt":      {Content: "hello\n"},
		"sub/inner.txt":  {Content: "inner\n"},
		"sub/deep/d.txt": {Content: "deep\n"},
		"none":           {Mode: fs.ModeDir},
		"link.txt":       {Mode: fs.ModeSymlink, Content: "sub/inner.txt"},
		"folder":         {Mode: fs.ModeSymlink, Content: "sub"},
		"sub/up.txt":     {Mode: fs.ModeSymlink, Content: "../hello.txt"},
		"dangling":       {Mode: fs.ModeSymlink, Content: "sub/new.txt"},
		"loop":           {Mode: fs.ModeSymlink, Content: "pool"},
		"pool":           {Mode: fs.ModeSymlink, Content: "loop"},
		"out":            {Mode: fs.ModeSymlink, Content: "../secret.txt"},
		"out-folder":     {Mode: fs.ModeSymlink, Content: ".."},
		"winding":        {Mode: fs.ModeSymlink, Content: "sub/../../secret.txt"},
		"absolute":       {Mode: fs.ModeSymlink, Content: "/etc"},
		"pipe":           {Mode: fs.ModeNamedPipe},
		"pipe-link":      {Mode: fs.ModeSymlink, Content: "pipe"},
	}
}

func read(t *testing.T, w workspace.Reader, name string) (string, error) {
	t.Helper()
	file, err := w.Open(t.Context(), name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(file)
	if whole, wholeErr := w.ReadFile(t.Context(), name); string(whole) != string(content) || wholeErr != nil {
		t.Errorf("ReadFile(%q) gives %q, %v; the open file has %q", name, whole, wholeErr, content)
	}
	return string(content), cmp.Or(err, file.Close())
}

// reads fails the test unless the names lead to files with a content.
func reads(t *testing.T, w workspace.Reader, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, err := read(t, w, name); err != nil || got != want[name] {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want[name])
		}
	}
}

func (s suite) testRel(t *testing.T) {
	w, dir := s.open(t, files())
	for path, want := range map[string]string{
		".": ".", "./": ".", "hello.txt": "hello.txt", "./sub//deep/./d.txt": "sub/deep/d.txt", "sub/": "sub/",
		"missing/x": "missing/x", "folder/../x": "folder/../x",
		dir: ".", dir + "/": ".", dir + "/sub/inner.txt": "sub/inner.txt", dir + "/sub/../hello.txt": "hello.txt", dir + "/sub/": "sub/",
	} {
		if got, err := w.Rel(path); err != nil || got != want {
			t.Errorf("Rel(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]error{
		"": fs.ErrInvalid, "a\x00b": fs.ErrInvalid,
		"..": workspace.ErrOutside, "../x": workspace.ErrOutside, "sub/../../x": workspace.ErrOutside, "/": workspace.ErrOutside,
		"/etc/passwd": workspace.ErrOutside, dir + "-secret/x": workspace.ErrOutside, dir + "/../x": workspace.ErrOutside,
	} {
		if got, err := w.Rel(path); !errors.Is(err, want) {
			t.Errorf("Rel(%q) = %q, %v; want the error %v", path, got, err, want)
		}
	}
}

func (s suite) testRead(t *testing.T) {
	w, dir := s.open(t, files())
	reads(t, w, map[string]string{
		"hello.txt": "hello\n", "./sub/inner.txt": "inner\n", "sub/../hello.txt": "hello\n", dir + "/sub/deep/d.txt": "deep\n",
	})
	for name, want := range map[string]error{"sub": workspace.ErrFolder, "missing": fs.ErrNotExist, "../x": workspace.ErrOutside} {
		if content, err := w.ReadFile(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("ReadFile(%q) gives %q, %v; want the error %v", name, content, err, want)
		}
	}
	info, err := w.Stat(t.Context(), "sub/inner.txt")
	if err != nil || info.Name != "inner.txt" || !info.Mode.IsRegular() || info.Size != 6 || info.Version == "" || info.ModTime.IsZero() {
		t.Errorf("got %+v, %v", info, err)
	}
	if info, err := w.Stat(t.Context(), "."); err != nil || !info.Mode.IsDir() {
		t.Errorf("got %+v, %v", info, err)
	}
	file, err := w.Open(t.Context(), "sub/inner.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if diff := gocmp.Diff(info, file.Info()); diff != "" {
		t.Errorf("what Stat says and what the file says: %s", diff)
	}
}

func (s suite) testRefuse(t *testing.T) {
	w, _ := s.open(t, files())
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "no/such/file": fs.ErrNotExist, "dangling": fs.ErrNotExist,
		"hello.txt/x": workspace.ErrNotFolder, "hello.txt/": workspace.ErrNotFolder,
		"sub": workspace.ErrFolder, ".": workspace.ErrFolder, "folder": workspace.ErrFolder,
		"pipe": workspace.ErrIrregular, "pipe-link": workspace.ErrIrregular,
	} {
		_, err := read(t, w, name)
		refused(t, "Open", name, err, want)
	}
	for name, want := range map[string]error{"missing": fs.ErrNotExist, "hello.txt/x": workspace.ErrNotFolder} {
		_, err := w.Stat(t.Context(), name)
		refused(t, "Stat", name, err, want)
	}
	if _, err := read(t, w, "loop"); err == nil {
		t.Error("reading through a loop of links succeeded")
	}
}

// refused fails the test unless err is a certain error whose message names the file.
func refused(t *testing.T, method, name string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s(%q): got %v; want %v", method, name, err, want)
		return
	}
	if _, ok := errors.AsType[*workspace.Error](err); !ok || name != "" && !strings.Contains(err.Error(), name) {
		t.Errorf("%s(%q): got %q (%T), which is no *workspace.Error that names the file", method, name, err, err)
	}
}

// No spelling and no link leads out of the workspace, in any method.
func (s suite) testStay(t *testing.T) {
	w, dir := s.open(t, files())
	for _, name := range []string{
		"..", "../secret.txt", "sub/../../secret.txt", "sub/../../../../../../etc/passwd", "/etc/passwd", "/", "//etc/passwd",
		dir + "-secret/secret.txt", dir + "/../secret.txt", "../" + dir[strings.LastIndexByte(dir, '/')+1:] + "/hello.txt",
		"out", "winding", "absolute", "absolute/passwd", "out-folder", "out-folder/secret.txt", "folder/../../secret.txt", "sub/../out",
	} {
		_, err := read(t, w, name)
		refused(t, "Open", name, err, workspace.ErrOutside)
		_, err = w.Stat(t.Context(), name)
		refused(t, "Stat", name, err, workspace.ErrOutside)
		_, err = list(t, w, name)
		refused(t, "ReadDir", name, err, workspace.ErrOutside)
		if sub, err := w.Sub(t.Context(), name); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("Sub(%q): got %v, %v", name, sub, err)
		}
		for _, written := range []string{name, name + "/planted.txt"} {
			if _, err = w.WriteFile(t.Context(), written, []byte("planted"), workspace.WriteOptions{}); err == nil {
				t.Errorf("WriteFile(%q) succeeded", written)
			}
		}
	}
}

func (s suite) testLinks(t *testing.T) {
	w, _ := s.open(t, files())
	reads(t, w, map[string]string{
		"link.txt": "inner\n", "folder/inner.txt": "inner\n", "sub/up.txt": "hello\n", "folder/up.txt": "hello\n", "folder/../hello.txt": "hello\n",
	})
	for name, target := range map[string]string{
		"link.txt": "sub/inner.txt", "folder/up.txt": "hello.txt", "dangling": "sub/new.txt", "folder/more/x.txt": "sub/more/x.txt",
	} {
		if _, err := w.WriteFile(t.Context(), name, []byte("by "+name), workspace.WriteOptions{}); err != nil {
			t.Errorf("WriteFile(%q): %v", name, err)
		}
		reads(t, w, map[string]string{target: "by " + name, name: "by " + name})
	}
	entries, err := list(t, w, ".")
	if err != nil || entries["link.txt"].Mode.Type() != fs.ModeSymlink || entries["link.txt"].Target != "sub/inner.txt" {
		t.Errorf("a write through a link replaced the link: %+v, %v", entries["link.txt"], err)
	}
}

// list returns a description of the entries of a folder.
func list(t *testing.T, w workspace.Reader, name string) (map[string]workspace.Info, error) {
	t.Helper()
	infos := map[string]workspace.Info{}
	for entry, err := range w.ReadDir(t.Context(), name) {
		if err != nil {
			return nil, err
		}
		info, err := entry.Info()
		if err != nil {
			t.Errorf("entry %q: %v", entry.Name(), err)
		}
		if info.Name != entry.Name() || info.Mode.Type() != entry.Type() {
			t.Errorf("the entry %q of type %v says %+v", entry.Name(), entry.Type(), info)
		}
		if _, twice := infos[info.Name]; twice {
			t.Errorf("%q was listed twice", info.Name)
		}
		infos[info.Name] = info
	}
	return infos, nil
}

func (s suite) testReadDir(t *testing.T) {
	w, dir := s.open(t, files())
	for name, want := range map[string]string{
		"sub": "deep inner.txt up.txt", "sub/": "deep inner.txt up.txt", "folder": "deep inner.txt up.txt", "sub/deep/..": "deep inner.txt up.txt", "none": "",
		dir + "/sub/deep": "d.txt",
		".":               "absolute dangling folder hello.txt link.txt loop none out out-folder pipe pipe-link pool sub winding",
	} {
		infos, err := list(t, w, name)
		if got := strings.Join(slices.Sorted(maps.Keys(infos)), " "); err != nil || got != want {
			t.Errorf("ReadDir(%q): got %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "hello.txt": workspace.ErrNotFolder, "hello.txt/x": workspace.ErrNotFolder, "pipe": workspace.ErrNotFolder,
	} {
		_, err := list(t, w, name)
		refused(t, "ReadDir", name, err, want)
	}
	infos, err := list(t, w, ".")
	if err != nil || infos["hello.txt"].Size != 6 || infos["out"].Target != "../secret.txt" || infos["pipe"].Mode.Type() != fs.ModeNamedPipe {
		t.Errorf("got %+v, %v", infos, err)
	}
	for range w.ReadDir(t.Context(), ".") {
		break // a caller may end the loop early
	}
}

func (s suite) testSub(t *testing.T) {
	w, dir := s.open(t, files())
	for _, name := range []string{"sub", "folder", "sub/deep/..", dir + "/sub"} {
		sub, err := w.Sub(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		reads(t, sub, map[string]string{"inner.txt": "inner\n", "deep/d.txt": "deep\n"})
		if strings.HasSuffix(name, "sub") {
			reads(t, sub, map[string]string{dir + "/sub/inner.txt": "inner\n"})
		}
		for _, outer := range []string{"../hello.txt", "up.txt", dir + "/hello.txt"} {
			_, err := read(t, sub, outer)
			refused(t, "Open", outer, err, workspace.ErrOutside)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]error{"missing": fs.ErrNotExist, "hello.txt": workspace.ErrNotFolder, "pipe": workspace.ErrNotFolder} {
		_, err := w.Sub(t.Context(), name)
		refused(t, "Sub", name, err, want)
	}
	sub, err := w.Sub(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	reads(t, w, map[string]string{"hello.txt": "hello\n"})
}
