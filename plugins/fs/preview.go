package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/toolhost/toolhost/plugins/fs/charset"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	maxCompared  = 1 << 20  // bytes of a file that is compared line by line
	maxDiff      = 24 << 10 // bytes of a diff that is shown
	maxDiffWidth = 400      // bytes of a line of a diff
)

// changeMetadata returns the metadata of a tool that changes a file. Its previews have a diff of
// what a call would change, which agentd shows to the person who has to approve the call. arguments
// says what its arguments are, for standing approvals.
func changeMetadata(arguments string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"preview": json.RawMessage(`"diff"`), "toolhost.arguments": json.RawMessage(arguments)}
}

// changer is the object of a call that changes a file. It shows what the call would change when the
// arguments are whole, and changes nothing before Call.
type changer[In any] struct {
	change func(ctx context.Context, w workspace.Workspace, in In) (string, error)
	// preview returns the file that the call would change, with its text before and after.
	preview func(ctx context.Context, w workspace.Reader, in In) (change, error)
}

// change is what a call would change.
type change struct {
	path          string
	created       bool // the file does not exist
	before, after string
	note          string // what the lines do not show; empty: nothing
}

// openChanger returns the function that opens the object of a call.
func openChanger[In any](c changer[In]) func(context.Context) (*changer[In], error) {
	return func(context.Context) (*changer[In], error) { return &c, nil }
}

// Call implements sdk.Caller.
func (c *changer[In]) Call(ctx context.Context, in In) (string, error) {
	return inWorkspace(c.change)(ctx, in)
}

// Partial implements sdk.Previewer.
func (c *changer[In]) Partial(ctx context.Context, soFar In) {
	if !sdk.ArgumentsWhole(ctx) {
		return
	}
	shown, err := inWorkspace(func(ctx context.Context, w workspace.Workspace, in In) (string, error) {
		planned, err := c.preview(ctx, w, in)
		if err != nil {
			return "", err
		}
		return planned.diff(), nil
	})(ctx, soFar)
	if ctx.Err() != nil {
		return // the call begins
	}
	if err != nil {
		shown = "the call would fail as the files are now: " + strings.ToValidUTF8(err.Error(), "\uFFFD")
	}
	result, err := json.Marshal(map[string]string{"diff": shown})
	if err == nil {
		sdk.ReportStatus(ctx, sdk.Status{Result: result})
	}
}

// diff returns a unified diff of at most about maxDiff bytes.
func (c *change) diff() string {
	name := c.path
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		name = quoted // such as a line feed, which would look like a line of the diff
	}
	old := name
	if c.created {
		old = "/dev/null"
	}
	head := "--- " + old + "\n+++ " + name + "\n"
	if c.note != "" {
		head += "(" + c.note + ")\n"
	}
	switch {
	case c.before == c.after && c.created:
		return head + "(an empty file)\n"
	case c.before == c.after:
		return head + "(no line changes)\n"
	case max(len(c.before), len(c.after)) > maxCompared:
		return head + fmt.Sprintf("(%d bytes before and %d after: too much to compare)\n", len(c.before), len(c.after))
	}
	lines := string(diff.Diff(old, []byte(c.before), name, []byte(c.after)))
	for range 3 { // its own head, whose names are not quoted
		_, lines, _ = strings.Cut(lines, "\n")
	}
	return head + clipDiff(lines)
}

// clipDiff shortens long lines, and leaves out the lines for which there is no room.
func clipDiff(lines string) string {
	var b strings.Builder
	left := strings.Count(lines, "\n")
	for line := range strings.Lines(lines) {
		text := strings.TrimSuffix(line, "\n")
		if len(text) > maxDiffWidth {
			cut := maxDiffWidth
			for cut > 0 && !utf8.RuneStart(text[cut]) {
				cut--
			}
			text = fmt.Sprintf("%s… and %d more bytes", text[:cut], len(text)-cut)
		}
		if b.Len()+len(text) > maxDiff {
			fmt.Fprintf(&b, "(%d more lines)\n", left)
			break
		}
		b.WriteString(text + "\n")
		left--
	}
	return b.String()
}

// previewEdit returns what edit_file would change.
func previewEdit(ctx context.Context, w workspace.Reader, in editInput) (change, error) {
	p, err := planEdit(ctx, w, in)
	if err != nil {
		return change{}, err
	}
	return change{path: in.Path, before: p.before, after: p.after}, nil
}

// previewWrite returns what write_file would change.
func previewWrite(ctx context.Context, w workspace.Reader, in writeInput) (change, error) {
	planned := change{path: in.Path, after: in.Content}
	file, err := w.Open(ctx, in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		planned.created = true
		return planned, nil
	case err != nil:
		return change{}, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxCompared+1))
	if err != nil {
		return change{}, err
	}
	if len(content) > maxCompared {
		planned.before, planned.note = "", fmt.Sprintf("the file has %d bytes; its present content is not shown", file.Info().Size)
		return planned, nil
	}
	encoding, mediaType, isText := charset.Detect(content[:min(len(content), sniffed)], len(content) <= sniffed)
	if isText {
		planned.before, err = encoding.Decode(content)
	}
	switch {
	case !isText, err != nil:
		planned.before, planned.note = "", fmt.Sprintf("the file is no text but %s of %d bytes; its present content is not shown", mediaType, len(content))
	case !encoding.Plain() && !bytes.Equal(content, []byte(planned.before)):
		planned.note = fmt.Sprintf("the encoding changes from %s to UTF-8", encoding)
	}
	return planned, nil
}
