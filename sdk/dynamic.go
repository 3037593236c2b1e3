package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// Variant is the declaration of a dynamic tool for one session. An empty field has the value in the
// tool's Spec. The SDK omits examples that do not fit the schema.
type Variant struct {
	DisplayName   string
	Description   string
	InputSchema   json.RawMessage // must describe an object that the tool's input type can hold
	OutputSchema  json.RawMessage
	InputExamples []InputExample
}

// Dynamic returns the tool with a function that declares it for each session:
//
//	sdk.Func(sdk.Spec{Name: "query", Description: "…", ContextKeys: []string{"project"}}, query).Dynamic(
//		func(ctx context.Context) (sdk.Variant, error) {
//			project, _, err := sdk.Value[string](ctx, "project")
//			…
//			return sdk.Variant{InputSchema: schemaOf(tables)}, err
//		})
//
// Of the functions of a call, describe can only use Session and Value; they return what they return
// in a call of that session. toolhost calls describe when it lists tools, and keeps the result for
// a while. It also calls describe before each call of the tool. describe must therefore be quick
// and without effects, and it should return the same result until something changes. Many
// goroutines call it at once.
//
// The arguments of a call fit the schema of the call's session. Without a session and context
// values, toolhost uses the tool's Spec and does not call describe. It also uses the Spec if
// describe returns an error or an invalid schema, and logs that.
func (t Tool) Dynamic(describe func(ctx context.Context) (Variant, error)) Tool {
	t.spec.Dynamic, t.vary = true, describe
	return t
}

func (t Tool) checkDynamic() error {
	if t.spec.Dynamic && t.vary == nil {
		return errors.New("it declares Dynamic, but nothing describes it for a session; use the method Dynamic of Tool")
	}
	return nil
}

// maxReaders bounds the compiled schemas that a dynamic tool keeps.
const maxReaders = 64

// dynamic declares a tool for sessions. It is safe for concurrent use.
type dynamic struct {
	spec    Spec
	static  *argumentReader
	vary    func(ctx context.Context) (Variant, error)
	compile fit.Compile

	mu      sync.Mutex
	readers map[string]*argumentReader // by the text of the schema
}

func newDynamic(t Tool, static *argumentReader, compile fit.Compile) *dynamic {
	return &dynamic{spec: t.spec, static: static, vary: t.vary, compile: compile, readers: map[string]*argumentReader{}}
}

// describe returns the spec for a session, and the reader of arguments for its calls. It ignores
// values that the tool does not declare.
func (d *dynamic) describe(ctx context.Context, session string, values map[string]json.RawMessage) (Spec, *argumentReader) {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(key string, _ json.RawMessage) bool { return !slices.Contains(d.spec.ContextKeys, key) })
	if session == "" && len(values) == 0 {
		return d.spec, d.static
	}
	asking := newCall(ctx, transport.Info{Tool: d.spec.Name, Session: session, Values: values}, nil)
	asking.finished = true // this call has no receiver
	variant, err := guard(asking, "describing tool", func() (Variant, error) { return d.vary(asking) })
	spec := variant.over(d.spec)
	var reader *argumentReader
	if err == nil {
		reader, err = d.reader(&spec)
	}
	if err != nil {
		level := slog.LevelWarn
		if tool.KindOf(err) == tool.KindUnavailable {
			// the tool expects this error, for example if the session has no setup
			level = slog.LevelDebug
		}
		Logger(asking).Log(ctx, level, "a dynamic tool stays as it is declared", slog.String("tool", d.spec.Name), slog.String("session", session), slog.Any("error", err))
		return d.spec, d.static
	}
	return spec, reader
}

// over returns a spec with the fields of the variant.
func (v Variant) over(spec Spec) Spec {
	spec.DisplayName = cmp.Or(v.DisplayName, spec.DisplayName)
	spec.Description = cmp.Or(v.Description, spec.Description)
	if len(v.InputSchema) > 0 {
		spec.InputSchema = v.InputSchema
	}
	if len(v.OutputSchema) > 0 {
		spec.OutputSchema = v.OutputSchema
	}
	if v.InputExamples != nil {
		spec.InputExamples = v.InputExamples
	}
	return spec
}

func (d *dynamic) reader(spec *Spec) (*argumentReader, error) {
	d.mu.Lock()
	reader := d.readers[string(spec.InputSchema)]
	d.mu.Unlock()
	if reader != nil {
		return reader, nil
	}
	reader, err := newArgumentReader(spec, d.compile)
	if err == nil && !isType(reader.schema, "object") {
		err = errors.New(`its input schema must have "type": "object"`)
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.readers) >= maxReaders {
		clear(d.readers)
	}
	d.readers[string(spec.InputSchema)] = reader
	return reader, nil
}

// read returns the arguments of the call of ctx.
func (d *dynamic) read(ctx context.Context, text []byte) (json.RawMessage, error) {
	info := callOf(ctx).info
	_, reader := d.describe(ctx, info.Session, info.Values)
	return reader.read(text)
}

// describeFor replaces the specs of dynamic tools by those for a session. It changes the slice.
func (s *server) describeFor(ctx context.Context, req transport.DescribeRequest, specs []tool.Spec) {
	var asking sync.WaitGroup
	for i := range specs {
		if d := s.tools[specs[i].Name].dynamic; d != nil {
			asking.Go(func() { // ends with the author's function, before the request ends
				spec, reader := d.describe(ctx, req.Session, req.Context)
				spec.InputExamples = slices.DeleteFunc(slices.Clone(spec.InputExamples), func(e InputExample) bool {
					_, err := reader.read(e.Arguments)
					return err != nil
				})
				specs[i] = spec
			})
		}
	}
	asking.Wait()
}
