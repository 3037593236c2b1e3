package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/toolhost/toolhost/sdk"
)

type readInput struct {
	Artifact string `json:"artifact" jsonschema:"the handle, as it stands in the result that was cut, such as artifact-3kq6" minLength:"1"`
	Offset   int64  `json:"offset" jsonschema:"where to begin, in bytes; the answer before this one says where to go on" default:"0" minimum:"0"`
	// With its description, a piece of the default size fits into the 4 KiB that a result shows by
	// default.
	Limit int `json:"limit" jsonschema:"how many bytes to return at most; what is more than a result may show comes back as an artifact again" default:"4000" minimum:"4" maximum:"65536"`
}

func readArtifactTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "read_artifact",
		Version:     "1.0.0",
		DisplayName: "Read artifact",
		Description: `Returns a part of the text of an artifact: of a result that was too large to be shown whole, and that has a handle such as artifact-3kq6 in its place.
A last line in brackets says which part it is and where to go on. Artifacts that are no text, such as images, are refused; hand their handles to tools that take them.`,
		Category: "files",
		Tags:     []string{"artifacts"},
		InputExamples: []sdk.InputExample{
			{Description: "its beginning", Arguments: json.RawMessage(`{"artifact":"artifact-3kq6"}`)},
			{Description: "the part behind the first 4000 bytes", Arguments: json.RawMessage(`{"artifact":"artifact-3kq6","offset":4000}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, readArtifact)
}

// readArtifact returns the text, and a second block that says which part of the artifact it is.
func readArtifact(ctx context.Context, in readInput) ([]sdk.Content, error) {
	a, err := sdk.OpenArtifact(ctx, in.Artifact)
	if err != nil {
		return nil, err
	}
	if in.Offset > 0 && in.Offset >= a.Size() {
		return nil, fmt.Errorf("the artifact has %d bytes; there is nothing at offset %d", a.Size(), in.Offset)
	}
	data := make([]byte, min(int64(in.Limit), a.Size()-in.Offset))
	if _, err := a.ReadAt(data, in.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, skipped := letters(data)
	begin := in.Offset + int64(skipped)
	end := begin + int64(len(text))
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("the artifact is no text but %s, %d bytes; hand its handle to a tool that takes such content", a.MediaType(), a.Size())
	}
	where := fmt.Sprintf("[bytes %d to %d of %d; go on with offset %d]", begin, end, a.Size(), end)
	if end == a.Size() {
		where = fmt.Sprintf("[bytes %d to %d of %d: this is the end]", begin, end, a.Size())
	}
	return []sdk.Content{sdk.Text(string(text)), sdk.Text(where)}, nil
}

// letters returns data without incomplete characters at its ends, and the number of bytes removed
// at the start.
func letters(data []byte) (whole []byte, skipped int) {
	for skipped < len(data) && skipped < utf8.UTFMax-1 && !utf8.RuneStart(data[skipped]) {
		skipped++
	}
	whole = data[skipped:]
	for i := 1; i <= min(utf8.UTFMax-1, len(whole)); i++ {
		last := whole[len(whole)-i:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole = whole[:len(whole)-i]
			}
			break
		}
	}
	return whole, skipped
}
