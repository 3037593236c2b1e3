package tool

import (
	"encoding/json"
	"time"
)

// Spec is what a tool declares of itself. The zero value of each field is the usual case; field comments in
// proto/toolhost/tool/v1/spec.proto are the reference.
type Spec struct {
	Name                   string                     `json:"name"`
	Version                string                     `json:"version,omitempty"`
	DisplayName            string                     `json:"display_name,omitempty"`
	Description            string                     `json:"description"`
	Category               string                     `json:"category,omitempty"`
	Tags                   []string                   `json:"tags,omitempty"`
	InputSchema            json.RawMessage            `json:"input_schema,omitempty"`  // empty: an object without properties
	OutputSchema           json.RawMessage            `json:"output_schema,omitempty"` // empty: none promised
	InputExamples          []InputExample             `json:"input_examples,omitempty"`
	Timeout                time.Duration              `json:"timeout,omitempty"` // 0: the host's default
	ProgressExtendsTimeout bool                       `json:"progress_extends_timeout,omitempty"`
	Retry                  RetryPolicy                `json:"retry,omitzero"`
	RateLimitPerMinute     uint32                     `json:"rate_limit_per_minute,omitempty"` // 0: none
	MemoryLimitBytes       uint64                     `json:"memory_limit_bytes,omitempty"`    // 0: the operator's default
	CostPerUse             float64                    `json:"cost_per_use,omitempty"`
	RequiresAuth           []string                   `json:"requires_auth,omitempty"`  // names of secrets
	SandboxExempt          bool                       `json:"sandbox_exempt,omitempty"` // a request; only its whole plugin can be exempt
	PartialArguments       bool                       `json:"partial_arguments,omitempty"`
	Dangerous              bool                       `json:"dangerous,omitempty"`
	ReadOnly               bool                       `json:"read_only,omitempty"`
	Idempotent             bool                       `json:"idempotent,omitempty"`
	Serial                 bool                       `json:"serial,omitempty"`
	ReturnDirect           bool                       `json:"return_direct,omitempty"`
	Strict                 bool                       `json:"strict,omitempty"`
	Dynamic                bool                       `json:"dynamic,omitempty"`
	ContextKeys            []string                   `json:"context_keys,omitempty"`
	EffectKeys             []string                   `json:"effect_keys,omitempty"` // that its effects may change
	Metadata               map[string]json.RawMessage `json:"metadata,omitempty"`
}

// HasSideEffects reports whether executing the tool twice may differ from executing it once. Such calls are never
// tried again once they may have begun.
func (s *Spec) HasSideEffects() bool { return !s.ReadOnly && !s.Idempotent }

// InputExample is one call as its author imagines it.
type InputExample struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

// RetryPolicy says how a failed call may be tried again. The zero value is: not at all.
type RetryPolicy struct {
	MaxAttempts    uint32        `json:"max_attempts,omitempty"`    // tries in all; 0 and 1 both mean one
	InitialBackoff time.Duration `json:"initial_backoff,omitempty"` // 0: 200 ms
	MaxBackoff     time.Duration `json:"max_backoff,omitempty"`     // 0: 5 s
}

// Description is what a plugin says of itself.
type Description struct {
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Tools       []Spec   `json:"tools"`
	DefaultTags []string `json:"default_tags,omitempty"` // for tools without tags
	Filters     []Filter `json:"filters,omitempty"`
	// Permissions are what it asks to be allowed. Nothing of that is granted by being asked for.
	Permissions Permissions `json:"permissions,omitzero"`
}

// Filter declares a function that a host asks before or after calls of tools. proto/toolhost/plugin/v1/plugin.proto
// says how.
type Filter struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Before      bool   `json:"before,omitempty"` // asked before calls
	After       bool   `json:"after,omitempty"`  // asked after calls
}

// Info is a tool as a toolhost offers it.
type Info struct {
	Spec              Spec   `json:"spec"`
	Plugin            string `json:"plugin"`
	PluginVersion     string `json:"plugin_version,omitempty"`
	UnavailableReason string `json:"unavailable_reason,omitempty"` // empty: it can be called
}

// Query selects tools. Every field that is set must match; the zero value matches all.
type Query struct {
	Names         []string
	Categories    []string
	Tags          []string // at least one of these
	Dangerous     *bool    // nil: both
	MaxCostPerUse *float64 // nil: any
	MaxTools      int      // 0: all
	// Principal, Session and Context are whom dynamic tools are described for, as in Viewer.
	Principal string
	Session   string
	Context   map[string]json.RawMessage
}

// Viewer returns whom dynamic tools are described for.
func (q Query) Viewer() Viewer {
	return Viewer{Principal: q.Principal, Session: q.Session, Context: q.Context}
}

// Viewer is whom dynamic tools are described for. For the zero value they are as their plugins declare them.
type Viewer struct {
	// Principal is who asks. Servers set it from the connection, never from the request.
	Principal string
	Session   string                     // empty: none in particular
	Context   map[string]json.RawMessage // the run's context by key; a tool gets only the keys that it declared
}

// Match is a tool that a search found.
type Match struct {
	Info
	Score float64 `json:"score"` // greater is better; comparable only within one search
}

// Format is a form in which tools are given to a model.
type Format string

// The formats. proto/toolhost/v1/tool_service.proto says what each is.
const (
	FormatOpenAI          Format = "openai"
	FormatOpenAIResponses Format = "openai-responses"
	FormatAnthropic       Format = "anthropic"
	FormatMCP             Format = "mcp"
	FormatMarkdown        Format = "markdown"
)

// Rendered is tools in a format.
type Rendered struct {
	Content   []byte
	MediaType string        // application/json or text/markdown
	Tools     []string      // the names of the tools in Content, in order
	Omitted   []OmittedTool // the other tools that match, ordered by name; nil if Content holds all of them
}

// OmittedTool is a tool that matches a selection and is not part of its rendering.
type OmittedTool struct {
	Name string
	// Reason says why: the tool cannot be called now, or the API refuses each request that offers it.
	Reason string
}
