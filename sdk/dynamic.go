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

// Variant is how a dynamic tool looks to one session. What is empty is as the tool's Spec says. Examples that do not fit
// the schema are left out.
type Variant struct {
	DisplayName   string
	Description   string
	InputSchema   json.RawMessage // must describe an object that the tool's input can hold
	OutputSchema  json.RawMessage
	InputExamples []InputExample
}

// Dynamic returns a tool that is described anew for each session:
//
//	sdk.Func(sdk.Spec{Name: "query", Description: "…", ContextKeys: []string{"project"}}, query).Dynamic(
//		func(ctx context.Context) (sdk.Variant, error) {
//			project, _, err := sdk.Value[string](ctx, "project")
//			…
//			return sdk.Variant{InputSchema: schemaOf(tables)}, err
//		})
//
// Of its context, Session and Value can be used, as in a call of that session, and nothing else of a call. It is asked when a
// toolhost lists tools, which keeps the answer for a while, and before each call of the tool, so that it must be quick, must
// have no effect, and should answer the same as long as nothing has changed. It is called from many goroutines at once. A
// call's arguments are those of its session's schema. Without a session and context values nobody is asked, and the tool is
// as its Spec says; it is, too, where the answer is an error or a schema that cannot be used, which is logged.
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

// maxReaders bounds the schemas of a dynamic tool that are kept compiled.
const maxReaders = 64

// dynamic describes a tool for sessions. It is safe for concurrent use.
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

// describe returns the spec for a session, and what reads arguments of its calls. Values that the tool did not declare do
// not count.
func (d *dynamic) describe(ctx context.Context, session string, values map[string]json.RawMessage) (Spec, *argumentReader) {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(key string, _ json.RawMessage) bool { return !slices.Contains(d.spec.ContextKeys, key) })
	if session == "" && len(values) == 0 {
		return d.spec, d.static
	}
	asking := newCall(ctx, transport.Info{Tool: d.spec.Name, Session: session, Values: values}, nil)
	asking.finished = true // nobody follows it
	variant, err := guard(asking, "describing tool", func() (Variant, error) { return d.vary(asking) })
	spec := variant.over(d.spec)
	var reader *argumentReader
	if err == nil {
		reader, err = d.reader(&spec)
	}
	if err != nil {
		level := slog.LevelWarn
		if tool.KindOf(err) == tool.KindUnavailable {
			level = slog.LevelDebug // the tool expects that, such as where nothing is set up for it
		}
		Logger(asking).Log(ctx, level, "a dynamic tool stays as it is declared", slog.String("tool", d.spec.Name), slog.String("session", session), slog.Any("error", err))
		return d.spec, d.static
	}
	return spec, reader
}

// over returns a spec with what the variant says.
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

// read returns the arguments of the call that ctx belongs to.
func (d *dynamic) read(ctx context.Context, text []byte) (json.RawMessage, error) {
	info := callOf(ctx).info
	_, reader := d.describe(ctx, info.Session, info.Values)
	return reader.read(text)
}

// describeFor replaces the specs of dynamic tools by what they are for a session. The slice must be the caller's own.
func (s *server) describeFor(ctx context.Context, req transport.DescribeRequest, specs []tool.Spec) {
	var asking sync.WaitGroup
	for i := range specs {
		if d := s.tools[specs[i].Name].dynamic; d != nil {
			asking.Go(func() { // ends with what the author wrote, as the request does
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
