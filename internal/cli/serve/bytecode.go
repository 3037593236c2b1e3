package serve

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/process"
)

// Python compiles what it imports and keeps that beside the sources, where nothing may be written: they are a sealed copy. So
// it is kept in the cache of the digest. It is written by the process that is asked what the plugin is, which sees nobody's
// data; those that take calls only read it, so that no call can leave anything in it for later ones.
const (
	bytecodeFolder    = "PYTHONPYCACHEPREFIX"
	withoutWriting    = "PYTHONDONTWRITEBYTECODE"
	longestShebang    = 256
	bytecodeSubfolder = "python"
)

// writeBytecode lets a process of a Python plugin keep what it compiles. Where it cannot, it starts as slowly as ever.
func writeBytecode(cfg *process.Config, p *catalog.Plugin) {
	folder := filepath.Join(p.Cache, bytecodeSubfolder)
	if p.Cache == "" || !isPython(p.Path) || decides(cfg.Env) || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	cfg.Env = append(cfg.Env, bytecodeFolder+"="+folder)
	cfg.Sandbox.Write = append(slices.Clip(cfg.Sandbox.Write), folder)
}

// readBytecode lets a process of a Python plugin start with what an earlier one has compiled.
func readBytecode(cfg *process.Config, p *catalog.Plugin) {
	folder := filepath.Join(p.Cache, bytecodeSubfolder)
	if _, err := os.Stat(folder); p.Cache == "" || err != nil || decides(cfg.Env) {
		return
	}
	cfg.Env = append(cfg.Env, bytecodeFolder+"="+folder, withoutWriting+"=1")
	cfg.Sandbox.Read = append(slices.Clip(cfg.Sandbox.Read), folder)
}

// decides reports whether a plugin or its operator decides what becomes of compiled sources.
func decides(env []string) bool {
	return slices.ContainsFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == bytecodeFolder || name == withoutWriting
	})
}

// isPython reports whether a program is Python's interpreter, or a script that is run by it.
func isPython(program string) bool {
	if strings.HasPrefix(filepath.Base(program), "python") {
		return true
	}
	file, err := os.Open(program)
	if err != nil {
		return false
	}
	defer file.Close()
	first, _ := bufio.NewReaderSize(file, longestShebang).ReadSlice('\n') // a longer line is none
	return strings.HasPrefix(string(first), "#!") && strings.Contains(string(first), "python")
}
