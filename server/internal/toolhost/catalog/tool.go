package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Tool is a callable tool. It does not change once it is in a Snapshot.
type Tool struct {
	Spec   tool.Spec // with the operator's overrides
	Plugin *Plugin
	Schema *Schema // of the arguments
	Output *Schema // of the structured result; nil: none is declared

	AgentRates    AgentRates
	MaxConcurrent int      // bound of simultaneous calls; 0: none
	Effects       []string // context keys that the operator lets it change although a rule of the policy reads them

	// Filters are the filters of its own plugin that its calls always pass, the outermost one first.
	Filters []tool.Filter

	declared string   // the name that its plugin declares
	override Override // what the operator says about it
}

// DeclaredName returns the name under which the plugin declares the tool. Callers use the name of
// the Spec.
func (t *Tool) DeclaredName() string { return cmp.Or(t.declared, t.Spec.Name) }

// DefinitionDigest returns a digest of everything that a person relies on who approves later calls
// of the tool: its definition with the operator's settings, the content of its plugin, and when the
// operator trusted the plugin. It is 64 lower-case hexadecimal digits.
//
// The definition of a dynamic tool is the one that its plugin declares. What the plugin describes
// for a session follows from its content.
func (t *Tool) DefinitionDigest() string {
	spec := t.Spec
	if t.Schema != nil {
		spec.InputSchema = t.Schema.text // with the other names of its parameters
	}
	text, err := json.Marshal(struct {
		Plugin, Digest, Declared string
		Trusted                  time.Time
		Spec                     tool.Spec
	}{t.Plugin.Info.Name, t.Plugin.Digest, t.DeclaredName(), t.Plugin.trusted.UTC(), spec})
	if err != nil { // a spec that cannot be encoded cannot be transmitted either
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Info returns the tool as callers see it.
func (t *Tool) Info() tool.Info {
	info := tool.Info{Spec: t.Spec, Plugin: t.Plugin.Info.Name, PluginVersion: t.Plugin.Info.Version}
	for _, f := range t.Filters {
		info.Filters = append(info.Filters, f.Name)
	}
	return info
}

// Described returns the tool as its plugin describes it for one session. Of the spec, only display
// name, description, schemas and examples apply, and the operator's overrides replace them.
// Everything else stays as declared. The error says that a schema cannot be used.
func (t *Tool) Described(spec tool.Spec) (*Tool, error) {
	copied := *t
	copied.Spec.DisplayName = spec.DisplayName
	copied.Spec.InputSchema, copied.Spec.OutputSchema, copied.Spec.InputExamples = spec.InputSchema, spec.OutputSchema, spec.InputExamples
	if strings.TrimSpace(spec.Description) != "" {
		copied.Spec.Description = cmp.Or(t.override.Description, spec.Description)
	}
	if err := checkSchema(&copied.Spec); err != nil {
		return nil, err
	}
	if !bytes.Equal(spec.InputSchema, t.Schema.text) {
		copied.Schema = &Schema{text: spec.InputSchema}
	}
	withoutAliases(&copied.Spec)
	if !bytes.Equal(copied.Spec.OutputSchema, t.Spec.OutputSchema) {
		copied.Output = outputOf(&copied.Spec)
	}
	return &copied, nil
}

// withoutAliases removes the other names of parameters from the schemas of a tool. Models and
// clients see the schemas of its Spec; Tool.Schema has the names.
func withoutAliases(spec *tool.Spec) {
	spec.InputSchema, spec.OutputSchema = arguments.WithoutAliases(spec.InputSchema), arguments.WithoutAliases(spec.OutputSchema)
}

func newTool(p *Plugin, spec tool.Spec, seen map[string]bool, refused string) (*Tool, error) {
	if err := tool.CheckName(spec.Name); err != nil {
		return nil, err
	}
	if seen[trust.Fold(spec.Name)] {
		return nil, fmt.Errorf("the plugin declares it twice; names that differ only by case are the same")
	}
	if strings.TrimSpace(spec.Description) == "" {
		return nil, fmt.Errorf("it has no description")
	}
	if refused != "" {
		return nil, errors.New(refused)
	}
	seen[trust.Fold(spec.Name)] = true
	if len(spec.Tags) == 0 {
		spec.Tags = p.Info.DefaultTags
	}
	schema := &Schema{text: spec.InputSchema}
	withoutAliases(&spec)
	return &Tool{Spec: spec, Plugin: p, Schema: schema, Output: outputOf(&spec), declared: spec.Name}, nil
}

func byToolName(a, b *Tool) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) }

// Schema is the schema of a tool's arguments. It is compiled at its first use: compiling takes
// about 0.2 ms and 55 KB, which is not spent on tools that are never called. It is safe for
// concurrent use.
type Schema struct {
	text json.RawMessage

	once     sync.Once
	compiled *arguments.Schema
	err      error

	// loose is the schema of a result without its formats, compiled when a result does not fit.
	loose func() (*arguments.Schema, error)
}

// Settled reports that the arguments fit the schema, that Repair would not change them, and that
// none of them is Undeclared. It takes very little time. If it returns false, call Validate, Repair
// and Undeclared to find out.
func (s *Schema) Settled(p arguments.Parsed) bool {
	compiled, err := s.compile()
	return err == nil && compiled.Settled(p)
}

// Validate returns nil if the arguments fit the schema, else an error whose message lets a model
// correct them.
func (s *Schema) Validate(p arguments.Parsed) error {
	compiled, err := s.compile()
	if err != nil {
		return err
	}
	return compiled.Validate(p)
}

// outputOf returns the schema of a tool's structured result, or nil.
func outputOf(spec *tool.Spec) *Schema {
	if len(spec.OutputSchema) == 0 {
		return nil
	}
	s := &Schema{text: spec.OutputSchema}
	s.loose = sync.OnceValues(func() (*arguments.Schema, error) { return arguments.CompileWithoutFormats(s.text) })
	return s
}

// ValidateResult returns nil if a structured result fits the schema, else an error that names the
// fault.
func (s *Schema) ValidateResult(text json.RawMessage) error {
	compiled, err := s.compile()
	if err != nil {
		return nil // the catalog has refused such a tool before
	}
	value, err := arguments.ParseValue(text)
	if err != nil {
		return errors.New("it is not usable JSON")
	}
	if err := compiled.Validate(value); err != nil {
		_, problems, found := strings.Cut(err.Error(), "schema:\n")
		if !found {
			problems = strings.Replace(err.Error(), "the arguments cannot", "it cannot", 1)
		}
		return errors.New(aboutResult(value, problems))
	}
	return nil
}

// OnlyFormats reports whether a structured result that does not fit the schema would fit it without
// the formats of texts, such as date-time. Libraries derive a format from a type whose texts they
// encode in another form, so the result is what its author meant.
func (s *Schema) OnlyFormats(text json.RawMessage) bool {
	if s.loose == nil {
		return false
	}
	value, err := arguments.ParseValue(text)
	if err != nil {
		return false
	}
	loose, err := s.loose()
	return err == nil && loose.Validate(value) == nil
}

// aboutResult names the whole value in problems for what it is. A part with the name arguments
// looks the same in them, so aboutResult changes nothing if the value has one.
func aboutResult(value arguments.Parsed, problems string) string {
	if object, ok := value.Value().(map[string]any); ok {
		if _, has := object["arguments"]; has {
			return problems
		}
	}
	return strings.ReplaceAll("\n"+problems, "\n- arguments:", "\n- the result:")[1:]
}

// Repair returns the arguments with the changes that make them fit the schema without guessing, and
// a list of these changes. It changes nothing if the schema cannot be used, which Validate reports.
func (s *Schema) Repair(p arguments.Parsed) (arguments.Parsed, []arguments.Repair) {
	compiled, err := s.compile()
	if err != nil {
		return p, nil
	}
	return compiled.Repair(p)
}

// Undeclared returns the properties of arguments that look like misspellings and that the schema
// allows. It returns nil if the schema cannot be used.
func (s *Schema) Undeclared(p arguments.Parsed) []arguments.Undeclared {
	compiled, err := s.compile()
	if err != nil {
		return nil
	}
	return compiled.Undeclared(p)
}

// Leaked returns the texts of arguments that hold the markup of a parameter. It returns nil if the
// schema cannot be used.
func (s *Schema) Leaked(p arguments.Parsed) []arguments.Leaked {
	compiled, err := s.compile()
	if err != nil {
		return nil
	}
	return compiled.Leaked(p)
}

func (s *Schema) compile() (*arguments.Schema, error) {
	s.once.Do(func() {
		if s.compiled, s.err = arguments.Compile(s.text); s.err != nil {
			s.err = fmt.Errorf("the tool's input schema cannot be used: %w", s.err)
		}
	})
	return s.compiled, s.err
}

// schemaCheck is the version of the rules for schemas. The catalog remembers the result of a check
// together with this version. If the versions differ, it checks the schemas again.
const schemaCheck = "3"

// refusedSchemas contains the reasons why schemas of tools cannot be used, by the index of the tool
// in the description.
type refusedSchemas map[int]string

func checkSchemas(specs []tool.Spec) refusedSchemas {
	refused := refusedSchemas{}
	for i := range specs {
		if err := checkSchema(&specs[i]); err != nil {
			refused[i] = err.Error()
		}
	}
	return refused
}

func checkSchema(spec *tool.Spec) error {
	if _, err := arguments.Compile(spec.InputSchema); err != nil {
		return fmt.Errorf("its input schema cannot be used: %w", err)
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := arguments.Compile(spec.OutputSchema); err != nil {
			return fmt.Errorf("its output schema cannot be used: %w", err)
		}
	}
	return nil
}
