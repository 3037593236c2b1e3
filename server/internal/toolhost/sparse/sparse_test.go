//go:build unix && !race

package sparse_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/sparse"
)

// A copy takes no more disk space than a sparse original, and has the same bytes.
func TestCopiesKeepHoles(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		size   int64
		pieces map[int64]string // the parts that are not zeros
	}{
		"empty":                   {0, nil},
		"small":                   {5, map[int64]string{0: "hello"}},
		"all zeros":               {64 << 20, nil},
		"begins":                  {64 << 20, map[int64]string{0: "#!/bin/sh\n"}},
		"ends":                    {64<<20 + 3, map[int64]string{64 << 20: "end"}},
		"in the middle, unevenly": {32<<20 + 1, map[int64]string{100_001: "a", 9 << 20: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			source, copied := filepath.Join(dir, name+".source"), filepath.Join(dir, name+".copy")
			in, err := os.Create(source)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			for at, text := range test.pieces {
				if _, err := in.WriteAt([]byte(text), at); err != nil {
					t.Fatal(err)
				}
			}
			if err := in.Truncate(test.size); err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(copied)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if size, err := sparse.Copy(out, in); err != nil || size != test.size {
				t.Fatalf("%d bytes were copied, %v", size, err)
			}
			want, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(copied)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("the copy is another one: %v", err)
			}
			info, err := os.Stat(copied)
			if err != nil {
				t.Fatal(err)
			}
			const sector, most = 512, 1 << 20
			if stat := info.Sys().(*syscall.Stat_t); stat.Blocks*sector > most {
				t.Errorf("the copy takes %d bytes of the disk", stat.Blocks*sector)
			}
		})
	}
}
