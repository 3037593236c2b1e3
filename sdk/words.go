package sdk

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// Spec is what a tool declares of itself. Only Name and Description are required; the zero value of each other field is
// the usual case.
//
// For the model and for people:
//
//	Name           1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter; unique within one toolhost
//	DisplayName    a name for people; empty means Name
//	Description    what the tool is for, when not to use it, and what it returns, written for a model
//	InputSchema    a JSON Schema whose type is object; empty: it is made of the input's type
//	OutputSchema   a JSON Schema of the result; empty: it is made of the output's type if that is a struct
//	InputExamples  arguments that show how the tool is meant to be called
//	Category       a word or path that groups tools, such as files
//	Tags           words by which callers filter; empty means Plugin.DefaultTags
//	Version        the tool's own version, free text; empty means the plugin's
//	Metadata       whatever else there is to say, as JSON values by key
//
// Promises, which decide how calls are treated:
//
//	ReadOnly       changes nothing outside itself: a call may be tried again and is not recorded on disk
//	Idempotent     executing it twice with the same arguments has the same outcome: a call may be tried again
//	Dangerous      may do harm: needs a person's approval unless a policy rule says otherwise
//	Serial         never runs beside another call of the same batch
//	Retry          when and how a failed call may be tried again; zero: never
//	CostPerUse     what one use costs, in units of the operator's choice; 0: nothing
//
// Bounds and needs:
//
//	Timeout                 how long one call may take; 0: toolhost's default, 30 s
//	ProgressExtendsTimeout  progress restarts the timeout
//	RateLimitPerMinute      the most calls that may start in any 60 s; 0: no limit
//	MemoryLimitBytes        what the tool's process needs; 0: the operator's default
//	RequiresAuth            the names of the secrets that it needs; see Secret
//	ContextKeys             the keys of the run's context that it reads; see Value
//	EffectKeys              the keys of the run's context that its effects may change; see Effect
//	SandboxExempt           asks to run outside the sandbox, which only the operator can grant
//
// How it is called:
//
//	PartialArguments  sees its arguments while the model still writes them; see Previewer
//	Strict            gets its arguments exactly as the model wrote them: no repair, no defaults
//	ReturnDirect      its result is the answer for the user
//	Dynamic           looks different to each session; Tool.Dynamic sets it
type Spec = tool.Spec

// What a plugin declares besides its tools, and what belongs to a Spec.
type (
	// Description is what a plugin says of itself.
	Description = tool.Description
	// Permissions are what a plugin asks to be allowed; see Plugin.Permissions.
	Permissions = tool.Permissions
	// Access is what may be done in the workspace: AccessNone, AccessRead or AccessWrite.
	Access = tool.Access
	// InputExample is one call as its author imagines it: a description, which may be empty, and its arguments as JSON.
	InputExample = tool.InputExample
	// RetryPolicy says how often a failed call is tried, and how long toolhost waits in between. Zero: it is not tried again.
	RetryPolicy = tool.RetryPolicy
)

// What a tool answers.
type (
	// Result is what the model reads, with effects, costs and metadata besides. A function may return one.
	Result = tool.Result
	// Content is one block of a result; Text, JSON, Image and File make blocks.
	Content = tool.Content
	// ContentKind is the kind of a block.
	ContentKind = tool.ContentKind
	// Effect changes a value of the run's context.
	Effect = tool.Effect
	// EffectOperation is EffectReplace, EffectAppend or EffectMerge.
	EffectOperation = tool.EffectOperation
	// Usage is what a call has used of a model.
	Usage = tool.Usage
	// Error is a failure of the machinery, which the caller handles; Unavailable and its siblings make one.
	Error = tool.Error
	// Kind is what kind of failure an Error is.
	Kind = tool.Kind
)

// What a tool shows people while it works.
type (
	// Status is how the work goes; see ReportStatus.
	Status = tool.Status
	// StatusState is StatusWait, StatusDoing, StatusSuccess or StatusError.
	StatusState = tool.StatusState
	// Progress is how much of the work is done; see ReportProgress.
	Progress = tool.Progress
)

// What a plugin may ask to do in the workspace; see Plugin.Permissions.
const (
	AccessNone  = tool.AccessNone
	AccessRead  = tool.AccessRead
	AccessWrite = tool.AccessWrite
)

// The operations of an effect.
const (
	EffectReplace = tool.EffectReplace
	EffectAppend  = tool.EffectAppend
	EffectMerge   = tool.EffectMerge
)

// The states of a status.
const (
	StatusWait    = tool.StatusWait
	StatusDoing   = tool.StatusDoing
	StatusSuccess = tool.StatusSuccess
	StatusError   = tool.StatusError
)

// Keys of the run's context that mean the same to every caller that sets them; see Value. A tool declares those that it
// reads in Spec.ContextKeys. Effects may change the keys that the tool declares in Spec.EffectKeys: KeyTodos and keys of your own.
const (
	KeyRun    = "run"    // the id of the agent's run, a string
	KeyTurn   = "turn"   // the number of the model's response that asked for the call, from 1
	KeyTenant = "tenant" // whose data the call may see, as the caller says: a string
	KeyUser   = "user"   // for whom the work is done, as the caller says: a string or an object
	KeyTodos  = "todos"  // what is to be done, a list
)

// Text returns a block of plain text or Markdown.
func Text(text string) Content { return tool.Text(text) }

// JSON returns a block that holds one JSON value. A tool whose whole answer is one value returns it as it is instead.
func JSON(value json.RawMessage) Content { return tool.JSON(value) }

// Image returns a picture, such as one of media type image/png.
func Image(mediaType string, data []byte) Content { return tool.Image(mediaType, data) }

// File returns any other bytes under a file name without folders.
func File(name, mediaType string, data []byte) Content { return tool.File(name, mediaType, data) }

// TextResult returns a result of one text block.
func TextResult(text string) Result { return tool.TextResult(text) }

// ErrorResult returns a result that tells the model that the call failed, and why. A tool that only has a text to say
// returns an error instead, which comes to the same.
func ErrorResult(text string) Result { return tool.ErrorResult(text) }
