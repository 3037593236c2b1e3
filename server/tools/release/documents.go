package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	agentdcommands "github.com/toolhost/toolhost/server/internal/agentd/commands"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	toolhostcommands "github.com/toolhost/toolhost/server/internal/toolhost/commands"
)

// documents returns the texts of an archive: the license, the README, the changelog, and for each
// program its manual pages and the completions of the shells.
func (r *release) documents() ([]archived, error) {
	var files []archived
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := r.read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, archived{name: name, data: data, mode: 0o644})
	}
	p := cli.Process{Getenv: func(string) string { return "" }}
	for _, root := range []*cobra.Command{toolhostcommands.NewRoot(p), agentdcommands.NewRoot(p)} {
		cli.AddVersion(root, p)
		pages, err := r.manual(root)
		if err != nil {
			return nil, fmt.Errorf("making the manual pages of %s: %w", root.Name(), err)
		}
		completions, err := completions(root)
		if err != nil {
			return nil, fmt.Errorf("making the completions of %s: %w", root.Name(), err)
		}
		files = append(append(files, pages...), completions...)
	}
	return files, nil
}

// manual returns one page for each command, such as toolhost-call.1. Their date is that of the
// release.
func (r *release) manual(root *cobra.Command) ([]archived, error) {
	dir, err := os.MkdirTemp(r.scratch, "man-")
	if err != nil {
		return nil, err
	}
	root.DisableAutoGenTag = true
	// Cobra adds this command only when it runs, and its pages describe shells, not the program.
	root.CompletionOptions.HiddenDefaultCmd = true
	header := &doc.GenManHeader{Section: "1", Date: &r.time, Source: "toolhost " + r.version, Manual: "toolhost"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var pages []archived
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		pages = append(pages, archived{name: "share/man/man1/" + entry.Name(), data: data, mode: 0o644})
	}
	return pages, nil
}

// completions returns the scripts under the names by which the shells find them.
func completions(root *cobra.Command) ([]archived, error) {
	var files []archived
	for _, shell := range []struct {
		name     string
		generate func(*bytes.Buffer) error
	}{
		{"share/bash-completion/completions/%s", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{"share/zsh/site-functions/_%s", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"share/fish/vendor_completions.d/%s.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
	} {
		var script bytes.Buffer
		if err := shell.generate(&script); err != nil {
			return nil, err
		}
		files = append(files, archived{name: strings.ReplaceAll(shell.name, "%s", root.Name()), data: script.Bytes(), mode: 0o644})
	}
	return files, nil
}
