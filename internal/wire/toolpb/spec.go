package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

// FromSpec converts what a tool declares.
func FromSpec(s tool.Spec) *toolv1.ToolSpec {
	return &toolv1.ToolSpec{
		Name:                   validText(s.Name),
		Version:                validText(s.Version),
		DisplayName:            validText(s.DisplayName),
		Description:            validText(s.Description),
		Category:               validText(s.Category),
		Tags:                   validTexts(s.Tags),
		InputSchema:            s.InputSchema,
		OutputSchema:           s.OutputSchema,
		InputExamples:          fromExamples(s.InputExamples),
		Timeout:                FromDuration(s.Timeout),
		ProgressExtendsTimeout: s.ProgressExtendsTimeout,
		Retry:                  fromRetry(s.Retry),
		RateLimitPerMinute:     s.RateLimitPerMinute,
		MemoryLimitBytes:       s.MemoryLimitBytes,
		CostPerUse:             cost(s.CostPerUse),
		RequiresAuth:           validTexts(s.RequiresAuth),
		SandboxExempt:          s.SandboxExempt,
		PartialArguments:       s.PartialArguments,
		Dangerous:              s.Dangerous,
		ReadOnly:               s.ReadOnly,
		Idempotent:             s.Idempotent,
		Serial:                 s.Serial,
		ReturnDirect:           s.ReturnDirect,
		Strict:                 s.Strict,
		Dynamic:                s.Dynamic,
		ContextKeys:            validTexts(s.ContextKeys),
		EffectKeys:             validTexts(s.EffectKeys),
		Metadata:               FromValues(s.Metadata),
		Settles:                s.Settles,
		Seals:                  s.Seals,
		Parallel:               s.Parallel,
	}
}

// ToSpec converts what a tool declares. nil becomes the zero Spec.
func ToSpec(s *toolv1.ToolSpec) tool.Spec {
	return tool.Spec{
		Name:                   s.GetName(),
		Version:                s.GetVersion(),
		DisplayName:            s.GetDisplayName(),
		Description:            s.GetDescription(),
		Category:               s.GetCategory(),
		Tags:                   toTexts(s.GetTags()),
		InputSchema:            rawJSON(s.GetInputSchema()),
		OutputSchema:           rawJSON(s.GetOutputSchema()),
		InputExamples:          toExamples(s.GetInputExamples()),
		Timeout:                ToDuration(s.GetTimeout()),
		ProgressExtendsTimeout: s.GetProgressExtendsTimeout(),
		Retry:                  toRetry(s.GetRetry()),
		RateLimitPerMinute:     s.GetRateLimitPerMinute(),
		MemoryLimitBytes:       s.GetMemoryLimitBytes(),
		CostPerUse:             cost(s.GetCostPerUse()),
		RequiresAuth:           toTexts(s.GetRequiresAuth()),
		SandboxExempt:          s.GetSandboxExempt(),
		PartialArguments:       s.GetPartialArguments(),
		Dangerous:              s.GetDangerous(),
		ReadOnly:               s.GetReadOnly(),
		Idempotent:             s.GetIdempotent(),
		Serial:                 s.GetSerial(),
		ReturnDirect:           s.GetReturnDirect(),
		Strict:                 s.GetStrict(),
		Dynamic:                s.GetDynamic(),
		ContextKeys:            toTexts(s.GetContextKeys()),
		EffectKeys:             toTexts(s.GetEffectKeys()),
		Metadata:               ToValues(s.GetMetadata()),
		Settles:                s.GetSettles(),
		Seals:                  s.GetSeals(),
		Parallel:               s.GetParallel(),
	}
}

func fromExamples(in []tool.InputExample) []*toolv1.InputExample {
	if len(in) == 0 {
		return nil
	}
	out := make([]*toolv1.InputExample, len(in))
	for i, e := range in {
		out[i] = &toolv1.InputExample{Description: validText(e.Description), Arguments: e.Arguments}
	}
	return out
}

func toExamples(in []*toolv1.InputExample) []tool.InputExample {
	if len(in) == 0 {
		return nil
	}
	out := make([]tool.InputExample, len(in))
	for i, e := range in {
		out[i] = tool.InputExample{Description: e.GetDescription(), Arguments: rawJSON(e.GetArguments())}
	}
	return out
}

func fromRetry(r tool.RetryPolicy) *toolv1.RetryPolicy {
	if r == (tool.RetryPolicy{}) {
		return nil
	}
	return &toolv1.RetryPolicy{
		MaxAttempts:    r.MaxAttempts,
		InitialBackoff: FromDuration(r.InitialBackoff),
		MaxBackoff:     FromDuration(r.MaxBackoff),
	}
}

func toRetry(r *toolv1.RetryPolicy) tool.RetryPolicy {
	return tool.RetryPolicy{
		MaxAttempts:    r.GetMaxAttempts(),
		InitialBackoff: ToDuration(r.GetInitialBackoff()),
		MaxBackoff:     ToDuration(r.GetMaxBackoff()),
	}
}

var accesses = pairs(map[tool.Access]toolv1.Access{
	tool.AccessNone:  toolv1.Access_ACCESS_NONE,
	tool.AccessRead:  toolv1.Access_ACCESS_READ,
	tool.AccessWrite: toolv1.Access_ACCESS_WRITE,
})

// FromAccess converts a level of file access.
func FromAccess(a tool.Access) toolv1.Access { return accesses.from(a) }

// ToAccess converts a level of file access. An unknown level becomes empty.
func ToAccess(a toolv1.Access) tool.Access { return accesses.to(a, "") }

// FromPermissions converts requested permissions. The zero value becomes nil.
func FromPermissions(p tool.Permissions) *toolv1.Permissions {
	if p.IsZero() {
		return nil
	}
	return &toolv1.Permissions{
		Network: p.Network, Workspace: FromAccess(p.Workspace), Read: validTexts(p.Read), Write: validTexts(p.Write),
	}
}

// ToPermissions converts requested permissions.
func ToPermissions(p *toolv1.Permissions) tool.Permissions {
	return tool.Permissions{Network: p.GetNetwork(), Workspace: ToAccess(p.GetWorkspace()), Read: p.GetRead(), Write: p.GetWrite()}
}
