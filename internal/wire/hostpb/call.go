package hostpb

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxReason limits the reason of a cancellation, because it travels between frames of other calls.
const maxReason = 1 << 10

// FromReason returns the reason of a cancellation as valid UTF-8 of at most about maxReason bytes.
func FromReason(reason string) string {
	if len(reason) > maxReason {
		return strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	return valid(reason)
}

// FromName returns the name of a tool as valid UTF-8.
func FromName(name string) string { return valid(name) }

// FromCall converts the optional parameters of a call. It does not convert the principal, which the
// server derives from the connection.
func FromCall(c tool.Call) *toolhostv1.CallOptions {
	parts := &struct { // one allocation instead of two
		options toolhostv1.CallOptions
		shown   uint64
	}{}
	options := &parts.options
	options.CallId, options.Session, options.Traceparent = valid(c.ID), valid(c.Session), valid(c.Traceparent)
	options.Timeout, options.Context = toolpb.FromDuration(c.Timeout), toolpb.FromValues(c.Context)
	options.OutcomeOnly, options.LedgerId, options.FirstSentTime = c.OutcomeOnly, valid(c.Ledger), toolpb.FromTime(c.FirstSent)
	options.Answers, options.Agent, options.Run = toolpb.FromQuestionKinds(c.Answers), valid(c.Agent), valid(c.Run)
	for _, id := range c.Supersedes {
		options.Supersedes = append(options.Supersedes, valid(id))
	}
	if c.MaxShown != nil {
		parts.shown = uint64(max(*c.MaxShown, 0))
		options.MaxShownBytes = &parts.shown
	}
	if c.ApprovalWait != nil {
		options.ApprovalWait = durationpb.New(*c.ApprovalWait)
	}
	if a := c.Approval; a != nil {
		options.Approval = &toolhostv1.Approval{
			ApprovedBy: valid(a.ApprovedBy), Reason: valid(a.Reason), Time: toolpb.FromTime(a.Time),
			Arguments: a.Arguments, ArgumentsSha256: valid(a.ArgumentsSHA256), Approver: fromApprover(a),
			SessionMove: valid(a.SessionMove),
		}
	}
	return options
}

// fromApprover returns the principal that approved, with its groups; nil if the caller itself did.
func fromApprover(a *tool.Approval) *toolv1.Principal {
	p := FromKey(a.Approver)
	if p != nil {
		for _, group := range a.ApproverGroups {
			p.Groups = append(p.Groups, valid(group))
		}
	}
	return p
}

// FromKey returns the principal with a key, without its groups; nil for an empty key.
func FromKey(key string) *toolv1.Principal {
	if key == "" {
		return nil
	}
	tenant, name := identity.SplitKey(key)
	return &toolv1.Principal{Tenant: valid(tenant), Name: valid(name)}
}

// ToCall converts a call, without its principal and without the approver, which the server
// verifies. It refuses a timeout that is set but not positive: as "no timeout" it would give the
// caller more time than requested.
func ToCall(name string, arguments []byte, options *toolhostv1.CallOptions) (tool.Call, error) {
	if t := options.GetTimeout(); t != nil && toolpb.ToDuration(t) == 0 {
		return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "the timeout %s is not positive; leave it out for the tool's own", t.AsDuration())
	}
	c := tool.Call{
		ID:          options.GetCallId(),
		Tool:        name,
		Arguments:   arguments,
		Session:     options.GetSession(),
		Timeout:     toolpb.ToDuration(options.GetTimeout()),
		Context:     toolpb.ToValues(options.GetContext()),
		Traceparent: options.GetTraceparent(),
		OutcomeOnly: options.GetOutcomeOnly(),
		Ledger:      options.GetLedgerId(),
		FirstSent:   toolpb.ToTime(options.GetFirstSentTime()),
		Answers:     toolpb.ToQuestionKinds(options.GetAnswers()),
		Agent:       options.GetAgent(),
		Run:         options.GetRun(),
		Supersedes:  options.GetSupersedes(),
	}
	if options != nil && options.MaxShownBytes != nil {
		c.MaxShown = new(int(min(options.GetMaxShownBytes(), math.MaxInt32)))
	}
	if wait := options.GetApprovalWait(); wait != nil {
		c.ApprovalWait = new(wait.AsDuration())
	}
	if a := options.GetApproval(); a != nil {
		c.Approval = &tool.Approval{
			ApprovedBy: a.GetApprovedBy(), Reason: a.GetReason(), Time: toolpb.ToTime(a.GetTime()),
			Arguments: a.GetArguments(), ArgumentsSHA256: a.GetArgumentsSha256(),
			SessionMove: a.GetSessionMove(),
		}
	}
	return c, nil
}

// cut removes payloads from a result until the rest has at most ChunkBytes, and yields them in
// pieces. If the caller stops early, the result is unusable. nil has no pieces.
func cut(r *toolv1.Result) iter.Seq[*toolhostv1.ContentChunk] {
	return func(yield func(*toolhostv1.ContentChunk) bool) {
		left := ChunkBytes
		for i, c := range r.GetContent() {
			p := payloadOf(c)
			if n := p.len(); n <= left {
				left -= n
				continue
			}
			for rest := p; rest.len() > 0; {
				n := min(rest.len(), ChunkBytes)
				if !yield(&toolhostv1.ContentChunk{Index: uint32(i), Data: rest.take(n)}) {
					return
				}
			}
			setPayload(c, nil)
		}
	}
}

// payload is the part of a block that may be sent in pieces, as text or bytes.
type payload struct {
	text string
	data []byte
}

func (p *payload) len() int { return len(p.text) + len(p.data) }

// take removes and returns the first n bytes.
func (p *payload) take(n int) []byte {
	if p.text != "" {
		piece := []byte(p.text[:n])
		p.text = p.text[n:]
		return piece
	}
	piece := p.data[:n:n]
	p.data = p.data[n:]
	return piece
}

func payloadOf(c *toolv1.Content) payload {
	switch b := c.GetBlock().(type) {
	case *toolv1.Content_Text:
		return payload{text: b.Text}
	case *toolv1.Content_Json:
		return payload{data: b.Json}
	case *toolv1.Content_Image:
		return payload{data: b.Image.GetData()}
	case *toolv1.Content_File:
		return payload{data: b.File.GetData()}
	default:
		return payload{}
	}
}

// setPayload sets the payload of a block, and reports whether the block can have one.
func setPayload(c *toolv1.Content, data []byte) bool {
	switch b := c.GetBlock().(type) {
	case *toolv1.Content_Text:
		b.Text = string(data)
	case *toolv1.Content_Json:
		b.Json = data
	case *toolv1.Content_Image:
		return setData(b.Image, data)
	case *toolv1.Content_File:
		return setData(b.File, data)
	default:
		return false
	}
	return true
}

func setData(b *toolv1.Blob, data []byte) bool {
	if b == nil {
		return false
	}
	b.Data = data
	return true
}

// Joiner converts the messages of one call to events, and joins the pieces of its result. The zero
// value is ready for use. It is not safe for concurrent use.
type Joiner struct {
	pieces map[uint32][]byte
}

// Add takes the next message. It returns false if the message completes no event: a piece of a
// result, or a type of event that this version does not know.
func (j *Joiner) Add(m *toolhostv1.CallEvent) (e tool.Event, ok bool) {
	e = tool.Event{Seq: m.GetSeq(), Time: toolpb.ToTime(m.GetTime())}
	switch v := m.GetEvent().(type) {
	case *toolhostv1.CallEvent_Started:
		e.Started = &tool.Started{
			CallID:   v.Started.GetCallId(),
			Plugin:   v.Started.GetPlugin(),
			Instance: v.Started.GetInstance(),
			Attempt:  v.Started.GetAttempt(),
			Asks:     toolpb.ToQuestionKinds(v.Started.GetAsks()),
		}
	case *toolhostv1.CallEvent_Status:
		s := toolpb.ToStatus(v.Status)
		e.Status = &s
	case *toolhostv1.CallEvent_Log:
		l := toolpb.ToLogRecord(v.Log)
		e.Log = &l
	case *toolhostv1.CallEvent_Chunk:
		if j.pieces == nil {
			j.pieces = map[uint32][]byte{}
		}
		j.pieces[v.Chunk.GetIndex()] = append(j.pieces[v.Chunk.GetIndex()], v.Chunk.GetData()...)
		return tool.Event{}, false
	case *toolhostv1.CallEvent_Question:
		e.Question = toQuestion(v.Question)
		return e, e.Question != nil
	case *toolhostv1.CallEvent_QuestionClosed:
		e.Closed = toClosed(v.QuestionClosed)
	case *toolhostv1.CallEvent_Ended:
		e.Ended = j.end(v.Ended)
	default:
		return tool.Event{}, false
	}
	return e, true
}

func (j *Joiner) end(ended *toolhostv1.CallEnded) *tool.Outcome {
	result := ended.GetResult()
	if result != nil {
		if err := j.join(result); err != nil {
			failure := tool.Errorf(tool.KindInternal, "joining the pieces of the result: %w", err)
			failure.CallID = ended.GetCallId()
			return &tool.Outcome{CallID: ended.GetCallId(), Plugin: ended.GetPlugin(), Instance: ended.GetInstance(), Err: failure}
		}
	}
	return toOutcome(ended, result)
}

func (j *Joiner) join(r *toolv1.Result) error {
	for index, data := range j.pieces {
		if int64(index) >= int64(len(r.GetContent())) {
			return fmt.Errorf("there is a piece of block %d and the result has %d blocks", index, len(r.GetContent()))
		}
		c := r.GetContent()[index]
		rest := payloadOf(c)
		if !setPayload(c, append(data, rest.take(rest.len())...)) {
			return fmt.Errorf("there is a piece of block %d, which cannot be cut", index)
		}
	}
	j.pieces = nil
	return nil
}

// LinkRequest sets the batch and the acks of a message; see flow.NewStream.
func LinkRequest(first *toolhostv1.ConnectRequest, batch []*toolhostv1.ConnectRequest, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}

// LinkResponse sets the batch and the acks of a message; see flow.NewStream.
func LinkResponse(first *toolhostv1.ConnectResponse, batch []*toolhostv1.ConnectResponse, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}

// The values of package tool are the names of the protobuf enumeration without the prefix, in lower
// case. A test checks this.
const (
	pluginPrefix   = "PLUGIN_STATE_"
	instancePrefix = "INSTANCE_STATE_"
)

func fromPluginState(s tool.PluginState) toolhostv1.PluginState {
	return toolhostv1.PluginState(toolhostv1.PluginState_value[pluginPrefix+strings.ToUpper(string(s))])
}

// toPluginState returns "" for an unset or unknown state.
func toPluginState(s toolhostv1.PluginState) tool.PluginState {
	return tool.PluginState(word(toolhostv1.PluginState_name[int32(s)], pluginPrefix))
}

func fromInstanceState(s tool.InstanceState) toolhostv1.InstanceState {
	return toolhostv1.InstanceState(toolhostv1.InstanceState_value[instancePrefix+strings.ToUpper(string(s))])
}

// toInstanceState returns "" for an unset or unknown state.
func toInstanceState(s toolhostv1.InstanceState) tool.InstanceState {
	return tool.InstanceState(word(toolhostv1.InstanceState_name[int32(s)], instancePrefix))
}

func word(name, prefix string) string {
	name = strings.TrimPrefix(name, prefix)
	if name == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(name)
}

// valid returns s as valid UTF-8, which protobuf strings must be.
func valid(s string) string {
	if utf8.ValidString(s) { // ten times as fast as ToValidUTF8 if s is valid
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func valids(in []string) []string {
	if len(in) == 0 {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}

func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func uint32Of(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }
