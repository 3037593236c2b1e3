package launch

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// Python compiles the modules that it imports and stores the result beside the sources. Plugins
// cannot write there, because toolhost runs a sealed copy of them. So the compiled files go to a
// cache folder of the copy's digest. Only the process that describes the plugin writes this cache:
// it sees no data of callers. Processes that execute calls only read the cache, so no call can
// leave data or code for later calls.
const (
	bytecodeFolder    = "PYTHONPYCACHEPREFIX"
	withoutWriting    = "PYTHONDONTWRITEBYTECODE"
	longestShebang    = 256
	bytecodeSubfolder = "python"
)

// writeBytecode lets a process of a Python plugin write the cache. If the cache cannot be written,
// the plugin starts without it, which is slower.
func writeBytecode(cfg *process.Config, p *catalog.Plugin) {
	folder := filepath.Join(p.Cache, bytecodeSubfolder)
	if p.Cache == "" || !isPython(p.Path) || decides(cfg.Env) || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	cfg.Env = append(cfg.Env, bytecodeFolder+"="+folder)
	cfg.Sandbox.Write = append(slices.Clip(cfg.Sandbox.Write), folder)
}

// readBytecode lets a process of a Python plugin read the cache.
func readBytecode(cfg *process.Config, p *catalog.Plugin) {
	folder := filepath.Join(p.Cache, bytecodeSubfolder)
	if _, err := os.Stat(folder); p.Cache == "" || err != nil || decides(cfg.Env) {
		return
	}
	cfg.Env = append(cfg.Env, bytecodeFolder+"="+folder, withoutWriting+"=1")
	cfg.Sandbox.Read = append(slices.Clip(cfg.Sandbox.Read), folder)
}

// decides reports whether a plugin or its operator has set one of Python's variables for compiled
// files.
func decides(env []string) bool {
	return slices.ContainsFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == bytecodeFolder || name == withoutWriting
	})
}

// isPython reports whether a program is the Python interpreter, or a script that the interpreter
// runs.
func isPython(program string) bool {
	if strings.HasPrefix(filepath.Base(program), "python") {
		return true
	}
	file, err := os.Open(program)
	if err != nil {
		return false
	}
	defer file.Close()
	// a longer line is not a shebang line
	first, _ := bufio.NewReaderSize(file, longestShebang).ReadSlice('\n')
	return strings.HasPrefix(string(first), "#!") && strings.Contains(string(first), "python")
}
