package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkExecuted measures what each start of a process asks about all known plugins.
func BenchmarkExecuted(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for kind, first := range map[string]string{"elf": "\x7fELF", "script": "#!/usr/bin/env python3\n"} {
			b.Run(fmt.Sprint(kind, n), func(b *testing.B) {
				dir := b.TempDir()
				work := filepath.Join(dir, "work")
				if err := os.Mkdir(work, 0o700); err != nil {
					b.Fatal(err)
				}
				var plugins []*catalog.Plugin
				for i := range n {
					path := filepath.Join(dir, fmt.Sprint("p", i))
					if err := os.WriteFile(path, []byte(first), 0o755); err != nil {
						b.Fatal(err)
					}
					plugins = append(plugins, &catalog.Plugin{Info: tool.Description{Name: fmt.Sprint("p", i)}, Path: path, Source: path, Dir: dir, Digest: fmt.Sprint(i)})
				}
				g := Places{Writable: []string{work, filepath.Join(dir, "other")}, Folders: []string{dir}}
				for b.Loop() {
					g.executed(plugins)
				}
			})
		}
	}
}
