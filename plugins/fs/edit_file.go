package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/plugins/fs/charset"
	"github.com/toolhost/toolhost/plugins/fs/replace"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	maxEdited   = 16 << 20 // bytes of an edited file; several copies are in memory
	maxAttempts = 10       // attempts if another process keeps changing the file
	maxNumbers  = 10       // line numbers in a result
)

type editInput struct {
	Path  string     `json:"path" jsonschema:"the file, relative to the workspace, such as src/main.go; it must exist" minLength:"1" aliases:"file_path,filename"`
	Edits []editPart `json:"edits" jsonschema:"the changes, made one after the other, each on the result of those before it; either all are made or none" minItems:"1" maxItems:"100" aliases:"*"`
}

type editPart struct {
	OldText    string `json:"old_text" jsonschema:"the text that stands there now, to the letter, with its indentation; with so many lines around the change that it occurs once in the file" aliases:"old_string,old_str"`
	NewText    string `json:"new_text" jsonschema:"the text that shall stand there instead; empty to delete" aliases:"new_string,new_str"`
	ReplaceAll bool   `json:"replace_all" jsonschema:"whether to change every occurrence of old_text, such as a name that is used all over the file, instead of the only one" default:"false"`
}

func editFileTool(l *lanes) sdk.Tool {
	return sdk.Object(sdk.Spec{
		Name:        "edit_file",
		Version:     "1.1.0",
		DisplayName: "Edit file",
		Description: `Changes parts of one text file of the workspace: replaces text that stands there by other text. Read the file first.
Each old_text must occur exactly once, so include enough of the lines around it; if it does not, nothing is changed and the answer says how often it occurs, or which lines are like it. Several edits of a file belong in one call: all are made, or none. Line ends (LF or CRLF), encoding and permissions stay as they are: write line ends as \n. For a new file, or when most of a file changes, use write_file. Returns the lines that were changed.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "one change, with a line around it that makes it the only one", Arguments: json.RawMessage(`{"path":"src/server.go","edits":[{"old_text":"func (s *Server) Start() error {\n\treturn nil","new_text":"func (s *Server) Start() error {\n\treturn s.listen()"}]}`)},
			{Description: "a name everywhere, and a line deleted", Arguments: json.RawMessage(`{"path":"app.py","edits":[{"old_text":"user_nme","new_text":"user_name","replace_all":true},{"old_text":"import os\n","new_text":""}]}`)},
		},
		PartialArguments: true,
		Metadata:         changeMetadata(`{"path":"path","edits":"content"}`),
	}, openChanger(changer[editInput]{
		change: func(ctx context.Context, w workspace.Workspace, in editInput) (string, error) {
			return editFile(ctx, l, w, in)
		},
		preview: previewEdit,
	}))
}

func editFile(ctx context.Context, l *lanes, w workspace.Workspace, in editInput) (string, error) {
	leave, err := l.enterFile(ctx, w, in.Path)
	if err != nil {
		return "", err
	}
	defer leave()
	for range maxAttempts {
		var lines [][]int
		lines, err = editOnce(ctx, w, in)
		if err == nil {
			return edited(in, lines), nil
		}
		if !errors.Is(err, workspace.ErrChanged) {
			return "", err
		}
	}
	return "", err
}

// editOnce reads the file, edits it and writes it, unless the file has changed in between.
func editOnce(ctx context.Context, w workspace.Workspace, in editInput) ([][]int, error) {
	p, err := planEdit(ctx, w, in)
	if err != nil {
		return nil, err
	}
	content, err := p.encoding.Encode(p.after)
	if err != nil {
		return nil, fmt.Errorf("%q was not changed: %w", in.Path, err)
	}
	_, err = w.WriteFile(ctx, in.Path, content, workspace.WriteOptions{IfVersion: p.info.Version})
	return p.lines, err
}

// plannedEdit is an edit that was computed and not written.
type plannedEdit struct {
	before, after string
	lines         [][]int // the lines at which each edit changes the text
	encoding      charset.Encoding
	info          workspace.Info // the state of the file that was read
}

// planEdit reads the file and edits its text.
func planEdit(ctx context.Context, w workspace.Reader, in editInput) (plannedEdit, error) {
	content, info, err := readWhole(ctx, w, in.Path)
	if err != nil {
		return plannedEdit{}, err
	}
	encoding, mediaType, isText := charset.Detect(content[:min(len(content), sniffed)], len(content) <= sniffed)
	if !isText {
		return plannedEdit{}, fmt.Errorf("%q is no text but %s; edit_file changes text files only", in.Path, mediaType)
	}
	p := plannedEdit{encoding: encoding, info: info}
	if p.before, err = encoding.Decode(content); err != nil {
		return plannedEdit{}, fmt.Errorf("editing %q: %w", in.Path, err)
	}
	edits := make([]replace.Edit, len(in.Edits))
	for i, edit := range in.Edits {
		edits[i] = replace.Edit{Old: edit.OldText, New: edit.NewText, All: edit.ReplaceAll}
	}
	if p.after, p.lines, err = replace.Apply(p.before, edits); err != nil {
		return plannedEdit{}, fmt.Errorf("%q was not changed: %w", in.Path, err)
	}
	return p, nil
}

// readWhole returns the content of a file and its state at that time.
func readWhole(ctx context.Context, w workspace.Reader, path string) ([]byte, workspace.Info, error) {
	file, err := w.Open(ctx, path)
	if err != nil {
		return nil, workspace.Info{}, advise(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxEdited+1))
	if err != nil {
		return nil, workspace.Info{}, err
	}
	if len(content) > maxEdited {
		return nil, workspace.Info{}, fmt.Errorf("%q has %d bytes; edit_file changes files of at most %d MiB", path, file.Info().Size, maxEdited>>20)
	}
	return content, file.Info(), nil
}

// edited returns the result: which lines changed.
func edited(in editInput, lines [][]int) string {
	if len(lines) == 1 {
		return fmt.Sprintf("changed %q: %s", in.Path, places(lines[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "changed %q:", in.Path)
	for i, at := range lines {
		fmt.Fprintf(&b, "\nedit %d: %s", i+1, places(at))
	}
	return b.String()
}

func places(lines []int) string {
	if len(lines) == 1 {
		return fmt.Sprintf("1 replacement, from line %d on", lines[0])
	}
	var numbers []string
	for _, line := range lines[:min(len(lines), maxNumbers)] {
		numbers = append(numbers, strconv.Itoa(line))
	}
	more := ""
	if len(lines) > maxNumbers {
		more = " and further ones"
	}
	return fmt.Sprintf("%d replacements, from lines %s%s on", len(lines), strings.Join(numbers, ", "), more)
}
