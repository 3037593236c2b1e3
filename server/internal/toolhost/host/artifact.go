package host

import (
	"cmp"
	"context"

	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/tool"
)

// ReadArtifact returns a part of an artifact. It returns less than q.Limit only at the end of the
// artifact or at tool.MaxArtifactPiece, and nothing beyond the end. Errors: invalid_argument;
// not_found, also for an artifact of another principal or session, and for one that the store has
// removed.
func (h *Host) ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if q.Session != "" {
		if err := tool.CheckID(q.Session); err != nil {
			return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the session cannot be one: %w", err)
		}
	}
	if q.Limit < 0 {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the limit %d must not be negative", q.Limit)
	}
	limit := min(cmp.Or(q.Limit, tool.DefaultArtifactPiece), tool.MaxArtifactPiece)
	return readArtifact(ctx, h.cfg.Artifacts, artifact.Owner{Principal: q.Principal, Session: q.Session}, q.Handle, q.Offset, limit)
}

func readArtifact(ctx context.Context, store *artifact.Store, owner artifact.Owner, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	switch {
	case ctx.Err() != nil:
		return tool.ArtifactPiece{}, tool.AsError(context.Cause(ctx))
	case store == nil:
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "this toolhost keeps no artifacts")
	default:
		return store.Read(owner, handle, offset, limit)
	}
}

// readArtifact reads an artifact for the plugin. The plugin can read the artifacts of the call's
// session.
func (a *attempt) readArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	c := a.call
	return readArtifact(ctx, c.services.artifacts, artifact.Owner{Principal: c.request.Principal, Session: c.request.Session}, handle, offset, limit)
}
