//go:build more

package barecontract

import (
	"context"
	"math"
	"slices"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// unshaped is a toolhost that returns results in full, so that the tests can compare them with what
// the plugin sent.
type unshaped struct{ *client.Client }

// Open opens a call whose result shows all text and JSON.
func (u unshaped) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	call.MaxShown = new(math.MaxInt32)
	e, err := u.Client.Open(ctx, call, complete)
	if err != nil {
		return nil, err
	}
	return unshapedExecution{e, u.Client, call.Session}, nil
}

type unshapedExecution struct {
	tool.Execution
	client  *client.Client
	session string
}

// Next replaces the artifacts in a result by their content. toolhost stores files as artifacts if
// they are too large.
func (e unshapedExecution) Next(ctx context.Context) (tool.Event, error) {
	event, err := e.Execution.Next(ctx)
	if err != nil || event.Ended == nil {
		return event, err
	}
	ended := *event.Ended
	ended.Result.Content = slices.Clone(ended.Result.Content)
	for i, c := range ended.Result.Content {
		if c.Artifact == nil {
			continue
		}
		file := tool.File("", "", nil)
		for uint64(len(file.Data)) < c.Artifact.Size {
			piece, err := e.client.ReadArtifact(ctx, tool.ArtifactQuery{
				Session: e.session, Handle: c.Artifact.Handle, Offset: uint64(len(file.Data)), Limit: tool.MaxArtifactPiece,
			})
			if err != nil {
				return event, err
			}
			file.Name, file.MediaType, file.Data = piece.Name, piece.MediaType, append(file.Data, piece.Data...)
		}
		ended.Result.Content[i] = file
	}
	event.Ended = &ended
	return event, nil
}
