package sdk

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// The words of toolhost, so that an author imports this package alone. Package tool documents them.
type (
	Spec            = tool.Spec
	Permissions     = tool.Permissions
	Access          = tool.Access
	InputExample    = tool.InputExample
	RetryPolicy     = tool.RetryPolicy
	Result          = tool.Result
	Content         = tool.Content
	ContentKind     = tool.ContentKind
	Effect          = tool.Effect
	EffectOperation = tool.EffectOperation
	Usage           = tool.Usage
	Status          = tool.Status
	StatusState     = tool.StatusState
	Progress        = tool.Progress
	Error           = tool.Error
	Kind            = tool.Kind
	Description     = tool.Description
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
