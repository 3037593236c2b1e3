package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListDir(t *testing.T) {
	w, _ := newWorkspace(t)
	link(t, "sub/inner.txt", filepath.Join(w.dir, "zlink"))
	link(t, "../secret.txt", filepath.Join(w.dir, "zout"))
	put(t, filepath.Join(w.dir, ".hidden"), "h")
	put(t, filepath.Join(w.dir, "a name"), "")
	put(t, filepath.Join(w.dir, "two\nlines"), "")
	put(t, filepath.Join(w.dir, "x -> y"), "")
	if err := os.Mkdir(filepath.Join(w.dir, "none"), 0o777); err != nil {
		t.Fatal(err)
	}
	root := `file             1  .hidden
file             0  a name
file             6  hello.txt
folder           -  none
folder           -  sub
file             0  "two\nlines"
file             0  "x -> y"
link             -  zlink -> sub/inner.txt
link             -  zout -> ../secret.txt
`
	tests := []struct {
		in   listInput
		want string
	}{
		{listInput{}, root},
		{listInput{Path: "."}, root},
		{listInput{Path: "sub/.."}, root},
		{listInput{Path: "sub"}, "file             6  inner.txt\n"},
		{listInput{Path: "sub/"}, "file             6  inner.txt\n"},
		{listInput{Path: "none"}, `[the folder "none" is empty]`},
		{listInput{Limit: 2}, "file             1  .hidden\nfile             0  a name\n[2 of 9 entries; a higher limit shows more]\n"},
	}
	for _, test := range tests {
		got, err := listDir(t.Context(), w, test.in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: %s", test.in, diff)
		}
	}
}

func TestListDirRefuses(t *testing.T) {
	w, _ := newWorkspace(t)
	for path, problem := range map[string]string{
		"missing":       `there is no "missing"`,
		"hello.txt":     "is a file; use read_file",
		"hello.txt/sub": "is no folder",
	} {
		_, err := listDir(t.Context(), w, listInput{Path: path})
		holds(t, err, problem)
	}
}

func TestListDirOfManyEntries(t *testing.T) {
	w, _ := newWorkspace(t)
	for i := range 2500 {
		put(t, filepath.Join(w.dir, "many", fmt.Sprintf("%04d", i)), "")
	}
	got, err := listDir(t.Context(), w, listInput{Path: "many"})
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(entries) != defaultEntries+1 || entries[0] != "file             0  0000" || entries[499] != "file             0  0499" {
		t.Errorf("got %d lines, from %q to %q", len(entries), entries[0], entries[len(entries)-1])
	}
	if want := "[500 of 2500 entries; a higher limit shows more]"; entries[len(entries)-1] != want {
		t.Errorf("the last line is %q, want %q", entries[len(entries)-1], want)
	}
}
