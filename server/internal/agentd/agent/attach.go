package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/attachment"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// An attachment has to be the same for every request of its run, whatever happens to the file, to
// the artifact or to agentd. So the agent takes the content once, before it accepts the prompt or
// the message, and writes it in the same append as the event that names it. A crash leaves both or
// neither. The event has the digest; a request loads the content by it and compares. A content that
// is lost or changed ends the run, because a model that continues without it would answer as if it
// had read it.

// attaching takes the attachments of one prompt or message.
type attaching struct {
	agent     *Agent
	config    *configured
	model     model.Model // reads them
	principal string
	groups    []string
	session   string // the default of NewAttachment.Session
	parent    string // the run that starts a sub-run; empty: none
}

// attached are accepted attachments with the contents that the store does not have yet.
type attached struct {
	list     []loop.Attachment
	contents []runstore.Content
	held     []func() // what release calls
}

func (t *attached) bytes() int64 { return loop.AttachedBytes(t.list) }

// news returns the contents for the store.
func (t *attached) news() []runstore.Content {
	if t == nil {
		return nil
	}
	return t.contents
}

// release gives up what the attachments hold until they are in the store. It may be called more
// than once, and for none.
func (t *attached) release() {
	if t == nil {
		return
	}
	for _, free := range t.held {
		free()
	}
	t.held = nil
}

// take checks the attachments and reads those whose contents the caller did not send. earlier are
// those that the run has. Without an error, the caller must release the result when the store has
// the attachments, or will not have them.
func (t *attaching) take(ctx context.Context, files []loop.NewAttachment, earlier []loop.Attachment) (taken attached, err error) {
	if len(files) == 0 {
		return taken, nil
	}
	defer func() {
		if err != nil {
			taken.release()
		}
	}()
	if err := t.check(files, earlier); err != nil {
		return taken, err
	}
	if err := t.agent.checkAttached(ctx, t.principal, sent(files)); err != nil {
		return taken, err
	}
	if slices.ContainsFunc(files, func(f loop.NewAttachment) bool { return len(f.Data) == 0 }) {
		free, err := t.agent.taking.take(ctx, attachment.MaxMessageBytes)
		if err != nil {
			return taken, err
		}
		taken.held = append(taken.held, free)
	}
	for i := range files {
		room := func(size uint64) error {
			return attachment.CheckCount(len(earlier), len(files), loop.AttachedBytes(earlier), taken.bytes()+int64(min(size, attachment.MaxBytes)))
		}
		if err := t.add(ctx, &taken, files[i], room); err != nil {
			return taken, err
		}
	}
	free, err := t.agent.admitAttached(ctx, t.principal, taken.bytes())
	if err == nil {
		taken.held = append(taken.held, free)
	}
	return taken, err
}

// add reads an attachment and adds it. room returns an error if the bounds have no room for a size.
func (t *attaching) add(ctx context.Context, taken *attached, f loop.NewAttachment, room func(size uint64) error) error {
	data, err := t.read(ctx, &f, room)
	if err != nil {
		return err
	}
	mimeType, err := attachment.TypeOf(f.Name, f.MIMEType, data)
	if err != nil {
		return err
	}
	if err := t.accepts(f.Name, mimeType); err != nil {
		return err
	}
	if err := room(uint64(len(data))); err != nil {
		return err
	}
	digest := digestOf(data)
	taken.list = append(taken.list, loop.Attachment{
		Attachment: model.Attachment{Name: f.Name, MIMEType: mimeType, Size: len(data), SHA256: digest}, Artifact: f.Artifact,
	})
	if !slices.ContainsFunc(taken.contents, func(c runstore.Content) bool { return c.SHA256 == digest }) {
		taken.contents = append(taken.contents, runstore.Content{SHA256: digest, Data: data})
	}
	return nil
}

// check checks what is known before anything is read.
func (t *attaching) check(files []loop.NewAttachment, earlier []loop.Attachment) error {
	for i := range files {
		f := &files[i]
		if err := attachment.CheckName(f.Name); err != nil {
			return err
		}
		if sources := count(len(f.Data) > 0, f.Artifact != "", f.SHA256 != ""); sources > 1 || f.SHA256 != "" && t.parent == "" {
			return tool.Errorf(tool.KindInvalidArgument, "the attachment %s has several contents; send data or the handle of an artifact", attachment.Quote(f.Name))
		}
		if f.Artifact == "" && f.SHA256 == "" {
			if err := attachment.CheckSize(f.Name, uint64(len(f.Data))); err != nil {
				return err
			}
		}
	}
	if len(t.features().Attachments) == 0 {
		return t.accepts(files[0].Name, "")
	}
	return attachment.CheckCount(len(earlier), len(files), loop.AttachedBytes(earlier), sent(files))
}

func count(set ...bool) (n int) {
	for _, b := range set {
		if b {
			n++
		}
	}
	return n
}

// sent returns the bytes that the caller sent itself.
func sent(files []loop.NewAttachment) (n int64) {
	for i := range files {
		n += int64(len(files[i].Data))
	}
	return n
}

func (t *attaching) features() model.Features { return model.FeaturesOf(t.model) }

// accepts returns an error if the model does not read a type.
func (t *attaching) accepts(name, mimeType string) error {
	f := t.features()
	switch {
	case len(f.Attachments) == 0:
		return tool.Errorf(tool.KindInvalidArgument, "the model %s reads no attachments; leave %s out, or choose another model", t.model.Name(), attachment.Quote(name))
	case !f.Accepts(mimeType):
		return tool.Errorf(tool.KindInvalidArgument, "the model %s does not read the attachment %s, which is %s; it reads %s",
			t.model.Name(), attachment.Quote(name), mimeType, strings.Join(f.Attachments, ", "))
	}
	return nil
}

// read returns the content of an attachment. room returns an error if a size is too much.
func (t *attaching) read(ctx context.Context, f *loop.NewAttachment, room func(size uint64) error) ([]byte, error) {
	switch {
	case f.SHA256 != "":
		return t.agent.contentOf(ctx, t.parent, &model.Attachment{Name: f.Name, SHA256: f.SHA256})
	case f.Artifact != "":
		return t.readArtifact(ctx, f, room)
	}
	return f.Data, nil
}

// readArtifact reads an artifact for the principal of the run. toolhost decides whether that
// principal may read it, and an unknown handle is the same as one of others.
func (t *attaching) readArtifact(ctx context.Context, f *loop.NewAttachment, room func(size uint64) error) ([]byte, error) {
	if t.config.ReadArtifact == nil {
		return nil, tool.Errorf(tool.KindUnavailable, "this agent cannot read artifacts; send the content of the attachment %s", attachment.Quote(f.Name))
	}
	if act := t.config.ActFor; act != nil {
		ctx = act(ctx, t.principal, t.groups)
	}
	query := tool.ArtifactQuery{Session: f.Session, Handle: f.Artifact, Limit: tool.MaxArtifactPiece}
	if query.Session == "" {
		query.Session = t.session
	}
	var data []byte
	for {
		query.Offset = uint64(len(data))
		piece, err := t.config.ReadArtifact(ctx, query)
		if err != nil {
			e := *tool.AsError(err)
			e.Message = fmt.Sprintf("the artifact %q of the attachment %s: %s", loop.Clip(f.Artifact), attachment.Quote(f.Name), e.Message)
			return nil, &e
		}
		size := max(piece.Size, uint64(len(data)+len(piece.Data)))
		if err := attachment.CheckSize(f.Name, size); err != nil {
			return nil, err
		}
		if err := room(size); err != nil {
			return nil, err
		}
		if f.Name == "" && attachment.CheckName(piece.Name) == nil {
			f.Name = piece.Name
		}
		data = append(data, piece.Data...)
		if uint64(len(data)) >= piece.Size {
			return data, nil
		}
		if len(piece.Data) == 0 {
			return nil, tool.Errorf(tool.KindUnavailable, "the artifact %q of the attachment %s ends after %d of %d bytes", loop.Clip(f.Artifact), attachment.Quote(f.Name), len(data), piece.Size)
		}
	}
}

// attachToStart takes the attachments of a new run. If the run exists, it reads no artifact: what
// the run has was decided when it was accepted. The caller must release the result.
func (a *Agent) attachToStart(ctx context.Context, task *loop.Task, started *loop.RunStarted) (taken attached, err error) {
	if len(task.Attachments) == 0 {
		return taken, nil
	}
	if _, err := a.journal.summaryOf(ctx, started.RunID); err == nil {
		started.Attachments = claimed(task.Attachments)
		return taken, nil
	}
	config := a.config()
	models, err := a.modelsFor(config, started)
	if err != nil {
		return taken, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	t := &attaching{agent: a, config: config, model: models[0].Model, principal: started.Principal, groups: started.Groups, session: started.Session}
	if started.Parent != nil {
		t.parent = started.Parent.RunID
	}
	if taken, err = t.take(ctx, task.Attachments, nil); err != nil {
		// The same request, repeated, may have started the run meanwhile and used up the quota.
		if _, unknown := a.journal.summaryOf(ctx, started.RunID); unknown != nil {
			return taken, err
		}
		started.Attachments = claimed(task.Attachments)
		return attached{}, nil
	}
	started.Attachments = taken.list
	return taken, nil
}

// claimed returns attachments as far as a request describes them, for sameAttachments.
func claimed(files []loop.NewAttachment) (list []loop.Attachment) {
	for i := range files {
		f := &files[i]
		a := loop.Attachment{Attachment: model.Attachment{Name: f.Name, SHA256: f.SHA256}, Artifact: f.Artifact}
		if len(f.Data) > 0 {
			a.SHA256 = digestOf(f.Data)
		}
		list = append(list, a)
	}
	return list
}

// sameAttachments reports whether a run has the attachments that a request wants. The handle of an
// artifact says as much as the digest of its content.
func sameAttachments(have, want []loop.Attachment) bool {
	return slices.EqualFunc(have, want, func(a, b loop.Attachment) bool {
		if a.Artifact != "" || b.Artifact != "" {
			return a.Artifact == b.Artifact && (a.Name == b.Name || b.Name == "") // the artifact may have its own name
		}
		return a.Name == b.Name && a.SHA256 == b.SHA256
	})
}

// attachToMessage takes the attachments of a message for a run. The caller must release the result.
func (a *Agent) attachToMessage(ctx context.Context, runID string, files []loop.NewAttachment) (attached, error) {
	if len(files) == 0 {
		return attached{}, nil
	}
	started, err := a.journal.startOf(ctx, runID)
	if err != nil {
		return attached{}, err
	}
	config := a.configFor(started)
	models, err := a.modelsFor(config, started)
	if err != nil {
		return attached{}, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	t := &attaching{agent: a, config: config, model: models[0].Model, principal: started.Principal, groups: started.Groups, session: started.Session}
	return t.take(ctx, files, nil) // the run adds those that it has; see checkAttachments
}

// checkAttachments returns an error if the run may not have the attachments of a message.
func (r *run) checkAttachments(p *loop.UserMessage) error {
	have := r.state.Attached()
	if err := attachment.CheckCount(len(have), len(p.Attachments), loop.AttachedBytes(have), loop.AttachedBytes(p.Attachments)); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "run %s: %w", r.id, err)
	}
	return nil
}

// loadAttachments returns a request with the contents of its attachments, when there is room for
// them. The caller must call free once, when the contents are not needed any more.
func (a *Agent) loadAttachments(ctx context.Context, runID string, request model.Request) (loaded model.Request, free func(), err error) {
	contents, bytes := map[string][]byte{}, int64(0)
	for of := range attachmentsOf(request.Messages) {
		if _, known := contents[of.SHA256]; !known {
			contents[of.SHA256] = nil
			bytes += int64(of.Size)
		}
	}
	if len(contents) == 0 {
		return request, func() {}, nil
	}
	if free, err = a.loaded.take(ctx, bytes); err != nil {
		return request, nil, err
	}
	for of := range attachmentsOf(request.Messages) {
		if contents[of.SHA256] != nil {
			continue
		}
		if contents[of.SHA256], err = a.contentOf(ctx, runID, of); err != nil {
			free()
			return request, nil, err
		}
	}
	request.Messages = slices.Clone(request.Messages) // their memory is that of the run's state
	for i := range request.Messages {
		blocks := slices.Clone(request.Messages[i].Blocks)
		for j := range blocks {
			if of := blocks[j].Attachment; of != nil {
				with := *of
				with.Data = contents[of.SHA256]
				blocks[j].Attachment = &with
			}
		}
		request.Messages[i].Blocks = blocks
	}
	return request, free, nil
}

// attachmentsOf yields the attachments of messages in order.
func attachmentsOf(messages []model.Message) iter.Seq[*model.Attachment] {
	return func(yield func(*model.Attachment) bool) {
		for i := range messages {
			for _, b := range messages[i].Blocks {
				if b.Attachment != nil && !yield(b.Attachment) {
					return
				}
			}
		}
	}
}

// contentOf returns the content of an attachment of a run, if it is the one that the journal names.
func (a *Agent) contentOf(ctx context.Context, runID string, of *model.Attachment) ([]byte, error) {
	data, err := a.store.Content(ctx, runID, of.SHA256)
	if err != nil {
		return nil, fmt.Errorf("reading the attachment %s: %w", attachment.Quote(of.Name), storeError(err))
	}
	if digestOf(data) != of.SHA256 {
		return nil, tool.Errorf(tool.KindInternal, "the content of the attachment %s in the journal has changed: it does not have the digest %s", attachment.Quote(of.Name), of.SHA256)
	}
	return data, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// spentOnStart returns what the start of a run uses of the quotas.
func spentOnStart(started *loop.RunStarted) runstore.Spent {
	return runstore.Spent{Day: runstore.Day(time.Now()), Attached: loop.AttachedBytes(started.Attachments)}
}
