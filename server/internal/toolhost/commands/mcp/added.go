package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/install"
	"github.com/toolhost/toolhost/server/internal/toolhost/serverpackage"
)

// added is the result of adding a server, as -o json prints it.
type added struct {
	Plugin     string        `json:"plugin"`
	Version    string        `json:"version"`
	Path       string        `json:"path"`
	Digest     string        `json:"digest"`
	Tools      []string      `json:"tools"`
	Replaced   bool          `json:"replaced"`
	InService  bool          `json:"in_service"`
	NeedsLogin bool          `json:"needs_login"` // its tools are read after a login
	Package    *addedPackage `json:"package"`     // null: the server is no package
	Command    []string      `json:"command"`     // that runs it
	Network    bool          `json:"network"`     // the sandbox permits it
	Secrets    []addedSecret `json:"secrets"`
	Config     string        `json:"config"` // the file that was changed; empty: none
	Grants     []string      `json:"grants"` // what was added to it
	Warnings   []string      `json:"warnings"`

	url, note string
	planned   bool // nothing was done
}

type addedPackage struct {
	Registry string `json:"registry"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Packages int    `json:"packages"` // with its dependencies
	Pins     string `json:"pins"`     // the file of the folder with their hashes
}

// addedSecret is a secret of the server. Its value is nowhere in the result.
type addedSecret struct {
	Name     string `json:"name"`
	File     string `json:"file,omitempty"`
	Variable string `json:"variable,omitempty"` // of toolhost's environment
}

// finish adds the result of the installation.
func (d *added) finish(result *install.Installed) {
	d.Version, d.Path, d.Digest, d.Tools = result.Version, result.Path, result.Digest, result.Tools
	d.Replaced, d.InService, d.NeedsLogin, d.note = result.Replaced, result.InService, result.NeedsLogin, result.Note()
	d.Warnings = append(d.Warnings, result.Warnings...)
	for _, u := range result.Ungranted {
		d.Warnings = append(d.Warnings, fmt.Sprintf("it asks for %s, which is not granted; in toolhost.yaml: %s", u.Request, u.Grant))
	}
}

// plan says what adding the server would do.
func (d *added) plan(s *server, request *serverpackage.Request) {
	d.planned, d.Command = true, s.command
	if request != nil {
		d.Package = &addedPackage{Registry: request.Registry, Name: request.Spec}
	}
	for _, each := range s.allSecrets() {
		d.Secrets = append(d.Secrets, addedSecret{Name: each.name, Variable: each.variable})
	}
}

func (d *added) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	switch {
	case d.planned:
		fmt.Fprintf(&b, "would add %s\n", d.Plugin)
	case d.Replaced:
		fmt.Fprintf(&b, "replaced %s: %s\n", d.Plugin, d.tools())
	default:
		fmt.Fprintf(&b, "added %s: %s\n", d.Plugin, d.tools())
	}
	if d.Path != "" {
		line("%s, %s", cli.OneLine(d.Path), cli.ShortDigest(d.Digest))
	}
	switch p := d.Package; {
	case p != nil && d.planned:
		line("installs %s from %s", p.Name, p.Registry)
	case p != nil:
		line("%s %s of %s with %s, pinned by their hashes in %s", p.Name, p.Version, p.Registry, cli.Count(p.Packages-1, "other package"), p.Pins)
	}
	if d.url != "" {
		line("connects to %s", cli.OneLine(d.url))
	} else {
		line("runs %s", cli.OneLine(shellWords(d.Command)))
	}
	for _, each := range d.Secrets {
		line("%s", each.text())
	}
	for _, grant := range d.Grants {
		line("added to %s: %s", cli.OneLine(d.Config), cli.OneLine(grant))
	}
	switch {
	case d.InService:
		line("in service")
	case d.note != "":
		line("%s", cli.OneLine(d.note))
	}
	if !d.planned && d.url == "" && !d.Network {
		line("the sandbox permits no network; to permit it: --replace --network")
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "note: %s\n", cli.OneLine(cli.ShortenDigests(warning)))
	}
	return b.String()
}

func (d *added) tools() string {
	if d.NeedsLogin && !d.InService {
		return "its tools are read after a login"
	}
	if len(d.Tools) == 0 {
		return "no tools"
	}
	return cli.Count(len(d.Tools), "tool") + ", " + cli.OneLine(strings.Join(d.Tools, ", "))
}

func (s addedSecret) text() string {
	switch {
	case s.Variable != "":
		return fmt.Sprintf("the secret %s is the variable %s of toolhost's environment", s.Name, s.Variable)
	case s.File != "":
		return fmt.Sprintf("the secret %s is in %s", s.Name, s.File)
	}
	return "the secret " + s.Name
}

func shellWords(words []string) string {
	quoted := slices.Clone(words)
	for i, word := range quoted {
		quoted[i] = cli.ShellWord(word)
	}
	return strings.Join(quoted, " ")
}
