package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

const problemPending = "it is new and is being asked what it is"

// Plugin is one revision of an executable or a plugin folder. It does not change once it is in a
// Snapshot.
type Plugin struct {
	Source string // the path where the operator put it
	Digest string // in the form sha256:HEX; empty if it could not be read

	// How to run the plugin: the program, its arguments without its name, variables to add to the
	// environment as NAME=VALUE, and the working folder (empty: any). All are empty if the plugin
	// could not be read.
	Path string
	Args []string
	Env  []string
	Dir  string

	// Outside are the targets of the links that lead out of its folder. A target may be a link itself,
	// and need not exist. They are no part of the digest, so tools must not change them, nor the links
	// on the way to them. At most maxLeave.
	Outside []string

	// Cache is a folder for data that a process of this digest can create again, such as compiled
	// sources. The catalog removes it with the digest. The code that starts the process creates it.
	// Empty if the plugin could not be read.
	Cache string

	// Pinned says that toolhost runs a copy, so that the program is the content that was hashed.
	Pinned   bool
	Manifest *manifest.Manifest // its plugin.yaml; nil for an executable

	Info        tool.Description // its description of itself; only a name, taken from the file, if Problem is set
	Problem     string           // why it is not used; empty if it is
	Fault       string           // the fault of the machine that is the Problem, such as "no space left on device"; empty if it is another one
	Warnings    []string         // faults that do not keep it from being used
	Untrusted   bool             // Problem says that it waits for the operator's trust
	FileWarning string           // the one of Warnings about the changed file; empty if there is none
	Refusal     Refusal          // of the current content of its file, if that is not used
	Pin         string           // the digest that the lock file allows under its name; empty if there is none
	Tools       []*Tool          // its callable tools, ordered by name
	Filters     []*Filter        // its usable filters, ordered by name

	real       string    // Source without links on the way to its folder; set in a Snapshot
	trusted    time.Time // when the operator trusted it; zero: there is no record
	against    string    // set by Rollback: the digest of the file that is rolled back
	unanswered bool      // Problem says that it could not be asked for its description; it may answer later
	remembered bool      // Problem is from an earlier process; this one has not asked the digest
}

// Refusal says why the content of a file is not used: it cannot replace the revision in service, or
// the lock file does not allow it. It is zero if nothing is refused, and while the file has not yet
// been asked for the first time.
type Refusal struct {
	Digest string // of the file; empty if it could not be read
	Reason string
	Locked bool   // the lock file does not allow it, and no other fault is known
	Name   string // its name by its own description; empty if it was not asked
}

// described returns the plugin with its description, divided into usable and unusable parts.
// refused has the reasons why schemas of tools cannot be used.
func (p *Plugin) described(d tool.Description, refused refusedSchemas) *Plugin {
	q := *p
	q.unanswered, q.remembered = false, false
	q.Problem, q.Fault, q.Tools, q.Filters, q.Warnings = "", "", nil, nil, slices.Concat(p.Warnings, d.Warnings)
	if err := tool.CheckName(d.Name); err != nil {
		q.Problem = "it describes itself wrongly: " + err.Error()
		return &q
	}
	if m := p.Manifest; m != nil && m.Name != "" && m.Name != d.Name {
		q.Problem = fmt.Sprintf("it says that its name is %q, but its %s says %q", d.Name, manifest.FileName, m.Name)
		return &q
	}
	q.Info = d
	seen := map[string]bool{}
	for i, spec := range d.Tools {
		t, err := newTool(&q, spec, seen, refused[i])
		if err != nil {
			q.warnf("the tool %q is left out: %v", spec.Name, err)
			continue
		}
		q.Tools = append(q.Tools, t)
	}
	slices.SortFunc(q.Tools, byToolName)
	if err := checkOwnFilters(&d); err != nil {
		q.Problem, q.Tools = "it describes itself wrongly: "+err.Error(), nil
		return &q
	}
	own := ownFiltersOf(&d)
	for _, t := range q.Tools {
		t.Filters = own[t.DeclaredName()]
	}
	q.addFilters(d.Filters, seen)
	if len(q.Tools)+len(q.Filters) == 0 {
		q.Problem = "it has no tool that can be used"
		if len(q.Warnings) > 0 {
			q.Problem += ": " + strings.Join(q.Warnings, "; ")
		}
	}
	return &q
}

// withProblem returns the plugin as one that cannot be used.
func (p *Plugin) withProblem(problem string) *Plugin {
	q := *p
	q.Problem, q.Fault, q.Tools, q.Filters = problem, "", nil, nil
	return &q
}

// toAsk returns the plugin as one that has to be asked for its description.
func (p *Plugin) toAsk() *Plugin {
	q := p.withProblem(problemPending)
	q.unanswered, q.remembered = false, false
	return q
}

func (p *Plugin) usable() bool  { return p != nil && p.Problem == "" }
func (p *Plugin) pending() bool { return p != nil && p.Problem == problemPending }

// Pending reports whether the plugin is new and has yet to describe itself.
func (p *Plugin) Pending() bool { return p.pending() }

func (p *Plugin) warnf(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// Variables returns the names of toolhost's variables that the plugin's manifest asks for.
func (p *Plugin) Variables() []string {
	if p.Manifest == nil {
		return nil
	}
	return slices.Clone(p.Manifest.Env.Pass)
}

// Permissions returns the permissions that the plugin asks for, in its manifest and its
// description. Paths that are not absolute are ignored.
func (p *Plugin) Permissions() tool.Permissions {
	asked := p.Info.Permissions
	asked.Read, asked.Write = slices.Clone(asked.Read), slices.Clone(asked.Write)
	if p.Manifest != nil {
		m := p.Manifest.Permissions
		asked.Network = asked.Network || m.Network
		asked.Read, asked.Write = append(asked.Read, m.Read...), append(asked.Write, m.Write...)
		if asked.Workspace != tool.AccessWrite && m.Workspace != "" && m.Workspace != manifest.AccessNone {
			asked.Workspace = tool.Access(m.Workspace)
		}
	}
	asked.Read, asked.Write = absolute(asked.Read), absolute(asked.Write)
	return asked
}

func absolute(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// digestOf returns the digest of a plugin, or "" for none.
func digestOf(p *Plugin) string {
	if p == nil {
		return ""
	}
	return p.Digest
}

// unreadable returns the plugin for a source that cannot be read.
func unreadable(source, problem, fault string) *Plugin {
	return &Plugin{Source: source, Problem: problem, Fault: fault, Info: tool.Description{Name: filepath.Base(source)}}
}
