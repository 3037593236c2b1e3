package toolpb

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

// resultParts holds a result with what most results have, a duration and one block of text, in one
// allocation instead of six.
type resultParts struct {
	result   toolv1.Result
	duration durationpb.Duration
	blocks   [1]*toolv1.Content
	block    toolv1.Content
	text     toolv1.Content_Text
}

// FromResult converts a result.
func FromResult(r tool.Result) *toolv1.Result {
	parts := &resultParts{}
	out := &parts.result
	out.IsError, out.Cost = r.IsError, cost(r.Cost)
	out.Usage, out.Metadata = FromUsage(r.Usage), FromValues(r.Metadata)
	if r.Duration > 0 {
		parts.duration.Seconds, parts.duration.Nanos = int64(r.Duration/time.Second), int32(r.Duration%time.Second)
		out.Duration = &parts.duration
	}
	if len(r.Content) == 1 && r.Content[0].Kind == tool.ContentText && r.Content[0].URI == "" {
		parts.text.Text = validText(r.Content[0].Text)
		parts.block.Block = &parts.text
		parts.blocks[0] = &parts.block
		out.Content = parts.blocks[:]
	} else if len(r.Content) > 0 {
		out.Content = make([]*toolv1.Content, len(r.Content))
		for i := range r.Content {
			out.Content[i] = FromContent(r.Content[i])
		}
	}
	if len(r.Effects) > 0 {
		out.Effects = make([]*toolv1.Effect, len(r.Effects))
		for i := range r.Effects {
			out.Effects[i] = FromEffect(r.Effects[i])
		}
	}
	return out
}

// ToResult converts a result. nil becomes the zero Result. A block of an unknown kind becomes the
// zero Content.
func ToResult(r *toolv1.Result) tool.Result {
	out := tool.Result{
		IsError:  r.GetIsError(),
		Duration: ToDuration(r.GetDuration()),
		Usage:    ToUsage(r.GetUsage()),
		Cost:     cost(r.GetCost()),
		Metadata: ToValues(r.GetMetadata()),
	}
	if blocks := r.GetContent(); len(blocks) > 0 {
		out.Content = make([]tool.Content, len(blocks))
		for i, b := range blocks {
			out.Content[i] = ToContent(b)
		}
	}
	if effects := r.GetEffects(); len(effects) > 0 {
		out.Effects = make([]tool.Effect, len(effects))
		for i, e := range effects {
			out.Effects[i] = ToEffect(e)
		}
	}
	return out
}

// FromContent converts a block. A block of an unknown kind becomes an empty message.
func FromContent(c tool.Content) *toolv1.Content {
	switch c.Kind {
	case tool.ContentText:
		return &toolv1.Content{Block: &toolv1.Content_Text{Text: validText(c.Text)}, Resource: fromOrigin(c, c.MediaType)}
	case tool.ContentJSON:
		return &toolv1.Content{Block: &toolv1.Content_Json{Json: c.JSON}}
	case tool.ContentImage:
		return &toolv1.Content{Block: &toolv1.Content_Image{Image: fromBlob(c)}}
	case tool.ContentFile:
		return &toolv1.Content{Block: &toolv1.Content_File{File: fromBlob(c)}, Resource: fromOrigin(c, "")}
	case tool.ContentArtifact:
		return &toolv1.Content{Block: &toolv1.Content_Artifact{Artifact: fromArtifact(c.Artifact)}}
	default:
		return &toolv1.Content{}
	}
}

// ToContent converts a block. nil and unknown blocks become the zero Content.
func ToContent(c *toolv1.Content) tool.Content {
	switch b := c.GetBlock().(type) {
	case *toolv1.Content_Text:
		return tool.Content{Kind: tool.ContentText, Text: b.Text, URI: c.GetResource().GetUri(), MediaType: c.GetResource().GetMediaType()}
	case *toolv1.Content_Json:
		return tool.JSON(rawJSON(b.Json))
	case *toolv1.Content_Image:
		return toBlob(tool.ContentImage, b.Image)
	case *toolv1.Content_File:
		file := toBlob(tool.ContentFile, b.File)
		file.URI = c.GetResource().GetUri()
		return file
	case *toolv1.Content_Artifact:
		return tool.Content{Kind: tool.ContentArtifact, Artifact: toArtifact(b.Artifact)}
	default:
		return tool.Content{}
	}
}

// fromOrigin returns the resource that a block is a copy of; nil if it is none.
func fromOrigin(c tool.Content, mediaType string) *toolv1.ResourceOrigin {
	if c.URI == "" {
		return nil
	}
	return &toolv1.ResourceOrigin{Uri: validText(c.URI), MediaType: validText(mediaType)}
}

func fromBlob(c tool.Content) *toolv1.Blob {
	return &toolv1.Blob{MediaType: validText(c.MediaType), Name: validText(c.Name), Data: c.Data}
}

func toBlob(kind tool.ContentKind, b *toolv1.Blob) tool.Content {
	return tool.Content{Kind: kind, MediaType: b.GetMediaType(), Name: b.GetName(), Data: bytesOf(b.GetData())}
}

func fromArtifact(a *tool.Artifact) *toolv1.Artifact {
	if a == nil {
		return &toolv1.Artifact{}
	}
	return &toolv1.Artifact{
		Handle:    validText(a.Handle),
		MediaType: validText(a.MediaType),
		Name:      validText(a.Name),
		Size:      a.Size,
		Head:      validText(a.Head),
		Tail:      validText(a.Tail),
	}
}

func toArtifact(a *toolv1.Artifact) *tool.Artifact {
	return &tool.Artifact{
		Handle:    a.GetHandle(),
		MediaType: a.GetMediaType(),
		Name:      a.GetName(),
		Size:      a.GetSize(),
		Head:      a.GetHead(),
		Tail:      a.GetTail(),
	}
}

var effectOperations = pairs(map[tool.EffectOperation]toolv1.EffectOperation{
	tool.EffectReplace: toolv1.EffectOperation_EFFECT_OPERATION_REPLACE,
	tool.EffectAppend:  toolv1.EffectOperation_EFFECT_OPERATION_APPEND,
	tool.EffectMerge:   toolv1.EffectOperation_EFFECT_OPERATION_MERGE,
})

// FromEffect converts an effect.
func FromEffect(e tool.Effect) *toolv1.Effect {
	return &toolv1.Effect{Key: validText(e.Key), Operation: effectOperations.from(e.Operation), Value: e.Value}
}

// ToEffect converts an effect. An unset or unknown operation becomes tool.EffectReplace.
func ToEffect(e *toolv1.Effect) tool.Effect {
	return tool.Effect{
		Key:       e.GetKey(),
		Operation: effectOperations.to(e.GetOperation(), tool.EffectReplace),
		Value:     rawJSON(e.GetValue()),
	}
}

// FromUsage converts token counts. The zero value becomes nil.
func FromUsage(u tool.Usage) *toolv1.Usage {
	if u == (tool.Usage{}) {
		return nil
	}
	return &toolv1.Usage{
		InputTokens:      u.InputTokens,
		OutputTokens:     u.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens,
	}
}

// ToUsage converts token counts. nil becomes the zero value.
func ToUsage(u *toolv1.Usage) tool.Usage {
	return tool.Usage{
		InputTokens:      u.GetInputTokens(),
		OutputTokens:     u.GetOutputTokens(),
		CacheReadTokens:  u.GetCacheReadTokens(),
		CacheWriteTokens: u.GetCacheWriteTokens(),
	}
}

var statusStates = pairs(map[tool.StatusState]toolv1.StatusState{
	tool.StatusWait:    toolv1.StatusState_STATUS_STATE_WAIT,
	tool.StatusDoing:   toolv1.StatusState_STATUS_STATE_DOING,
	tool.StatusSuccess: toolv1.StatusState_STATUS_STATE_SUCCESS,
	tool.StatusError:   toolv1.StatusState_STATUS_STATE_ERROR,
})

// FromStatus converts a status.
func FromStatus(s tool.Status) *toolv1.Status {
	out := &toolv1.Status{
		State:      statusStates.from(s.State),
		Message:    validText(s.Message),
		Parameters: s.Parameters,
		Result:     s.Result,
	}
	if s.Progress != nil {
		out.Progress = FromProgress(*s.Progress)
	}
	return out
}

// ToStatus converts a status. nil becomes the zero Status. An unknown state becomes unset.
func ToStatus(s *toolv1.Status) tool.Status {
	out := tool.Status{
		State:      statusStates.to(s.GetState(), ""),
		Message:    s.GetMessage(),
		Parameters: rawJSON(s.GetParameters()),
		Result:     rawJSON(s.GetResult()),
	}
	if s.GetProgress() != nil {
		p := ToProgress(s.GetProgress())
		out.Progress = &p
	}
	return out
}

// FromProgress converts progress.
func FromProgress(p tool.Progress) *toolv1.Progress {
	return &toolv1.Progress{Done: finite(p.Done), Total: finite(p.Total), Message: validText(p.Message)}
}

// ToProgress converts progress. nil becomes the zero Progress.
func ToProgress(p *toolv1.Progress) tool.Progress {
	return tool.Progress{Done: finite(p.GetDone()), Total: finite(p.GetTotal()), Message: p.GetMessage()}
}

var logLevels = pairs(map[tool.LogLevel]toolv1.LogLevel{
	tool.LogDebug: toolv1.LogLevel_LOG_LEVEL_DEBUG,
	tool.LogInfo:  toolv1.LogLevel_LOG_LEVEL_INFO,
	tool.LogWarn:  toolv1.LogLevel_LOG_LEVEL_WARN,
	tool.LogError: toolv1.LogLevel_LOG_LEVEL_ERROR,
})

// FromLogRecord converts a log record.
func FromLogRecord(r tool.LogRecord) *toolv1.LogRecord {
	return &toolv1.LogRecord{
		Time:       FromTime(r.Time),
		Level:      logLevels.from(r.Level),
		Message:    validText(r.Message),
		Attributes: FromValues(r.Attributes),
	}
}

// ToLogRecord converts a log record. An unset or unknown level becomes tool.LogInfo.
func ToLogRecord(r *toolv1.LogRecord) tool.LogRecord {
	return tool.LogRecord{
		Time:       ToTime(r.GetTime()),
		Level:      logLevels.to(r.GetLevel(), tool.LogInfo),
		Message:    r.GetMessage(),
		Attributes: ToValues(r.GetAttributes()),
	}
}
