package hosttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// fakeArtifact is an artifact of a Fake.
type fakeArtifact struct {
	principal, session string
	content            tool.Artifact
	data               []byte
}

// fakeArtifacts stores the artifacts of a Fake. The zero value is empty. It is safe for concurrent
// use.
type fakeArtifacts struct {
	mu        sync.Mutex
	artifacts map[string]fakeArtifact // by handle
}

// ReadArtifact returns a part of an artifact.
func (f *fakeArtifacts) ReadArtifact(_ context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if err := tool.CheckID(q.Session); q.Session != "" && err != nil {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	if q.Limit < 0 {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the limit is negative")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.artifacts[q.Handle]
	if !ok || a.principal != q.Principal || a.session != q.Session {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there is no artifact %q in this session", q.Handle)
	}
	data := a.data[min(q.Offset, uint64(len(a.data))):]
	limit := min(cmp.Or(q.Limit, tool.DefaultArtifactPiece), tool.MaxArtifactPiece)
	return tool.ArtifactPiece{
		Data: data[:min(limit, len(data))], MediaType: a.content.MediaType, Name: a.content.Name, Size: a.content.Size,
	}, nil
}

// shape replaces each block that is larger than an equal share of the call's budget by an artifact.
// A call without a budget gets all blocks whole.
func (e *execution) shape(blocks []tool.Content) []tool.Content {
	if e.call.MaxShown == nil {
		return blocks
	}
	shaped, text := slices.Clone(blocks), 0
	for _, b := range blocks {
		text += len(b.Text) + len(b.JSON)
	}
	for i, b := range blocks {
		data, a := []byte(b.Text+string(b.JSON)), tool.Artifact{MediaType: "text/plain"}
		share := *e.call.MaxShown / len(blocks)
		switch {
		case len(b.Data) > *e.call.MaxShown && b.Kind == tool.ContentFile:
			data, a.MediaType, a.Name = b.Data, b.MediaType, b.Name
		case text <= *e.call.MaxShown || len(data) <= share:
			continue
		default:
			a.Head, a.Tail = string(data[:share*3/4]), string(data[len(data)-share/4:])
		}
		if b.Kind == tool.ContentJSON {
			a.MediaType = "application/json"
		}
		a.Size = uint64(len(data))
		shaped[i] = tool.Content{Kind: tool.ContentArtifact, Artifact: e.host.keep(e.call, a, data)}
	}
	return shaped
}

func (f *fakeArtifacts) keep(call tool.Call, a tool.Artifact, data []byte) *tool.Artifact {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.Handle = fmt.Sprintf("artifact-%d", len(f.artifacts)+1)
	if f.artifacts == nil {
		f.artifacts = map[string]fakeArtifact{}
	}
	f.artifacts[a.Handle] = fakeArtifact{principal: call.Principal, session: call.Session, content: a, data: data}
	return &a
}

// reader reads an artifact for a tool of the fake.
func (e *execution) reader(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	return e.host.ReadArtifact(ctx, tool.ArtifactQuery{
		Principal: e.call.Principal, Session: e.call.Session, Handle: handle, Offset: offset, Limit: limit,
	})
}
