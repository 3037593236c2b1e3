package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file, relative to the workspace, such as src/main.go; missing folders are made" minLength:"1"`
	Content string `json:"content" jsonschema:"the whole content that the file shall have; an empty text makes an empty file"`
}

func writeFileTool(l *lanes) sdk.Tool {
	return sdk.Object(sdk.Spec{
		Name:        "write_file",
		Version:     "1.2.0",
		DisplayName: "Write file",
		Description: `Writes a text file of the workspace as UTF-8: makes it, with the folders that lead to it, or replaces its whole content.
Use it for new files and for files that change altogether. It does not append and does not change parts: for that use edit_file, which needs fewer words and cannot lose the rest. The file has either its old or its new content at any moment, and keeps its permissions; through a link, the file that it points to is written. Returns how many bytes were written.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "a new file, in a folder that need not exist", Arguments: json.RawMessage(`{"path":"notes/today.md","content":"# Today\n\n- write the report\n"}`)},
			{Description: "an empty file", Arguments: json.RawMessage(`{"path":"src/__init__.py","content":""}`)},
		},
		Idempotent:       true,
		PartialArguments: true,
		Metadata:         changeMetadata(`{"path":"path","content":"content"}`),
	}, openChanger(changer[writeInput]{
		change: func(ctx context.Context, w workspace.Workspace, in writeInput) (string, error) {
			return writeFile(ctx, l, w, in)
		},
		preview: previewWrite,
	}))
}

func writeFile(ctx context.Context, l *lanes, w workspace.Workspace, in writeInput) (string, error) {
	leave, err := l.enterFile(ctx, w, in.Path)
	if err != nil {
		return "", err
	}
	defer leave()
	change, err := w.WriteFile(ctx, in.Path, []byte(in.Content), workspace.WriteOptions{})
	if err != nil {
		return "", err
	}
	if change.Created() {
		return fmt.Sprintf("wrote %d bytes to %q, a new file", len(in.Content), in.Path), nil
	}
	return fmt.Sprintf("wrote %d bytes to %q, which had %d", len(in.Content), in.Path, change.Before.Size), nil
}
