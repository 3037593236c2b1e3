package main

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/plugins/fs/search"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const defaultMatches = 100

// The output forms of grep.
const (
	showLines  = "lines"
	showFiles  = "files"
	showCounts = "counts"
)

type grepInput struct {
	Pattern    string `json:"pattern" jsonschema:"what to look for in each line: a regular expression in the syntax of RE2 (Go), without look-around and back-references; or plain text with fixed" minLength:"1"`
	Path       string `json:"path" jsonschema:"the folder or the file to search, relative to the workspace; . is the workspace itself" default:"." minLength:"1"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files that match this glob: by their name if it has no slash, such as *.go or *.{ts,tsx}, else by their path below the folder, such as src/**/*.go; a name that has brackets itself is found too" examples:"[\"*.go\",\"src/**/*.{ts,tsx}\"]"`
	Exclude    string `json:"exclude,omitempty" jsonschema:"leave out files and whole folders that match this glob, in the same way, such as node_modules or **/testdata/**" examples:"[\"node_modules\",\"*.min.js\"]"`
	Fixed      bool   `json:"fixed" jsonschema:"whether the pattern is plain text, in which nothing such as ( . * has a meaning" default:"false"`
	IgnoreCase bool   `json:"ignore_case" jsonschema:"whether upper and lower case are the same" default:"false"`
	Multiline  bool   `json:"multiline" jsonschema:"whether a match may go over several lines; . matches ends of lines too, which are \\n" default:"false"`
	Output     string `json:"output" jsonschema:"lines: the matching lines with their numbers; files: only the paths of files that have some; counts: how many matching lines each file has" enum:"lines,files,counts" default:"lines"`
	Before     int    `json:"before" jsonschema:"how many lines before each match to show" default:"0" minimum:"0" maximum:"50"`
	After      int    `json:"after" jsonschema:"how many lines after each match to show" default:"0" minimum:"0" maximum:"50"`
	Limit      int    `json:"limit" jsonschema:"how many matching lines, or files, to return at most" default:"100" minimum:"1" maximum:"2000"`
	Gitignore  bool   `json:"gitignore" jsonschema:"whether to leave out what the .gitignore files say, and .git" default:"false"`
}

func grepTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "grep",
		Version:     "1.0.0",
		DisplayName: "Search in files",
		Description: `Finds lines in the files of the workspace by a regular expression or plain text, in one file or a whole tree, fast: use it to find where something is defined, used or said, instead of reading files one after the other.
Returns for each file its path and the matching lines as NUMBER:TEXT, those around them as NUMBER-TEXT, in order of the paths; a last line in brackets says what was left out. Hidden files are searched too; binary files are not, and links are not followed. In a repository with build output, set gitignore. If you only want to know which files, ask for output files. To find files by name use glob.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "where a function is defined, in Go files", Arguments: json.RawMessage(`{"pattern":"^func (\\(\\w+ \\*?Server\\) )?Start\\(","glob":"*.go"}`)},
			{Description: "plain text, with two lines around each match", Arguments: json.RawMessage(`{"pattern":"config[\"timeout\"]","fixed":true,"before":2,"after":2,"path":"src"}`)},
			{Description: "which files mention a word, in any case", Arguments: json.RawMessage(`{"pattern":"deprecated","ignore_case":true,"output":"files","gitignore":true}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(grep))
}

func grep(ctx context.Context, ws workspace.Workspace, in grepInput) (string, error) {
	matcher, err := search.Compile(search.Pattern{Text: in.Pattern, Fixed: in.Fixed, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	if err != nil {
		return "", err
	}
	for parameter, glob := range map[string]string{"glob": in.Glob, "exclude": in.Exclude} {
		if err := checkGlob(parameter, glob); err != nil {
			return "", err
		}
	}
	start, err := startOf(ws, in.Path)
	if err != nil {
		return "", err
	}
	in.Limit = cmp.Or(in.Limit, defaultMatches)
	in.Output = cmp.Or(in.Output, showLines)
	report := newReport(in)
	s := &treeSearch{matcher: matcher, want: wanted(in), report: report.add}
	w := &walk{start: start, gitignore: in.Gitignore, exclude: newPattern(in.Exclude)}
	if err := s.run(ctx, ws, w, newPattern(in.Glob)); err != nil {
		return "", advise(err)
	}
	report.notes = w.leftOut()
	return report.text(), nil
}

// wanted returns the limit for each file: one match more than the result can show, so that the
// result can say whether there are more.
func wanted(in grepInput) search.Want {
	switch in.Output {
	case showFiles:
		return search.Want{Most: 1, CountOnly: true}
	case showCounts:
		return search.Want{CountOnly: true}
	}
	return search.Want{Before: in.Before, After: in.After, Most: in.Limit + 1}
}
