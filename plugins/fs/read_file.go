package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/plugins/fs/charset"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	defaultLines = 2000
	maxText      = 64 << 10 // bytes of text per call, about 16,000 tokens
	sniffed      = 8000     // number of bytes that are examined to detect binary files
	maxImage     = 5 << 20  // bytes of an image; the limit of model providers
	shownBytes   = 16       // bytes of a binary file that are shown
)

type readInput struct {
	Path   string `json:"path" jsonschema:"the file, relative to the workspace, such as src/main.go" minLength:"1"`
	Offset int    `json:"offset" jsonschema:"the first line to return, counted from 1; where the answer before this one was cut, it says which" default:"1" minimum:"1"`
	Limit  int    `json:"limit" jsonschema:"how many lines to return at most" default:"2000" minimum:"1"`
	Column int    `json:"column" jsonschema:"where in the first line to begin, as a character counted from 1; only for lines that were cut because they are too long, the answer says where to go on" default:"1" minimum:"1"`
}

func readFileTool() sdk.Tool {
	known := &offsets{}
	return sdk.Func(sdk.Spec{
		Name:        "read_file",
		Version:     "1.1.0",
		DisplayName: "Read file",
		Description: `Returns the text of one file of the workspace as it is, without line numbers: the whole file, or a part of it by line with offset and limit. Read a file before changing it with edit_file.
At most 64 KiB come back; where the text was cut, a last line in brackets says so and names the offset to go on with. UTF-16 and Windows-1252 are shown as UTF-8, which is said too. Images (PNG, JPEG, GIF, WebP) come back as images; of other binary files only their kind and size. To find where something stands in files that you do not know, use grep instead of reading them all; for a folder use list_dir.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "a whole file", Arguments: json.RawMessage(`{"path":"README.md"}`)},
			{Description: "lines 2001 to 2500", Arguments: json.RawMessage(`{"path":"logs/server.log","offset":2001,"limit":500}`)},
			{Description: "an image", Arguments: json.RawMessage(`{"path":"docs/architecture.png"}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(known.readFile))
}

// readFile returns the text, and a second block that says which part of the file it is, unless it
// is all.
func (o *offsets) readFile(ctx context.Context, w workspace.Workspace, in readInput) (sdk.Result, error) {
	file, err := w.Open(ctx, in.Path)
	if err != nil {
		return sdk.Result{}, advise(err)
	}
	defer file.Close()
	raw := bufio.NewReaderSize(file, maxText+1)
	head, err := raw.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return sdk.Result{}, err
	}
	encoding, mediaType, isText := charset.Detect(head, err != nil)
	if !isText {
		return readBinary(raw, in.Path, mediaType, file.Info().Size)
	}
	in.Offset, in.Column = max(in.Offset, 1), max(in.Column, 1)
	reader := &lineReader{ctx: ctx, buffer: raw, mark: mark{line: 1, column: 1}}
	if encoding.Plain() {
		keep, err := o.at(file, in, reader)
		if err != nil {
			return sdk.Result{}, err
		}
		defer keep()
	} else {
		reader.buffer = bufio.NewReaderSize(encoding.Reader(raw), maxText+1)
	}
	e, err := reader.excerpt(in.Offset, in.Column, cmp.Or(in.Limit, defaultLines))
	if err != nil {
		return sdk.Result{}, err
	}
	return e.result(in.Path, file.Info().Size, encoding)
}

// readBinary returns an image, or a description of other data.
func readBinary(r *bufio.Reader, path, mediaType string, size int64) (sdk.Result, error) {
	kind := "a binary file"
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		data, err := io.ReadAll(io.LimitReader(r, maxImage+1))
		if err != nil {
			return sdk.Result{}, fmt.Errorf("reading %q: %w", path, err)
		}
		if len(data) <= maxImage {
			image := sdk.Image(mediaType, data)
			image.Name = path[strings.LastIndexByte(path, '/')+1:]
			return sdk.Result{Content: []sdk.Content{image}}, nil
		}
		kind = fmt.Sprintf("an image of more than the %d MiB that can be shown", maxImage>>20)
	}
	head, err := r.Peek(shownBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return sdk.Result{}, fmt.Errorf("reading %q: %w", path, err)
	}
	return sdk.TextResult(fmt.Sprintf("[%q is %s, of the kind %s: %d bytes, which are not shown; the first are % x]", path, kind, mediaType, size, head)), nil
}

// excerpt is a sequence of whole lines.
type excerpt struct {
	text        strings.Builder
	first, last int  // line numbers from 1; last is first-1 if there are none
	column      int  // start column in the first line, from 1
	more        bool // the file continues after the last line
	inside      bool // the last line is truncated because it exceeds maxText
	total       int  // number of lines of the file if its end was reached; otherwise 0
}

func (e *excerpt) result(path string, size int64, encoding charset.Encoding) (sdk.Result, error) {
	text := e.text.String()
	var notes []string
	switch {
	case e.total == 0 && !e.more && !e.inside && e.first == 1 && text == "" && e.column == 1:
		return sdk.TextResult(fmt.Sprintf("[%q is empty]", path)), nil
	case e.last < e.first && !e.inside:
		return sdk.Result{}, fmt.Errorf("the offset %d is beyond the end of %q, which has %d lines", e.first, path, e.total)
	case e.column > 1 && strings.Trim(text, "\r\n") == "" && e.first == e.last:
		return sdk.Result{}, fmt.Errorf("the column %d is beyond the end of line %d of %q", e.column, e.first, path)
	case e.inside:
		notes = append(notes, fmt.Sprintf("[cut inside line %d, which is longer than the %d bytes that one call returns; it goes on with offset %d and column %d, the line after it has offset %d]",
			e.last, maxText, e.last, e.column+utf8.RuneCountInString(text), e.last+1))
	case e.more:
		notes = append(notes, fmt.Sprintf("[lines %d to %d of a file of %d bytes; it goes on with offset %d]", e.first, e.last, size, e.last+1))
	case e.first > 1 || e.column > 1:
		notes = append(notes, fmt.Sprintf("[lines %d to %d, the end of the file]", e.first, e.last))
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		notes = append(notes, "[bytes that are not UTF-8 are shown as \uFFFD]")
	}
	if !encoding.Plain() {
		guess := ""
		if encoding.Guessed() {
			guess = ", which is a guess"
		}
		notes = append(notes, fmt.Sprintf("[the file is encoded as %v%s; edit_file keeps that, write_file writes UTF-8]", encoding, guess))
	}
	result := sdk.TextResult(text)
	if len(notes) > 0 {
		result.Content = append(result.Content, sdk.Text(strings.Join(notes, "\n")))
	}
	return result, nil
}
