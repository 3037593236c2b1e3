package agentserver

import (
	"context"
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// Pages are the pages for browsers that the server belongs to.
type Pages struct {
	// URL is where browsers find them.
	URL string
	// NewCode returns a one-time code with which a caller logs in, and when it ends.
	NewCode func(e authn.Evidence) (code string, ends time.Time, err error)
}

func (s *service) CreateConsoleCode(ctx context.Context, _ *agentdv1.CreateConsoleCodeRequest) (*agentdv1.CreateConsoleCodeResponse, error) {
	if s.pages == nil {
		return nil, tool.Errorf(tool.KindUnavailable, "this agentd serves no pages; write console: {listen: 127.0.0.1:8600} into agentd.yaml, and start agentd again")
	}
	code, ends, err := s.pages.NewCode(gate.EvidenceOf(ctx))
	if err != nil {
		return nil, s.refuse(ctx, "", err)
	}
	return &agentdv1.CreateConsoleCodeResponse{Code: code, ExpireTime: toolpb.FromTime(ends), Url: s.pages.URL}, nil
}
