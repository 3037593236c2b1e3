package launch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// The process that describes a Python plugin writes compiled files, and later processes read them.
func TestBytecode(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		Toolhost string
		env      []string
		want     bool
	}{
		"the interpreter":            {Toolhost: write("python3.14", ""), want: true},
		"a script":                   {Toolhost: write("weather", "#!/usr/bin/env python3\nprint()\n"), want: true},
		"a script of another":        {Toolhost: write("weather", "#!/bin/sh\npython3 main.py\n")},
		"a program":                  {Toolhost: write("weather", "\x7fELF\x00python\n")},
		"nothing":                    {Toolhost: filepath.Join(t.TempDir(), "none")},
		"one that has its own way":   {Toolhost: write("python", ""), env: []string{"PYTHONPYCACHEPREFIX=/elsewhere"}},
		"one that wants none of it":  {Toolhost: write("python", ""), env: []string{"PYTHONDONTWRITEBYTECODE=1"}},
		"one that could not be read": {Toolhost: write("python", ""), env: []string{"NO_CACHE"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &catalog.Plugin{Path: tc.Toolhost, Cache: filepath.Join(t.TempDir(), "cache")}
			if slices.Contains(tc.env, "NO_CACHE") {
				p.Cache = ""
			}
			early := process.Config{Env: slices.Clone(tc.env)}
			readBytecode(&early, p)
			if len(early.Env) != len(tc.env) || len(early.Sandbox.Read) > 0 {
				t.Errorf("before anything was compiled it is started with %q, %q", early.Env, early.Sandbox.Read)
			}
			asked := process.Config{Env: slices.Clone(tc.env)}
			writeBytecode(&asked, p)
			later := process.Config{Env: slices.Clone(tc.env)}
			readBytecode(&later, p)
			folder := filepath.Join(p.Cache, "python")
			if !tc.want {
				if len(asked.Sandbox.Write)+len(later.Sandbox.Read) > 0 || len(asked.Env)+len(later.Env) != 2*len(tc.env) {
					t.Errorf("it is started with %q, then with %q", asked.Env, later.Env)
				}
				return
			}
			if !slices.Equal(asked.Sandbox.Write, []string{folder}) || !slices.Equal(asked.Env, []string{"PYTHONPYCACHEPREFIX=" + folder}) {
				t.Errorf("it is asked with %q, and may write %q", asked.Env, asked.Sandbox.Write)
			}
			if !slices.Equal(later.Sandbox.Read, []string{folder}) || len(later.Sandbox.Write) > 0 ||
				!slices.Equal(later.Env, []string{"PYTHONPYCACHEPREFIX=" + folder, "PYTHONDONTWRITEBYTECODE=1"}) {
				t.Errorf("it is started with %q, and may read %q and write %q", later.Env, later.Sandbox.Read, later.Sandbox.Write)
			}
		})
	}
}
