package hostserver

import (
	"context"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// Artifacts reads what results have too much of.
type Artifacts interface {
	// ReadArtifact returns a part of an artifact. Errors: invalid_argument, not_found.
	ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error)
}

// ReadArtifact implements toolhost.v1.ToolService.
func (s *toolService) ReadArtifact(ctx context.Context, req *toolhostv1.ReadArtifactRequest) (*toolhostv1.ReadArtifactResponse, error) {
	piece, err := s.host.ReadArtifact(ctx, tool.ArtifactQuery{
		Principal: principalOf(ctx), Session: req.GetSession(), Handle: req.GetHandle(), Offset: req.GetOffset(),
		Limit: int(min(req.GetLimit(), tool.MaxArtifactPiece)),
	})
	if err != nil {
		return nil, err
	}
	return hostpb.FromArtifactPiece(piece), nil
}
