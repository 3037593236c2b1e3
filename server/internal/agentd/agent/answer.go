package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxAnswer is the largest text that the calls of one response may return directly to the user,
	// in bytes. Journals and the gRPC API carry it as one event.
	maxAnswer = 16 << 20
	// answerWait limits how long the agent reads the artifacts of one answer.
	answerWait = 2 * time.Minute
)

// answer sets r.Answer if the result may go directly to the user and shows its artifacts only in
// part. It returns false if the agent closes. The resumed run then joins the call again.
func (e *toolCall) answer(r *loop.CallResult) bool {
	if e.direct == 0 || r.Failure != nil || r.Result.IsError || !hasArtifact(&r.Result) {
		return true
	}
	ctx, stop := context.WithTimeout(e.task.cancelled, answerWait)
	defer stop()
	left := maxAnswer / e.direct
	var parts []string
	for i := range r.Result.Content {
		block := tool.Result{Content: r.Result.Content[i : i+1]}
		part := ""
		if a := r.Result.Content[i].Artifact; a == nil {
			part = block.Text()
		} else {
			part = e.whole(ctx, a, left)
		}
		left = max(0, left-len(part))
		parts = append(parts, part)
	}
	r.Answer = strings.Join(parts, "\n")
	return e.task.ctx.Err() == nil
}

func hasArtifact(r *tool.Result) bool {
	for i := range r.Content {
		if r.Content[i].Artifact != nil {
			return true
		}
	}
	return false
}

// whole returns an artifact for a person: all of its text, up to most bytes, or the name of content
// that is not text.
func (e *toolCall) whole(ctx context.Context, a *tool.Artifact, most int) string {
	if a.Head+a.Tail == "" && !strings.HasPrefix(a.MediaType, "text/") && a.MediaType != "application/json" {
		what := strings.TrimSpace(a.Name + " " + a.MediaType)
		return fmt.Sprintf("[%s, %d bytes: artifact %s]", cmp.Or(what, "content"), a.Size, a.Handle)
	}
	if a.Size > uint64(most) {
		return e.partly(a, fmt.Sprintf("an answer has at most %d bytes", maxAnswer))
	}
	var text strings.Builder
	for uint64(text.Len()) < a.Size {
		piece, err := e.piece(ctx, tool.ArtifactQuery{
			Session: e.session, Handle: a.Handle, Offset: uint64(text.Len()), Limit: int(min(a.Size-uint64(text.Len()), tool.MaxArtifactPiece)),
		})
		if err == nil && len(piece) == 0 {
			err = fmt.Errorf("the artifact ends after %d bytes", text.Len())
		}
		if err != nil {
			e.run.log.to(loglevel.Tools).Warn("an artifact for the user cannot be read", "tool", e.call.Tool, "call", e.call.ID, "artifact", a.Handle, "error", err)
			return e.partly(a, tool.AsError(err).Message)
		}
		text.Write(piece)
	}
	return text.String()
}

// partly returns the known part of an artifact, with a note about the rest.
func (e *toolCall) partly(a *tool.Artifact, why string) string {
	missing := a.Size - min(a.Size, uint64(len(a.Head)+len(a.Tail)))
	return fmt.Sprintf("%s\n[%d of %d bytes are left out here: %s. The whole is artifact %s of the session %s.]\n%s",
		strings.TrimSuffix(a.Head, "\n"), missing, a.Size, why, a.Handle, e.session, a.Tail)
}

// piece reads a part of an artifact. It repeats the request if toolhost does not answer.
func (e *toolCall) piece(ctx context.Context, q tool.ArtifactQuery) ([]byte, error) {
	config := e.run.config
	if config.ReadArtifact == nil {
		return nil, tool.Errorf(tool.KindUnavailable, "this agent cannot read artifacts")
	}
	for attempt := 1; ; attempt++ {
		piece, err := config.ReadArtifact(ctx, q)
		if err == nil {
			return piece.Data, nil
		}
		if attempt >= config.ToolRetry.MaxAttempts || !mayRecover(err) || sleep(ctx, config.ToolRetry.pause(attempt, 0)) != nil {
			return nil, err
		}
	}
}
