package operate

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// Filter holds the flags that choose tools by what they declare. AddFlags must be called before the
// other methods.
type Filter struct {
	names, categories, tags []string
	dangerous               bool
	maxCost                 float64
	changed                 func(flag string) bool
}

// AddFlags adds the flags of the filter.
func (f *Filter) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.names, "name", nil, "only tools of these `NAMES`")
	flags.StringSliceVar(&f.categories, "category", nil, "only tools of these `CATEGORIES`")
	flags.StringSliceVar(&f.tags, "tag", nil, "only tools with at least one of these `TAGS`")
	flags.BoolVar(&f.dangerous, "dangerous", false, "only dangerous tools; with =false only others (default: both)")
	flags.Float64Var(&f.maxCost, "max-cost", 0, "only tools that `COST` at most this per use (default: any)")
	f.changed = flags.Changed
}

// Query returns the query of the flags.
func (f *Filter) Query() tool.Query {
	q := tool.Query{Names: f.names, Categories: f.categories, Tags: f.tags}
	if f.changed("dangerous") {
		q.Dangerous = &f.dangerous
	}
	if f.changed("max-cost") {
		q.MaxCostPerUse = &f.maxCost
	}
	return q
}

// selection holds the flags that select tools.
type selection struct {
	Filter
	most    int
	session string
}

// addFlags adds the flags to a command. otherwise describes the number of tools without --max.
func (s *selection) addFlags(cmd *cobra.Command, otherwise string) {
	flags := cmd.Flags()
	s.AddFlags(flags)
	flags.IntVar(&s.most, "max", 0, "at most `N` tools (default: "+otherwise+")")
	flags.StringVar(&s.session, "session", "", "dynamic tools as this `SESSION` sees them")
}

// filters reports whether a flag excludes tools.
func (s *selection) filters() bool {
	return slices.ContainsFunc([]string{"name", "category", "tag", "dangerous", "max-cost", "max"}, s.changed)
}

// query returns the query of the flags.
func (s *selection) query() (tool.Query, error) {
	q := s.Query()
	q.MaxTools, q.Session = s.most, s.session
	if err := tool.CheckID(s.session); s.session != "" && err != nil {
		return q, cli.Usage("--session: %w", err)
	}
	if s.changed("max") && s.most < 1 {
		return q, cli.Usage("--max: %d is not positive; leave it out for the default", s.most)
	}
	return q, nil
}
