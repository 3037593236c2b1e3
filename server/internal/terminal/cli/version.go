package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/tool"
)

// AddVersion adds the flags --version and -o to the root command of a program. With --version, the
// command prints the version in the form that -o names, and does nothing else. Cobra's own flag
// --version cannot print JSON. Run calls AddVersion.
func AddVersion(root *cobra.Command, p Process) {
	var show bool
	var format Format
	root.Flags().BoolVar(&show, "version", false, "print the version, the commit and the contracts of the program, and exit")
	if root.Flags().Lookup("output") == nil {
		format.AddFlag(root.Flags())
	}
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case show && cmd.Flag("output").Value.String() == "json":
			return WriteJSON(p.Stdout, version.Info())
		case show:
			_, err := fmt.Fprintln(p.Out(), VersionText(root.Name(), version.Info()))
			return err
		}
		return run(cmd, args)
	}
}

// VersionText returns the version of a program for a person, on several lines.
func VersionText(program string, v tool.VersionInfo) string {
	text := fmt.Sprintf("%s %s\ncommit     %s\ncontracts  plugin %s, host %s, agent %s",
		program, OneLine(v.Version), OneLine(v.Commit), OneLine(v.Contracts.Plugin), OneLine(v.Contracts.Host), OneLine(v.Contracts.Agent))
	if v.Contracts.Workspace != "" {
		text += ", workspace " + OneLine(v.Contracts.Workspace)
	}
	return text
}

// Status is what the command `status` of a program shows of its server.
type Status struct {
	Program string           `json:"-"` // toolhost or agentd
	Address string           `json:"address"`
	Server  tool.VersionInfo `json:"server"` // as the server reports it
}

// maxVersionText bounds each text of a server's version. A program that is no toolhost can answer
// with megabytes.
const maxVersionText = 200

// Clip bounds the texts of the server's version. WriteStatus does so by itself.
func (s *Status) Clip() {
	v := &s.Server
	for _, text := range []*string{&v.Version, &v.Commit, &v.Contracts.Plugin, &v.Contracts.Host, &v.Contracts.Agent, &v.Contracts.Workspace} {
		*text = Clip(*text, maxVersionText)
	}
}

// WriteStatus writes the status of a server as text, or as one object of JSON.
func WriteStatus(p Process, s Status, asJSON bool) error {
	s.Clip()
	if asJSON {
		return WriteJSON(p.Stdout, s)
	}
	_, err := fmt.Fprintf(p.Out(), "%s\naddress    %s\n", VersionText(s.Program, s.Server), s.Address)
	return err
}
