package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// confinement starts this program in the sandbox and with the limits of a plugin, by the functions
// that serve uses, and returns what enforced them.
func confinement(ctx context.Context, options Options) []finding {
	quiet := slog.New(slog.DiscardHandler)
	fatal := func(check string, err error) []finding {
		return []finding{{check, stateFatal, err.Error(), "toolhost cannot start a plugin", "correct what the message says"}}
	}
	runtime, err := openRuntimeDir(ctx, nil, quiet) // without listeners, so that the reaper removes no socket
	if err != nil {
		return fatal("runtime folder", err)
	}
	defer runtime.close()
	found := []finding{controlGroups(runtime.groups)}
	self, err := os.Executable()
	if err != nil {
		return append(found, fatal("plugin process", err)...)
	}
	settings := options.Plugin("")
	bounds := launch.Limits(settings.Limits, &catalog.Plugin{})
	if bounds.Enforcement != limits.Required {
		bounds.CPUs = cmp.Or(bounds.CPUs, 1)
	}
	started, err := process.StartBare(ctx, process.Config{
		Plugin: "doctor", Instance: "doctor-1", Path: self, Args: []string{"--version"}, RunDir: runtime.runDir.Path(), Reaper: runtime.guard,
		Limits: bounds, Cgroups: runtime.groups, Names: runtime.names, PIDNamespace: launch.Namespace(settings.Sandbox, runtime.groups),
		Sandbox: placesOf(options).Question(settings.Sandbox, false),
	}, func(string) []string { return nil })
	if err != nil {
		return append(found, fatal("plugin process", err)...)
	}
	<-started.Done() // ends soon, because --version does, or with ctx
	if exit := started.Exit(); exit.Code != 0 {
		return append(found, fatal("plugin process", fmt.Errorf("toolhost --version ended in the sandbox: %s", exit.Reason))...)
	}
	found = append(found, sandboxLayers(started.Sandbox())...)
	return append(found, effectiveLimits(started.Limits())...)
}

const (
	getGroups = "start toolhost in a delegated group of version 2: `Delegate=yes` in its unit, or `systemd-run --user --scope -p Delegate=yes toolhost serve`; in a container, mount /sys/fs/cgroup writable"
	getNames  = "permit user namespaces: sysctl user.max_user_namespaces, on Debian kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows them"
)

// controlGroups says where plugins get their control groups.
func controlGroups(groups *limits.Cgroups) finding {
	f := finding{Check: "control groups", State: stateOK, Found: strings.Join(groups.Dirs(), ", ")}
	switch {
	case len(groups.Dirs()) == 0:
		f.State, f.Found = stateMissing, "none that toolhost can write"
		f.Costs, f.Remedy = "the kernel does not bound a plugin with all that it starts; the limits below say what bounds it instead", getGroups
	case !groups.FindsAll():
		f.State = statePartial
		f.Costs, f.Remedy = "they are of version 1, which cannot kill all processes of a plugin at once", getGroups
	}
	if f.State != stateOK && !process.Namespaces() {
		f.Costs += "; without process namespaces too, toolhost runs below two subreapers, which find what plugins leave when toolhost ends"
	}
	return f
}

// missingLayer says what it costs that a layer of the sandbox is missing, and how to get it.
var missingLayer = map[string][2]string{
	sandbox.Files:      {"plugins are kept from other files only by the layer landlock; without both, they reach all files of toolhost's user", getNames},
	sandbox.Landlock:   {"plugins are kept from other files by one mechanism, not by two", "use a kernel of 5.13 or later with landlock among its security modules (lsm=…,landlock)"},
	sandbox.Network:    {"every plugin reaches the network, also without a grant", getNames},
	sandbox.PID:        {"plugins see and can signal other processes of toolhost's user", getNames},
	sandbox.IPC:        {"plugins reach the shared memory of other programs of toolhost's user", getNames},
	sandbox.Privileges: {"plugins may gain privileges", "use a kernel that supports no_new_privs"},
	sandbox.Syscalls:   {"plugins may use every system call of the kernel", "use a kernel with seccomp filters, and a container that allows them"},
}

func sandboxLayers(s tool.Sandbox) []finding {
	if len(s.Layers) == 0 {
		return []finding{{
			"sandbox", stateMissing, "none, because its mode is " + s.Mode,
			"plugins can do all that toolhost's user can", "set sandbox.mode of the plugins to on in toolhost.yaml; it needs Linux on amd64 or arm64",
		}}
	}
	var found []finding
	for _, layer := range s.Layers {
		f := finding{Check: "sandbox: " + layer.Name, State: stateOK, Found: layer.Mechanism}
		missing := missingLayer[layer.Name]
		switch {
		case !layer.Effective:
			f.State, f.Found, f.Costs, f.Remedy = stateMissing, layer.Note, missing[0], missing[1]
		case layer.Note != "":
			f.Found += "; " + layer.Note
			f.State, f.Costs, f.Remedy = statePartial, "it restricts less than elsewhere, as FOUND says", missing[1]
		}
		found = append(found, f)
	}
	return found
}

// unlimited says what it costs that a limit is not enforced.
var unlimited = map[string]string{
	"memory":        "a plugin can take the memory of the machine",
	"cpu":           "a plugin can take all processors; the key limits.cpus has no effect",
	"processes":     "a plugin can start processes without end",
	"open_files":    "the key limits.open_files has no effect",
	"file_size":     "the key limits.file_size has no effect",
	"pid_namespace": "after toolhost is killed, processes that a plugin hid are found late",
}

func effectiveLimits(all []tool.EffectiveLimit) []finding {
	var found []finding
	for _, l := range all {
		f := finding{Check: "limit: " + l.Name, State: stateOK, Found: l.Mechanism}
		if l.Note != "" {
			f.Found += "; " + l.Note
		}
		remedy := getGroups
		if l.Name == "pid_namespace" {
			remedy = getNames
		}
		switch {
		case l.Mechanism == limits.None:
			f.State, f.Costs, f.Remedy = stateMissing, cmp.Or(unlimited[l.Name], "it is not enforced"), remedy
		case l.Note != "":
			f.State, f.Costs, f.Remedy = statePartial, "the kernel does not enforce it for all that the plugin starts, so that a fast plugin exceeds it for a moment", remedy
		}
		found = append(found, f)
	}
	return found
}
