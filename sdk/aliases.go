package sdk

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// Spec is the declaration of a tool. Name and Description are required. The zero value of every
// other field is the usual case.
//
// For the model and for people:
//
//	Name           string                      1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter; unique within one toolhost
//	DisplayName    string                      a name for people; empty means Name
//	Description    string                      what the tool is for, when not to use it, and what it returns, written for a model
//	InputSchema    json.RawMessage             a JSON Schema whose type is object; empty: derived from the input's type
//	OutputSchema   json.RawMessage             a JSON Schema of the result; empty: derived from the output's type if that is a struct
//	InputExamples  []InputExample              arguments that show typical calls
//	Category       string                      a word or path that groups tools, such as files
//	Tags           []string                    words by which callers select tools; empty means Plugin.DefaultTags
//	Version        string                      the version of the tool, free text; empty means the plugin's
//	Metadata       map[string]json.RawMessage  JSON values by key, for the author's own use
//
// Promises, which decide how toolhost treats calls:
//
//	ReadOnly    bool         changes nothing outside itself: toolhost may repeat a call and does not record it on disk
//	Idempotent  bool         a second execution with the same arguments has the same outcome: toolhost may repeat a call
//	Dangerous   bool         may do harm: a call requires a person's approval unless a policy rule decides
//	Serial      bool         never runs at the same time as another call of the same turn
//	Parallel    bool         has effects whose order with those of other calls of the same turn does not matter
//	Retry       RetryPolicy  when and how often toolhost repeats a failed call; zero: never
//	CostPerUse  float64      the cost of one use, in the operator's unit; 0: nothing
//
// Bounds and needs:
//
//	Timeout                 time.Duration  the longest time of one call; 0: toolhost's default, 30 s
//	ProgressExtendsTimeout  bool           progress restarts the timeout
//	RateLimitPerMinute      uint32         the most calls that may start in any 60 s; 0: no limit
//	MemoryLimitBytes        uint64         the memory that the tool's process needs, in bytes; 0: the operator's default
//	RequiresAuth            []string       the names of the secrets that it needs; see Secret
//	ContextKeys             []string       the keys of the run's context that it reads; see Value
//	EffectKeys              []string       the keys of the run's context that its effects may change; see Effect
//	SandboxExempt           bool           requests to run outside the sandbox, which only the operator can grant
//
// How toolhost calls it:
//
//	PartialArguments  bool  it sees its arguments while the model still writes them; see Previewer
//	Strict            bool  it gets its arguments exactly as the model wrote them: no repair, no defaults
//	ReturnDirect      bool  its result is the answer for the user
//	Dynamic           bool  it has another declaration for each session; Tool.Dynamic sets it
//	Settles           bool  it can say later whether a call happened; the function Settle sets it
//	Seals             bool  its check seals: what it says did not happen has no effect later either; see Settle
type Spec = tool.Spec

// What a plugin declares in addition to its tools, and the types of a Spec's fields.
type (
	// Description is the declaration of a plugin: its name and version, its tools and its
	// permissions. Plugin.Describe returns it.
	Description = tool.Description
	// Permissions are the permissions that a plugin requests: see Plugin.Permissions. The zero
	// value requests none. The operator grants them.
	//
	//	Network    bool      connections to the network
	//	Workspace  Access    the access to the workspace; empty: none
	//	Read       []string  absolute paths of further files and folders to read
	//	Write      []string  absolute paths of further files and folders to change
	Permissions = tool.Permissions
	// Access is the access to the workspace: AccessNone, AccessRead or AccessWrite.
	Access = tool.Access
	// InputExample is a typical call.
	//
	//	Description  string           what the call is for; may be empty
	//	Arguments    json.RawMessage  its arguments, a JSON object
	InputExample = tool.InputExample
	// RetryPolicy says how often toolhost executes a call that fails, and how long it waits in
	// between. The zero value means once.
	//
	//	MaxAttempts     uint32         the number of executions; 0 and 1 both mean one
	//	InitialBackoff  time.Duration  the wait before the second; 0: 200 ms
	//	MaxBackoff      time.Duration  the longest wait between two; 0: 5 s
	RetryPolicy = tool.RetryPolicy
)

// The types of a tool's answer.
type (
	// Result is the result of a call: the blocks that the model reads, with effects, costs and
	// metadata. A function may return a Result instead of its own type.
	//
	//	Content   []Content                   what the model reads
	//	IsError   bool                        the call failed, and Content tells the model why
	//	Effects   []Effect                    changes of the run's context
	//	Duration  time.Duration               toolhost sets it
	//	Usage     Usage                       the tokens that the call used
	//	Cost      float64                     in the operator's unit; 0: Spec.CostPerUse
	//	Metadata  map[string]json.RawMessage  JSON values by key; those that begin with "toolhost." are toolhost's
	Result = tool.Result
	// Content is one block of a result. Text, JSON, Image and File return blocks. Kind decides which
	// of the other fields it has.
	//
	//	Kind       ContentKind      text, json, image or file
	//	Text       string           of a text
	//	JSON       json.RawMessage  of a JSON block: one value
	//	MediaType  string           of an image or a file: its IANA media type, such as image/png
	//	Name       string           of a file: its name without folders
	//	Data       []byte           of an image or a file: its bytes
	//	Artifact   *tool.Artifact   content that toolhost stores; toolhost sets it
	//	URI        string           names the resource that it is a copy of; empty: none
	Content = tool.Content
	// ContentKind is the kind of a block: text, json, image or file.
	ContentKind = tool.ContentKind
	// Effect changes one value of the run's context. The agent applies effects in the order of
	// calls. The tool declares the key in Spec.EffectKeys.
	//
	//	Key        string           the key of the run's context
	//	Operation  EffectOperation  EffectReplace, EffectAppend or EffectMerge; empty: EffectReplace
	//	Value      json.RawMessage  the operand, a JSON value
	Effect = tool.Effect
	// EffectOperation says how an Effect changes the value: EffectReplace, EffectAppend or
	// EffectMerge.
	EffectOperation = tool.EffectOperation
	// Usage is the number of a language model's tokens that a call has used.
	//
	//	InputTokens       uint64  all tokens of the requests, with those of a cache
	//	OutputTokens      uint64  the tokens of the answers
	//	CacheReadTokens   uint64  the input tokens that came from the provider's cache
	//	CacheWriteTokens  uint64  the input tokens that the provider put into its cache
	Usage = tool.Usage
	// Error is a failure that the model cannot correct, such as a service that does not answer. The
	// caller handles it. Unavailable, RateLimited, Denied and Internal return one. Every other
	// error of a tool becomes a result that tells the model what was wrong.
	Error = tool.Error
	// Kind is the kind of an Error, which decides whether toolhost may repeat the call.
	Kind = tool.Kind
)

// The types of what a tool shows people during a call.
type (
	// Status is the state of the work, for ReportStatus. An empty field changes nothing of what the
	// tool reported before.
	//
	//	State       StatusState      StatusWait, StatusDoing, StatusSuccess or StatusError
	//	Message     string           one line for people
	//	Parameters  json.RawMessage  a JSON object, which is merged with the one before
	//	Progress    *Progress        how much of the work is done
	//	Result      json.RawMessage  a JSON value for people
	Status = tool.Status
	// StatusState is StatusWait, StatusDoing, StatusSuccess or StatusError.
	StatusState = tool.StatusState
	// Progress is how much of the work is done, in a unit that the tool chooses; see
	// ReportProgress.
	//
	//	Done     float64  how much is done
	//	Total    float64  how much there is; 0: unknown
	//	Message  string   one line for people
	Progress = tool.Progress
)

// The values of Permissions.Workspace.
const (
	// AccessNone requests no access to the workspace.
	AccessNone = tool.AccessNone
	// AccessRead requests to read files of the workspace.
	AccessRead = tool.AccessRead
	// AccessWrite requests to read and change files of the workspace.
	AccessWrite = tool.AccessWrite
)

// The operations of an effect.
const (
	// EffectReplace sets the value.
	EffectReplace = tool.EffectReplace
	// EffectAppend adds the value as the last element of the list in the context.
	EffectAppend = tool.EffectAppend
	// EffectMerge applies the value as a JSON merge patch, RFC 7396.
	EffectMerge = tool.EffectMerge
)

// The states of a status.
const (
	// StatusWait means that the arguments are not complete, or that the work has not started.
	StatusWait = tool.StatusWait
	// StatusDoing means that the work is in progress.
	StatusDoing = tool.StatusDoing
	// StatusSuccess means that the work has succeeded.
	StatusSuccess = tool.StatusSuccess
	// StatusError means that the work has failed.
	StatusError = tool.StatusError
)

// Keys of the run's context that have the same meaning for every caller. A tool declares the keys
// that it reads in Spec.ContextKeys, and the keys that its effects may change in Spec.EffectKeys.
// Effects may only change KeyTodos and keys that are not in this list.
const (
	KeyRun    = "run"    // the id of the agent's run, a string
	KeyTurn   = "turn"   // the number of the model's response that contains the call, from 1
	KeyAgent  = "agent"  // the name of the run's agent, a string; missing if it has none
	KeyModel  = "model"  // the full name of the run's model, such as "anthropic:claude-sonnet-4-5"
	KeyUsage  = "usage"  // the tokens and the cost of the run so far, a RunUsage
	KeyTenant = "tenant" // the tenant whose data the call may see, as the caller says: a string
	KeyUser   = "user"   // the user of the run, as the caller says: a string or an object
	KeyTodos  = "todos"  // the todos of the run, a list
	// KeyMemory is the memory files of the run, such as AGENTS.md: a list of MemoryFile. Missing if
	// the run has none.
	KeyMemory = "memory_files"
	// KeyPrincipal is the principal that the call is for, a Principal. toolhost sets it, so that no
	// caller can choose it.
	KeyPrincipal = tool.KeyPrincipal
	// KeyWorkingDirectory is the absolute path of the workspace, as Workspace returns it. toolhost
	// sets it.
	KeyWorkingDirectory = tool.KeyWorkingDirectory
)

// RunUsage is the value of KeyUsage.
type RunUsage = tool.UsageContext

// MemoryFile is an element of the value of KeyMemory.
type MemoryFile = tool.MemoryFile

// Principal is the value of KeyPrincipal.
type Principal = tool.PrincipalContext

// Text returns a block of plain text or Markdown.
func Text(text string) Content { return tool.Text(text) }

// JSON returns a block with one JSON value. A tool whose whole answer is one value returns the
// value itself instead.
func JSON(value json.RawMessage) Content { return tool.JSON(value) }

// Image returns an image. mediaType is its media type, such as image/png.
func Image(mediaType string, data []byte) Content { return tool.Image(mediaType, data) }

// File returns a file. name is a file name without folders.
func File(name, mediaType string, data []byte) Content { return tool.File(name, mediaType, data) }

// TextResult returns a result with one block of text.
func TextResult(text string) Result { return tool.TextResult(text) }

// ErrorResult returns a result that tells the model why the call failed. A tool with only a text to
// say returns an error instead, which has the same effect.
func ErrorResult(text string) Result { return tool.ErrorResult(text) }
