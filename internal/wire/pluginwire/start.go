package pluginwire

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/tool"
)

// Start is the start of a call.
type Start struct {
	CallID string // the id of the call, which is also its idempotency key
	Tool   string
	// Arguments is JSON text: the whole arguments if Complete is set, otherwise their beginning. It
	// must not change during the call.
	Arguments json.RawMessage
	Complete  bool
	Timeout   time.Duration // the time that the call has left; 0: no limit; negative: none
	Attempt   uint32        // from 1; 0 means 1
	Session   string
	Workspace string // an absolute path; empty: none
	Values    map[string]json.RawMessage
	Secrets   map[string]string
	// Traceparent is the W3C trace context. Empty means none.
	Traceparent string
	// SpanBytes is how many bytes of spans the host accepts for the call. 0 means that the plugin
	// sends none.
	SpanBytes int
	// Answers is what the call may ask; see tool.Question. nil: nothing.
	Answers []tool.QuestionKind
	// Settle asks what became of the call with this id and these arguments, instead of executing it.
	Settle bool
	// EffectKey names this execution of the call where its effect happens. Empty: an older host.
	EffectKey string
	// Spans receives the spans that the plugin has sent, and how many were dropped. The connection
	// calls it in Next, never concurrently. It must not block. It is used by the host's end only.
	// nil means that spans are ignored.
	Spans func(spans []trace.Span, dropped int)
	// Artifacts reads the artifacts that the plugin requests. It is used by the host's end only and
	// is not sent. nil means that the call has no artifacts.
	Artifacts ArtifactReader
	// Hold reserves memory for size more bytes of the result, and may block. It fails with the
	// cause of ctx, or with an error, preferably a *tool.Error, that ends the call. It is used by
	// the host's end only. nil means that no memory is reserved.
	Hold func(ctx context.Context, size int) error
}

// DescribeRequest requests the description of a plugin. The zero value requests all tools, without
// a session.
type DescribeRequest struct {
	Tools   []string // only these tools; empty: all
	Session string   // the session for which dynamic tools are described; empty: none
	Context map[string]json.RawMessage
}

func fromStart(s Start, credit int) *pluginv1.StartCall {
	timeout := s.Timeout
	if timeout < 0 {
		timeout = 1 // 0 would mean no limit
	}
	out := &pluginv1.StartCall{
		CallId:    validText(s.CallID),
		Tool:      validText(s.Tool),
		Arguments: s.Arguments,
		Complete:  s.Complete,
		Timeout:   toolpb.FromDuration(timeout),
		Credit:    uint32(credit),
		Attempt:   max(s.Attempt, 1),
		Settle:    s.Settle,
		EffectKey: s.EffectKey,
	}
	if s.Session != "" || s.Workspace != "" || s.Traceparent != "" || s.SpanBytes > 0 || len(s.Values) > 0 || len(s.Secrets) > 0 || len(s.Answers) > 0 {
		out.Context = &pluginv1.CallContext{
			Session:     validText(s.Session),
			Workspace:   validText(s.Workspace),
			Values:      toolpb.FromValues(s.Values),
			Secrets:     validSecrets(s.Secrets),
			Traceparent: validText(s.Traceparent),
			SpanBytes:   uint32(s.SpanBytes),
			Answers:     toolpb.FromQuestionKinds(s.Answers),
		}
	}
	return out
}

func validSecrets(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for name, secret := range in {
		out[validText(name)] = validText(secret)
	}
	return out
}

func toStart(s *pluginv1.StartCall) Start {
	return Start{
		CallID:      s.GetCallId(),
		Tool:        s.GetTool(),
		Arguments:   s.GetArguments(),
		Complete:    s.GetComplete(),
		Timeout:     toolpb.ToDuration(s.GetTimeout()),
		Attempt:     max(s.GetAttempt(), 1),
		Session:     s.GetContext().GetSession(),
		Workspace:   s.GetContext().GetWorkspace(),
		Values:      toolpb.ToValues(s.GetContext().GetValues()),
		Secrets:     s.GetContext().GetSecrets(),
		Traceparent: s.GetContext().GetTraceparent(),
		SpanBytes:   int(s.GetContext().GetSpanBytes()),
		Answers:     toolpb.ToQuestionKinds(s.GetContext().GetAnswers()),
		Settle:      s.GetSettle(),
		EffectKey:   s.GetEffectKey(),
	}
}

func fromDescription(d tool.Description) *pluginv1.DescribeResponse {
	out := &pluginv1.DescribeResponse{
		Name:        validText(d.Name),
		Version:     validText(d.Version),
		Description: validText(d.Description),
		Tools:       make([]*toolv1.ToolSpec, len(d.Tools)),
	}
	out.Permissions = toolpb.FromPermissions(d.Permissions)
	out.Sdk = toolpb.FromSDK(d.SDK)
	for i := range d.Tools {
		out.Tools[i] = toolpb.FromSpec(d.Tools[i])
	}
	for _, tag := range d.DefaultTags {
		out.DefaultTags = append(out.DefaultTags, validText(tag))
	}
	for _, f := range d.Filters {
		spec := &pluginv1.FilterSpec{Name: validText(f.Name), Description: validText(f.Description), Before: f.Before, After: f.After}
		for _, name := range f.Tools {
			spec.Tools = append(spec.Tools, validText(name))
		}
		out.Filters = append(out.Filters, spec)
	}
	return out
}

func toDescription(d *pluginv1.DescribeResponse) tool.Description {
	out := tool.Description{
		Name:        d.GetName(),
		Version:     d.GetVersion(),
		Description: d.GetDescription(),
		DefaultTags: d.GetDefaultTags(),
		Permissions: toolpb.ToPermissions(d.GetPermissions()),
		SDK:         toolpb.ToSDK(d.GetSdk()),
	}
	for _, message := range d.GetTools() {
		spec := toolpb.ToSpec(message)
		checkSpec(&spec)
		out.Tools = append(out.Tools, spec)
	}
	for _, f := range d.GetFilters() {
		out.Filters = append(out.Filters, tool.Filter{
			Name: f.GetName(), Description: f.GetDescription(), Before: f.GetBefore(), After: f.GetAfter(), Tools: f.GetTools(),
		})
	}
	return out
}

// validText returns s as valid UTF-8. An invalid protobuf string would end the stream of all calls.
func validText(s string) string {
	if utf8.ValidString(s) { // ten times as fast as ToValidUTF8 if s is valid
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
