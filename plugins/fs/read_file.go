package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/sdk"
)

const (
	defaultLines = 2000
	maxText      = 64 << 10 // bytes of text per call, about 16,000 tokens
	sniffed      = 8000     // bytes that tell text from binary
)

type readInput struct {
	Path   string `json:"path" jsonschema:"the file, relative to the workspace, such as src/main.go" minLength:"1"`
	Offset int    `json:"offset" jsonschema:"the first line to return, counted from 1; where the answer before this one was cut, it says which" default:"1" minimum:"1"`
	Limit  int    `json:"limit" jsonschema:"how many lines to return at most" default:"2000" minimum:"1"`
}

func readFileTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "read_file",
		Version:     "1.0.0",
		DisplayName: "Read file",
		Description: `Returns the text of a file of the workspace as it is, without line numbers: the whole file, or a part of it by line with offset and limit.
At most 64 KiB come back; where the text was cut, a last line in brackets says so and names the offset to go on with. Binary files are refused, with what they are. For a folder use list_dir.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "a whole file", Arguments: json.RawMessage(`{"path":"README.md"}`)},
			{Description: "lines 2001 to 2500", Arguments: json.RawMessage(`{"path":"logs/server.log","offset":2001,"limit":500}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(readFile))
}

// readFile answers with the text, and with a second block that says what of the file the text is, unless it is all.
func readFile(ctx context.Context, w *workspace, in readInput) (sdk.Result, error) {
	file, info, err := w.open(in.Path, onlyFile)
	if err != nil {
		return sdk.Result{}, err
	}
	defer file.Close()
	reader := &lineReader{ctx: ctx, buffer: bufio.NewReaderSize(file, maxText+1)}
	if err := refuseBinary(reader.buffer, in.Path, info); err != nil {
		return sdk.Result{}, err
	}
	e, err := reader.excerpt(max(in.Offset, 1), cmp.Or(in.Limit, defaultLines))
	if err != nil {
		return sdk.Result{}, explain("read", in.Path, err)
	}
	return e.result(in.Path, info)
}

func onlyFile(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("a folder; use list_dir")
	}
	return fmt.Errorf("no regular file but a %s, which cannot be read", kindOf(mode))
}

// refuseBinary looks at the beginning of a file and leaves it to be read.
func refuseBinary(r *bufio.Reader, path string, info fs.FileInfo) error {
	head, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return explain("read", path, err)
	}
	kind := http.DetectContentType(head)
	if strings.HasPrefix(kind, "text/") && !bytes.ContainsRune(head, 0) {
		return nil
	}
	return fmt.Errorf("%q is not UTF-8 text: it looks like %s and has %d bytes; read_file returns text only", path, kind, info.Size())
}

// excerpt is a run of whole lines.
type excerpt struct {
	text        strings.Builder
	first, last int  // lines, from 1; last is first-1 if there are none
	more        bool // the file goes on after the last line
	inside      bool // the last line is longer than maxText, and cut
	total       int  // how many lines the file has, where its end was met; else 0
}

func (e *excerpt) result(path string, info fs.FileInfo) (sdk.Result, error) {
	text := e.text.String()
	var note string
	switch {
	case e.total == 0 && !e.more && !e.inside && e.first == 1:
		return sdk.TextResult(fmt.Sprintf("[%q is empty]", path)), nil
	case e.last < e.first && !e.inside:
		return sdk.Result{}, fmt.Errorf("the offset %d is beyond the end of %q, which has %d lines", e.first, path, e.total)
	case e.inside:
		note = fmt.Sprintf("[cut inside line %d, which is longer than the %d bytes that one call returns; offset %d goes on after it]", e.last, maxText, e.last+1)
	case e.more:
		note = fmt.Sprintf("[lines %d to %d of a file of %d bytes; it goes on with offset %d]", e.first, e.last, info.Size(), e.last+1)
	case e.first > 1:
		note = fmt.Sprintf("[lines %d to %d, the end of the file]", e.first, e.last)
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		note = strings.TrimLeft(note+"\n[bytes that are not UTF-8 are shown as \uFFFD]", "\n")
	}
	result := sdk.TextResult(text)
	if note != "" {
		result.Content = append(result.Content, sdk.Text(note))
	}
	return result, nil
}
